"""A label for many touches no text that its button does not count, and Undo stands beside it."""

from collections.abc import Callable
from typing import Any

from playwright.sync_api import Page, expect

from tests.builders.served_studio import Served, probe


def rows(studio: Served, query: str, n: int) -> list[dict[str, Any]]:
    found = studio.ask(f"/projects/sample/utterances?{query}&size=500")["rows"]
    return list(found[:n])


def labels(studio: Served, ids: list[str]) -> dict[str, Any]:
    found = studio.ask("/projects/sample/utterances/by-ids", {"ids": ids})
    return {row["id"]: (row["labels"], row["split"]) for row in found}


def test_a_lasso_labels_what_its_button_counts_and_undo_takes_it_back(
    visit: Callable[..., Page], studio: Served
) -> None:
    """One lasso relabelled 418 texts, 122 of them of the test set, without a word."""
    names = {i["name"]: i["id"] for i in studio.ask("/projects/sample/overview")["intents"]}
    bare = [row["id"] for row in rows(studio, "split=pool&state=unlabelled", 3)]
    other = [row["id"] for row in rows(studio, f"split=train&intent={names['cancel_contract']}", 2)]
    tests = [row["id"] for row in rows(studio, f"split=test&intent={names['cancel_contract']}", 2)]
    everything = [*bare, *other, *tests]
    before = labels(studio, everything)
    page = visit(studio, "/map?project=sample")
    page.wait_for_selector(".map[data-ready=true]")
    ids = studio.ask("/projects/sample/map")["ids"]
    page.evaluate(probe("lasso"), [ids.index(key) for key in everything])
    reach = page.locator("[data-role=reach]")
    button = page.get_by_role("button", name="Label 3 texts")
    expect(reach).to_contain_text("3 unlabelled")
    expect(button).to_be_disabled()  # no label is chosen
    page.get_by_role("combobox", name="Choose the label").fill("data_usage")
    page.keyboard.press("Enter")
    boxes = (
        page.get_by_label("Also relabel 2 texts labelled otherwise"),
        page.get_by_label("Also 2 test texts (2 of them labelled)"),
    )
    for box in boxes:
        expect(box).not_to_be_checked()
    boxes[0].check()
    expect(page.get_by_role("button", name="Label 5 texts")).to_be_enabled()
    boxes[0].uncheck()
    text = labels_text(studio, bare[0])
    page.get_by_role("button", name=f"Take out “{text[:60]}”").click()
    page.get_by_role("button", name="Label 2 texts").click()
    newest = page.locator("[data-role=selection] [data-role=newest]")
    expect(newest).to_contain_text("2 texts labelled data_usage.")
    expect(newest).to_contain_text("Left as they were: 2 labelled texts, 2 test texts.")
    now = labels(studio, everything)
    assert {key for key in everything if now[key] != before[key]} == set(bare[1:])
    expect(reach).to_contain_text("0 unlabelled")
    newest.get_by_role("button", name="Undo").click()
    expect(reach).to_contain_text("2 unlabelled")
    assert labels(studio, everything) == before


def test_out_of_scope_and_flags_on_the_map_say_what_they_touch(
    visit: Callable[..., Page], studio: Served
) -> None:
    """Out of scope could be pressed with nothing unlabelled, and “Flag all” took test texts."""
    other = [row["id"] for row in rows(studio, "split=train&state=labelled", 2)]
    tests = [row["id"] for row in rows(studio, "split=test&state=labelled", 3)]
    page = visit(studio, "/map?project=sample")
    page.wait_for_selector(".map[data-ready=true]")
    ids = studio.ask("/projects/sample/map")["ids"]
    page.evaluate(probe("lasso"), [ids.index(key) for key in [*other, *tests]])
    nothing = page.get_by_role("button", name="Out of scope")
    expect(page.locator("[data-role=reach]")).to_contain_text("0 unlabelled")
    expect(nothing).to_be_disabled()
    page.get_by_label("Also relabel 2 labelled texts").check()
    expect(nothing).to_be_enabled()
    page.get_by_role("button", name="Flag all 5 (3 test texts)").click()
    newest = page.locator("[data-role=selection] [data-role=newest]")
    expect(newest).to_contain_text("5 texts flagged, 3 test texts.")
    newest.get_by_role("button", name="Undo").click()
    expect(newest).to_contain_text("Taken back: ")


def test_undo_of_the_map_stays_until_it_is_spent(
    visit: Callable[..., Page], studio: Served
) -> None:
    """It stood in a message, which went by itself, or stayed after U had spent it."""
    names = {i["name"]: i["id"] for i in studio.ask("/projects/sample/overview")["intents"]}
    bare = [row["id"] for row in rows(studio, "split=pool&state=unlabelled", 2)]
    before = labels(studio, bare)
    page = visit(studio, "/map?project=sample")
    page.wait_for_selector(".map[data-ready=true]")
    ids = studio.ask("/projects/sample/map")["ids"]
    newest = page.locator("[data-role=selection] [data-role=newest]")
    for spend in ("key", "press"):
        if spend == "press":  # by a finger on a phone, where the panel stands below the map
            page.set_viewport_size({"width": 390, "height": 844})
        page.evaluate(probe("lasso"), [ids.index(key) for key in bare])
        page.get_by_role("combobox", name="Choose the label").fill("data_usage")
        page.keyboard.press("Enter")
        page.get_by_role("button", name="Label 2 texts").click()
        expect(newest).to_contain_text("Labels count at once, and in the next training.")
        expect(page.locator(".toast", has_text="labelled")).to_have_count(0)
        page.get_by_role("button", name="Clear").click()
        undo = newest.get_by_role("button", name="Undo")
        expect(undo).to_be_in_viewport(ratio=1)  # whatever the panel shows
        assert labels(studio, bare) == dict.fromkeys(bare, ([names["data_usage"]], "train"))
        if spend == "press":
            undo.click()
        else:
            page.locator("[data-role=selection] h2").first.click()
            page.keyboard.press("u")
        expect(newest).to_contain_text("Taken back: ")
        taken_back = page.locator(".toast", has_text="Taken back.")
        expect(taken_back).to_be_visible()
        assert labels(studio, bare) == before
        # Else that of the first Undo would stand for the second, which may be on its way.
        taken_back.get_by_role("button", name="Close this message").click()


def labels_text(studio: Served, key: str) -> str:
    found = studio.ask("/projects/sample/utterances/by-ids", {"ids": [key]})
    return str(found[0]["text"])


def test_the_bar_of_the_data_page_follows_the_same_rule(
    visit: Callable[..., Page], studio: Served
) -> None:
    names = {i["name"]: i["id"] for i in studio.ask("/projects/sample/overview")["intents"]}
    ids = [row["id"] for row in rows(studio, f"intent={names['cancel_contract']}", 500)]
    before = labels(studio, ids)
    page = visit(studio, f"/data?project=sample&intent={names['cancel_contract']}")
    expect(page.locator("[data-role=utterances] tr[data-id]")).to_have_count(len(ids))
    page.get_by_label("Pick all of this page").check()
    page.get_by_label("What to do").select_option("unlabel")
    page.get_by_role("button", name="Apply").click()
    dialog = page.locator("dialog")
    tests = sum(split == "test" for _, split in before.values())
    expect(dialog.get_by_label(f"Also {tests} test texts")).not_to_be_checked()
    dialog.get_by_role("button", name=f"{len(ids) - tests} texts").click()
    toast = page.locator(".toast", has_text="texts have no label now.")
    expect(toast).to_be_visible()
    now = labels(studio, ids)
    assert {key for key in ids if now[key] == before[key]} == {
        key for key in ids if before[key][1] == "test"
    }
    toast.get_by_role("button", name="Undo").click()
    expect(page.locator(".toast", has_text="Taken back: ")).to_be_visible()
    assert labels(studio, ids) == before


def test_the_bar_says_why_nothing_would_change_yet(
    visit: Callable[..., Page], studio: Served
) -> None:
    """“Delete: 0 texts” stood there in grey, without a reason."""
    page = visit(studio, "/data?project=sample&split=test")
    page.locator("[data-role=utterances] tr[data-id]").first.get_by_role("checkbox").check()
    page.get_by_label("What to do").select_option("delete")
    page.get_by_role("button", name="Apply").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("button", name="Tick what may change")).to_be_disabled()
    dialog.get_by_label("Also 1 test text").check()
    expect(dialog.get_by_role("button", name="Delete: 1 text")).to_be_enabled()


def test_the_bar_of_the_data_page_creates_an_intent_with_its_label(
    visit: Callable[..., Page], studio: Served
) -> None:
    """An intent that was not there had to be created elsewhere before texts could get it."""
    before = {one["name"] for one in studio.ask("/projects/sample/overview")["intents"]}
    page = visit(studio, "/data?project=sample&state=unlabelled")
    boxes = page.locator("[data-role=utterances] tbody input[type=checkbox]")
    boxes.nth(0).click()
    boxes.nth(2).click(modifiers=["Shift"])
    rows_of = page.locator("[data-role=utterances] tr[data-id]")
    ids = rows_of.evaluate_all("all => all.slice(0, 3).map(row => row.dataset.id)")
    page.get_by_role("combobox", name="Intent to label with").fill("moving house")
    expect(page.locator(".bulk [role=option]")).to_have_text("newCreate “moving house”")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Apply").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Give the intent “moving house”, a new one")
    dialog.get_by_role("button", name="3 texts").click()
    toast = page.locator(".toast", has_text="3 texts labelled “moving house”, a new one.")
    expect(toast).to_be_visible()
    made = {one["name"]: one["id"] for one in studio.ask("/projects/sample/overview")["intents"]}
    assert made.keys() == {*before, "moving house"}
    assert labels(studio, ids) == dict.fromkeys(ids, ([made["moving house"]], "train"))
    toast.get_by_role("button", name="Undo").click()
    # “Taken back.” did not say what.
    taken_back = page.locator(".toast", has_text="Taken back: 3 texts labelled “moving house”")
    expect(taken_back).to_be_visible()
    now = {one["name"] for one in studio.ask("/projects/sample/overview")["intents"]}
    assert now == before


def test_the_list_of_a_lasso_begins_with_what_its_button_labels(
    visit: Callable[..., Page], studio: Served
) -> None:
    """54 texts were to be labelled, and the list began with labelled ones."""
    bare = [row["id"] for row in rows(studio, "split=pool&state=unlabelled", 3)]
    others = [row["id"] for row in rows(studio, "split=train", 4)]
    page = visit(studio, "/map?project=sample")
    page.wait_for_selector(".map[data-ready=true]")
    ids = studio.ask("/projects/sample/map")["ids"]
    page.evaluate(probe("lasso"), [ids.index(key) for key in (*others, *bare)])
    listed = page.locator("[data-role=selection] [data-key^='out ']")
    expect(listed).to_have_count(7)
    keys = listed.evaluate_all("all => all.map(one => one.dataset.key.slice(4))")
    assert set(keys[:3]) == set(bare)


def test_a_click_with_shift_picks_all_rows_up_to_it(
    visit: Callable[..., Page], studio: Served
) -> None:
    """38 rows took 38 clicks."""
    page = visit(studio, "/data?project=sample")
    boxes = page.locator("[data-role=utterances] tbody input[type=checkbox]")
    expect(boxes).to_have_count(50)
    boxes.nth(6).click(modifiers=["Shift"])  # alone: no other box was ticked before
    picked = page.locator("[data-role=picked]")
    expect(picked).to_have_text("1 text picked")
    boxes.nth(2).click(modifiers=["Shift"])
    expect(picked).to_have_text("5 texts picked")
    for place in range(50):
        assert boxes.nth(place).is_checked() == (2 <= place <= 6)
    boxes.nth(4).click(modifiers=["Shift"])  # from 2 to 4: they are unticked
    expect(picked).to_have_text("2 texts picked")
    boxes.nth(10).focus()
    page.keyboard.press("Space")
    expect(picked).to_have_text("3 texts picked")
