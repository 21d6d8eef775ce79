"""On the Data page a label is changed where it stands, and acts on many texts stay in sight."""

import re
from collections.abc import Callable
from urllib.parse import quote

from playwright.sync_api import Page, expect

from tests.builders.held_answers import hold, settle
from tests.builders.served_studio import Served

_SCROLLING = """() => [...document.querySelectorAll('.studio *')].filter(one => {
  const scrolls = ['auto', 'scroll'].includes(getComputedStyle(one).overflowY);
  return scrolls && one.clientHeight > 0 && one.scrollHeight > one.clientHeight + 1;
}).map(one => one.className)"""

_LINES = (
    """all => all.map(one => new Set([...one.getClientRects()].map(({bottom}) => bottom)).size)"""
)


def test_a_click_on_a_label_changes_it_and_undo_gives_it_back(
    visit: Callable[..., Page], studio: Served
) -> None:
    page = visit(studio, "/data?project=sample&split=train")
    row = page.locator("[data-role=utterances] tr[data-id]").nth(2)
    key = str(row.get_attribute("data-id"))

    def label() -> list[str]:
        found = studio.ask("/projects/sample/utterances/by-ids", {"ids": [key]})[0]["labels"]
        return list(found)

    before = label()
    names = {i["id"]: i["name"] for i in studio.ask("/projects/sample/overview")["intents"]}
    other = next(name for id_, name in names.items() if id_ not in before)
    row.get_by_role("button", name="Change the label").click()
    page.get_by_role("combobox", name="Find an intent").fill(other)
    page.keyboard.press("Enter")
    row = page.locator(f"tr[data-id='{key}']")
    expect(row.locator(".label-cell .chip")).to_have_text(other)
    assert [names[id_] for id_ in label()] == [other]
    toast = page.locator(".toast", has_text=f": {other}.")
    toast.get_by_role("button", name="Undo").click()
    expect(row.locator(".label-cell .chip")).to_have_text(names[before[0]])
    row.get_by_role("button", name="Change the label").click()
    expect(row.get_by_role("button", name="out of scope")).to_be_visible()
    page.get_by_role("combobox", name="Find an intent").fill("out of")  # "Nothing found." it said
    page.keyboard.press("Enter")
    expect(row.locator(".label-cell .chip")).to_have_text("out of scope")
    page.locator(".toast", has_text="out of scope").get_by_role("button", name="Undo").click()
    expect(row.locator(".label-cell .chip")).to_have_text(names[before[0]])
    assert label() == before
    row.get_by_role("button", name="Change the label").click()
    page.keyboard.press("Escape")
    expect(page.locator(".relabelling")).to_have_count(0)


def test_labels_are_never_shown_by_their_ids(visit: Callable[..., Page], studio: Served) -> None:
    """After an import, rows came before the new intents, and each label was a long code."""
    page = visit(studio, "/data?project=sample&split=train")
    row = page.locator("[data-role=utterances] tr[data-id]").first
    key = str(row.get_attribute("data-id"))
    before = row.locator(".label-cell").inner_text()
    late = hold(page, "**/api/projects/sample/overview")
    made = studio.ask("/projects/sample/intents", {"name": "brand_new", "description": ""})
    edit: dict[str, object] = {
        "also": ["labelled"],
        "filter": {"ids": [key]},
        "kind": "label",
        "value": made["id"],
        "expected": 1,
    }
    with page.expect_response("**/api/projects/sample/utterances?*"):
        studio.ask("/projects/sample/edits", edit)
    settle(page)
    expect(row.locator(".label-cell")).to_have_text(before, use_inner_text=True)
    late.arrived()
    while late.routes:
        late.release()
    expect(row.locator(".label-cell .chip")).to_have_text("brand_new")


def test_what_a_row_offers_reads_as_something_to_press(
    visit: Callable[..., Page], studio: Served
) -> None:
    """“no label” was grey words, and the pen beside it had none."""
    page = visit(studio, "/data?project=sample&state=unlabelled")
    row = page.locator("[data-role=utterances] tr[data-id]").first
    label = row.get_by_role("button", name="Add label to “")
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 844})
        expect(label).to_have_text("Add label")
        assert label.evaluate("node => node.getBoundingClientRect().height") < 40  # on one line
        values = row.get_by_role("button", name="Mark values of this text")
        expect(values).to_have_text("Values")  # “Mark” alone stood there
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    expect(row.locator(".editable bdi")).to_have_count(1)  # a text has its own direction
    label.click()
    expect(page.get_by_role("combobox", name="Find an intent")).to_be_focused()
    page.keyboard.press("Escape")


def test_examples_are_added_in_the_dialog_of_an_intent_which_leads_to_its_texts(
    visit: Callable[..., Page], studio: Served
) -> None:
    page = visit(studio, "/data?project=sample")
    intents = page.get_by_role("region", name="Intents")
    intents.get_by_role("button", name="roaming").click()
    page.get_by_role("dialog").get_by_role("button", name="Add examples …").click()
    box = page.get_by_role("dialog").get_by_label("One text a line")
    box.fill("is the moon a roaming zone\n\n  may I call from a submarine")
    page.get_by_role("dialog").get_by_role("button", name="Add", exact=True).click()
    toast = page.locator(".toast", has_text="2 texts added to roaming.")
    expect(toast).to_be_visible()
    intents.get_by_role("button", name="roaming").click()
    page.get_by_role("dialog").get_by_role("link", name="Show its").click()
    page.wait_for_url("**/data?*intent=*")
    rows = page.locator("[data-role=utterances]")
    expect(rows).to_contain_text("is the moon a roaming zone")
    expect(rows).to_contain_text("may I call from a submarine")
    studio.ask("/projects/sample/undo", {})  # as others of this module find it


def test_the_dialog_of_an_intent_leads_to_the_preview_of_a_merge(
    visit: Callable[..., Page], studio: Served
) -> None:
    """One form renamed and merged, and nobody saw which answers a merge changes."""
    page = visit(studio, "/data?project=sample", viewport={"width": 390, "height": 844})
    page.get_by_role("region", name="Intents").get_by_role("button", name="lost_sim").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("combobox")).to_have_count(0)
    dialog.get_by_role("link", name="Merge it in Review").click()
    page.wait_for_url("**/review?*")
    chosen = page.locator("select[data-key=intent] option:checked")
    expect(chosen).to_have_text("lost_sim")
    expect(page.locator("select[data-key=how]")).to_have_value("merge")
    expect(page.locator("[data-key=do]")).to_be_disabled()  # nothing is armed by a link
    page.locator("select[data-key=target]").select_option(label="roaming")
    expect(page.locator("[data-role=touched]")).to_contain_text("Changes the label of")
    page.reload()  # the address holds the choice
    expect(page.locator("[data-key=do]")).to_have_text(
        re.compile(r"Merge lost_sim \(\d+ texts\) into roaming")
    )


def test_archiving_says_what_it_does_and_is_undone(
    visit: Callable[..., Page], serve: Callable[..., Served]
) -> None:
    """A box beside the colour said what labels do, not that answers stop naming it."""
    page = visit(serve(), "/data?project=sample")
    entry = page.get_by_role("region", name="Intents").get_by_role("button", name="roaming")
    entry.click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text(re.compile(r"All \d+ texts stay in this intent"))
    dialog.get_by_role("button", name="Archive …").click()
    expect(dialog).to_contain_text(re.compile(r"Its \d+ texts keep their label\."))
    dialog.get_by_role("button", name="Archive", exact=True).click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(entry).to_contain_text("archived")
    told = page.locator(".toast", has_text="The model no longer answers it")
    told.get_by_role("button", name="Undo").click()
    expect(entry).not_to_contain_text("archived")


def test_splits_are_counted_and_the_bar_stays_in_sight(
    visit: Callable[..., Page], studio: Served
) -> None:
    page = visit(studio, "/data?project=sample")
    counts = studio.ask("/projects/sample/overview")["counts"]["by_split"]
    chip = page.locator("[data-role=splits]").get_by_role(
        "button", name=f"test texts {counts['test']}"
    )
    chip.click()
    expect(page.locator("[data-role=total]")).to_contain_text(f"{counts['test']} texts")
    expect(chip).to_have_attribute("aria-pressed", "true")
    chip.click()
    page.get_by_role("button", name="unlabelled 300").click()
    expect(page.locator("[data-role=total]")).to_contain_text("300 texts")
    bar = page.locator(".bulk")
    page.locator("[data-role=utterances] tr[data-id] input").first.check()
    expect(bar).to_be_in_viewport()
    page.mouse.wheel(0, 900)
    expect(bar).to_be_in_viewport()
    page.set_viewport_size({"width": 390, "height": 844})
    page.evaluate("scrollTo(0, 600)")
    expect(bar).to_be_in_viewport()


def test_training_and_test_texts_of_an_intent_are_counted_apart(
    visit: Callable[..., Page], studio: Served
) -> None:
    """One figure mixed both, and only a tooltip said so."""
    intent = studio.ask("/projects/sample/overview")["intents"][0]
    train, tests = intent["utterances"] - intent["tests"], intent["tests"]
    assert min(train, tests) > 0
    for path, role in (("data", "Intents"), ("label", "What each intent means")):
        page = visit(studio, f"/{path}?project=sample")
        box = page.get_by_role("region", name=role)
        expect(box.locator(".count").first).to_have_text(f"{train} examples, {tests} test")


def test_lists_beside_the_page_do_not_scroll_in_it(
    visit: Callable[..., Page], studio: Served
) -> None:
    """With 60 intents the window and a list in it had scroll bars side by side."""
    for number in range(40):
        studio.ask("/projects/sample/intents", {"name": f"more_{number}", "description": ""})
    for path in ("/data?project=sample", "/label?project=sample", "/?project=sample"):
        page = visit(studio, path, viewport={"width": 1280, "height": 800})
        if path[1:2] != "?":
            expect(page.locator(".intents").get_by_text("more_39")).to_be_visible()
        assert page.evaluate(_SCROLLING) == [], path


def test_each_filter_has_its_name_in_sight_and_files_are_behind_one_button(
    visit: Callable[..., Page], studio: Served
) -> None:
    """“any intent, any set, labelled or not” stood there without names; “{}” meant mark values."""
    page = visit(studio, "/data?project=sample")
    names = page.locator(".filters label.field")
    expect(names).to_have_count(4)
    for place, name in enumerate(("Intent", "State")):
        expect(names.nth(place)).to_contain_text(re.compile(f"^{name}"))
        expect(names.nth(place)).to_be_in_viewport()
    csv = page.get_by_role("link", name="Export CSV")
    expect(csv).to_be_hidden()
    page.locator(".data-acts").get_by_text("Export", exact=True).click()
    csv.click(trial=True)
    page.wait_for_selector("[data-role=utterances] tr[data-id]")
    expect(page.get_by_text("{}", exact=True)).to_have_count(0)


def test_rarely_used_filters_are_folded_until_they_are_in_force(
    visit: Callable[..., Page], studio: Served
) -> None:
    """Seven filters stood before the first text."""
    page = visit(studio, "/data?project=sample")
    more = page.get_by_role("button", name="More filters")
    rare = [
        page.get_by_label(name, exact=name in ("Set", "Order"))
        for name in ("Set", "Order", "answer differs")
    ]
    expect(more).to_be_visible()  # what is not drawn yet is hidden, too
    for control in rare:
        expect(control).to_be_hidden()
    tops = page.locator("[aria-label='Texts of the project'] .row.end").first.locator(
        "input[type=search], .filters > .field select, .more-filters"
    )
    middles = tops.evaluate_all(
        "all => all.map(one => one.getBoundingClientRect()).map(at => at.top + at.height / 2)"
    )
    assert len(middles) == 4
    assert max(middles) - min(middles) < 2  # one row
    more.click()
    for control in rare:
        expect(control).to_be_visible()
    rare[1].select_option("text")
    page.get_by_role("button", name="Fewer filters").click()
    expect(page.get_by_role("button", name="More filters (1)")).to_be_visible()
    page.goto(f"{studio.base}/data?project=sample&split=pool")
    expect(rare[0]).to_be_visible()
    page.goto(f"{studio.base}/data?project=sample&split=test")
    expect(page.locator("[data-role=splits] [aria-pressed=true]")).to_have_count(1)
    expect(rare[0]).to_be_hidden()  # its chip says what is chosen


def test_on_a_phone_the_texts_come_first_and_a_button_says_how_they_are_filtered(
    visit: Callable[..., Page], studio: Served
) -> None:
    """Two rows of buttons and six of filters stood before the first text."""
    page = visit(studio, "/data?project=sample", viewport={"width": 390, "height": 844})
    rows = page.locator("[data-role=utterances] tr[data-id]")
    expect(rows.nth(2)).to_be_in_viewport()
    order = page.get_by_label("Order", exact=True)
    expect(order).to_be_hidden()
    page.get_by_role("button", name="Filter", exact=True).click()
    page.get_by_label("Set", exact=True).select_option("test")
    order.select_option("text")
    page.get_by_role("button", name="Close: Filter").click()
    expect(order).to_be_hidden()
    opener = page.get_by_role("button", name="Filter: test texts · from A to Z")
    expect(opener).to_be_focused()
    counts = studio.ask("/projects/sample/overview")["counts"]["by_split"]
    expect(page.locator("[data-role=total]")).to_contain_text(f"{counts['test']} texts")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_long_name_in_a_list_breaks_over_lines_without_a_pill_around_it(
    visit: Callable[..., Page], serve: Callable[..., Served]
) -> None:
    """Pills broke apart, the mark that opens an intent stood alone, and counts broke, too."""
    served = serve()
    name = "balance_not_updated_after_cheque_or_cash_deposit_of_a_customer"
    served.ask("/projects/sample/intents", {"name": name, "description": ""})
    for path in ("/data?project=sample", "/label?project=sample"):
        page = visit(served, path)
        chip = page.locator(".intents .chip", has_text=name).first
        assert chip.evaluate("one => getComputedStyle(one).borderTopWidth") == "0px"
        assert max(page.locator(".intents .count").evaluate_all(_LINES)) == 1, path


def test_intents_stand_by_name_and_a_field_finds_one_of_many(
    visit: Callable[..., Page], serve: Callable[..., Served]
) -> None:
    """Seventy-seven stood in the order of the file, and each had to be found by eye."""
    served = serve()
    for number in range(16):
        served.ask("/projects/sample/intents", {"name": f"a_{number:02}", "description": ""})
    page = visit(served, "/data?project=sample")
    listed = page.get_by_role("region", name="Intents").locator(".intents .chip")
    expect(listed.first).to_have_text("a_00")
    names = listed.all_inner_texts()
    assert names == sorted(names)
    options = page.get_by_label("Intent", exact=True).locator("option").all_inner_texts()[1:]
    assert options == names
    page.get_by_label("Find an intent in the list").fill("a 07")
    expect(listed).to_have_text(["a_07"])


def test_an_intent_that_means_no_intent_is_made_out_of_scope_where_it_stands(
    visit: Callable[..., Page], serve: Callable[..., Served]
) -> None:
    """Only the bar for picked texts could do it; the intent's own dialog could merge and rename."""
    served = serve()
    page = visit(served, "/data?project=sample")
    intents = page.get_by_role("region", name="Intents")
    [roaming] = [
        one
        for one in served.ask("/projects/sample/overview")["intents"]
        if one["name"] == "roaming"
    ]
    outside = roaming["utterances"] - roaming["tests"]

    entry = intents.get_by_role("button", name="roaming")
    before = entry.inner_text()

    def turn() -> Page:
        entry.click()
        page.get_by_role("button", name="Turn into out of scope …").click()
        expect(page.locator("[data-role=reach]")).to_contain_text(
            f"{outside} texts, not counting test texts"
        )
        return page

    turn().get_by_role("button", name=f"Make {outside} texts out of scope", exact=True).click()
    told = page.locator(".toast", has_text=f"{outside} texts of roaming: out of scope now.")
    expect(told).to_contain_text(f"Left as they were: {roaming['tests']} test texts")
    told.get_by_role("button", name="Undo").click()
    expect(entry).to_have_text(before, use_inner_text=True)
    turn().get_by_label(f"Also {roaming['tests']} test texts").check()
    page.get_by_role("button", name=f"Make {roaming['utterances']} texts out of scope and").click()
    told = page.locator(".toast", has_text="roaming is archived.")
    expect(entry).to_contain_text("archived")
    told.get_by_role("button", name="Undo").click()
    expect(entry).to_have_text(before, use_inner_text=True)
    [back] = [
        one
        for one in served.ask("/projects/sample/overview")["intents"]
        if one["name"] == "roaming"
    ]
    assert back == roaming


def test_a_text_is_erased_from_the_page_once_all_that_goes_was_shown(
    visit: Callable[..., Page], studio: Served
) -> None:
    """Only a command could erase, which nobody without a terminal has."""
    page = visit(studio, "/data?project=sample&split=train")
    row = page.locator("[data-role=utterances] tr[data-id]").first
    text = row.locator(".editable").inner_text()
    row.get_by_role("checkbox").check()
    page.get_by_label("What to do").select_option("erase")
    page.get_by_role("button", name="Apply").click()
    dialog = page.get_by_role("dialog", name="Erase 1 text for good")
    expect(dialog.locator("[data-role=erased]")).to_have_text(text)
    expect(dialog.locator("[data-role=erasure]")).to_contain_text(
        "Version 1: “[erased]” will stand"
    )
    erase = dialog.get_by_role("button", name="Erase 1 text")
    erase.click()
    expect(dialog).to_be_visible()  # nobody has said yet that nothing brings it back
    assert studio.ask(f"/projects/sample/utterances?text={quote(text)}")["total"] >= 1
    dialog.get_by_label("I know that nothing brings these texts back").check()
    erase.click()
    expect(page.locator(".toast", has_text="Erased: 1 text.")).to_be_visible()
    expect(row.locator(".editable")).not_to_have_text(text)
    assert studio.ask(f"/projects/sample/utterances?text={quote(text)}")["total"] == 0


def test_texts_that_nobody_has_seen_are_not_erased(
    visit: Callable[..., Page], studio: Served
) -> None:
    page = visit(studio, "/data?project=sample&split=train")
    page.wait_for_selector("[data-role=utterances] tr[data-id]")
    page.get_by_label("Pick all of this page").check()
    page.get_by_role("button", name=re.compile("^Pick all .* of this filter")).click()
    page.get_by_label("What to do").select_option("erase")
    page.get_by_role("button", name="Apply").click()
    expect(page.locator(".toast", has_text="one page at a time")).to_be_visible()
    expect(page.get_by_role("dialog")).to_have_count(0)
