"""The Review page is to be believed: few findings, and first the remedy that helps."""

import re
import uuid
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, Route, expect

from tests.builders.held_answers import hold
from tests.builders.served_studio import Served

pytestmark = pytest.mark.usefixtures("foretold")

MADE = "[data-role=newest]:has(.good)"  # the newest act, once it is saved
_REVIEW = "/projects/sample/review"
_PHONE = {"width": 390, "height": 844}
_NO_DOUBLE_TAP = 500
"""Milliseconds; the second tap of a double one at the same place does nothing, on purpose."""


def test_only_labels_that_are_likely_wrong_are_listed_and_the_rest_is_folded(
    visit: Callable[..., Page], studio: Served
) -> None:
    counts = studio.ask(f"{_REVIEW}?kind=label&limit=500")["counts"]
    examples = studio.ask("/projects/sample/utterances?split=train&state=labelled")["total"]
    assert 0 < counts["label"] <= 0.05 * examples
    page = visit(studio, "/review?project=sample&kind=label")
    listed = page.locator("[data-role=findings] button[data-key^='label:']")
    expect(listed).to_have_count(min(12, counts["label"]))
    expect(page.locator("[data-key='kind label']")).to_contain_text(str(counts["label"]))
    if counts["label"] > 12:  # “Show 28 more of 28”
        expect(page.locator("[data-key=more]")).to_have_text(f"Show all {counts['label']}")
    finding = page.locator("[data-role=finding]")
    expect(finding.locator("p").first).to_contain_text("most similar examples")
    expect(finding.locator("p").first).not_to_contain_text("%")
    kinds = page.locator("[data-key^='kind ']:not([data-key='kind '])")
    in_all = sum(int(re.sub(r"\D", "", words)) for words in kinds.all_inner_texts())
    expect(page.locator("[data-key='kind ']")).to_have_text(re.compile(rf"All\s*{in_all}$"))
    expect(page.locator("[data-key='kind doubt']")).to_have_count(0)
    page.locator("[data-key='kind ']").click()
    fold = page.get_by_role("button", name=f"{counts['doubt']} more labels worth a look")
    expect(fold).to_be_visible()
    fold.click()
    expect(page.locator("[data-role=findings] button[data-key^='label:']")).to_have_count(12)


def test_a_remedy_that_harms_has_no_key_and_is_done_only_after_a_question(
    visit: Callable[..., Page], studio: Served
) -> None:
    review = studio.ask(f"{_REVIEW}?kind=confusion&limit=100")
    cells = review["findings"]
    cell, words = next(
        (cell, remedy["words"])
        for cell in cells
        for remedy in cell["remedies"]
        if remedy["effect"] and remedy["effect"]["breaks"] > remedy["effect"]["mends"]
    )
    page = visit(studio, "/review?project=sample&kind=confusion")
    row = page.locator(f"[data-role=findings] [data-key='{cell['id']}']")
    while not row.count():  # the last button lists more
        page.locator("[data-role=findings] button").last.click()
    row.click()
    expect(page.locator("[data-role=finding] h2")).to_have_text(cell["title"])
    harmful = page.locator(".remedy", has_text=words)  # its place changes with the unlabelled texts
    expect(harmful.locator("kbd")).to_be_hidden()
    keep = page.locator(".remedy", has_text="They differ: keep both")
    expect(keep.locator("kbd")).to_have_text("N")
    page.keyboard.press(harmful.locator("kbd").text_content() or "")
    dialog = page.locator("dialog")
    expect(dialog).to_contain_text("wrong")
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    assert studio.ask(f"{_REVIEW}?kind=confusion&limit=100")["revision"] == review["revision"]


def test_an_act_has_the_same_key_in_every_finding(
    visit: Callable[..., Page], studio: Served
) -> None:
    """Key 2 kept one finding and deleted the text of the next."""
    page = visit(studio, "/review?project=sample")
    acts = {"Delete this text": "", "Keep as it is": "N", "keep both": "N", "Another label": "A"}
    met = set()
    for kind in ("label", "confusion", "doubt"):
        page.goto(f"{studio.base}/review?project=sample&kind={kind}")
        page.locator(".remedy").first.wait_for()
        pairs = page.locator(".remedy").evaluate_all(
            "all => all.map(one => [one.querySelector('.words').textContent,"
            " one.querySelector('kbd').textContent])"
        )
        keys = [key for _, key in pairs if key]
        assert len(set(keys)) == len(keys)
        for words, key in pairs:
            named = [act for act in acts if act in words]
            met.update(named)
            assert all(acts[act] == key for act in named), pairs
            assert key.isdigit() == words.startswith(("Label it ", "Add ")), pairs
    assert met == set(acts)
    kept = page.locator("[data-role=findings] button").first.get_attribute("data-key")
    page.keyboard.press("n")
    expect(page.locator(MADE, has_text="Kept as it is")).to_be_visible()
    page.keyboard.press("u")
    expect(page.locator(f"[data-key='{kept}']")).to_have_attribute("aria-pressed", "true")


def test_a_confusion_begins_with_labels_and_proposes_none_for_test_texts(
    visit: Callable[..., Page], studio: Served
) -> None:
    page = visit(studio, "/review?project=sample&kind=confusion")
    cells = studio.ask(f"{_REVIEW}?kind=confusion&limit=12")["findings"]
    tested = next(c["id"] for c in cells if any(t["place"] == "test" for t in c["texts"]))
    page.locator(f"[data-role=findings] [data-key='{tested}']").click()
    line = page.locator("[data-role=finding] li", has=page.locator(".small", has_text="test"))
    expect(line.first.locator("button")).to_have_text("Wrong label? …")
    line.first.locator("button").click()
    expect(page.get_by_role("combobox", name="Find the label of")).to_be_visible()
    first = page.locator(".remedy").first
    expect(first).to_contain_text("Label these 8 similar unlabelled texts")
    # which texts are similar changes until the model has answered all: the address says it
    with page.expect_request(lambda asked: "/label?" in asked.url) as opened:
        first.click()
    [texts] = parse_qs(urlsplit(opened.value.url).query)["texts"]
    named = "&".join(f"ids={key}" for key in texts.split(","))
    rows = studio.ask(f"/projects/sample/utterances?{named}")["rows"]
    assert len(rows) == 8
    wanted = "|".join(re.escape(row["text"]) for row in rows)
    expect(page.locator("[data-role=utterance]")).to_have_text(re.compile(wanted))
    expect(page.get_by_text("8 texts that another page chose come first.")).to_be_visible()


def test_every_remedy_is_in_sight_beside_a_list_that_fits_the_window(
    visit: Callable[..., Page], studio: Served
) -> None:
    """Remedies were cut off at the window's edge, and three scroll bars stood side by side."""
    page = visit(studio, "/review?project=sample&kind=confusion")
    page.set_viewport_size({"width": 1280, "height": 800})
    page.locator(".remedy [data-role=radius]").last.wait_for()
    boxes = [one.bounding_box() for one in page.locator(".remedy").all()]
    assert len(boxes) >= 3
    assert all(box is not None and box["y"] + box["height"] <= 800 for box in boxes)
    assert page.evaluate("document.scrollingElement.scrollHeight") <= 800


def test_texts_take_the_room_that_remedies_leave_and_a_shade_says_that_they_go_on(
    visit: Callable[..., Page], studio: Served
) -> None:
    """Of five similar texts one was to be seen, and nothing said that there were more."""
    page = visit(studio, "/review?project=sample&kind=label")
    page.set_viewport_size({"width": 1280, "height": 800})
    page.locator(".remedy [data-role=radius]").last.wait_for()
    texts = page.locator("[data-role=finding] .told")
    box, third = texts.bounding_box(), texts.locator("li").nth(2).bounding_box()
    assert box is not None
    assert third is not None
    assert third["y"] + third["height"] <= box["y"] + box["height"]
    assert "gradient" in texts.evaluate("one => getComputedStyle(one).backgroundImage")


def test_a_remedy_says_how_many_test_texts_are_right_and_marks_names(
    visit: Callable[..., Page], studio: Served
) -> None:
    """“Test accuracy stays at 79 right” said of how many nowhere, and names looked like words."""
    finding = studio.ask(f"{_REVIEW}?kind=label&limit=1")["findings"][0]
    names = [one["name"] for one in studio.ask("/projects/sample/overview")["intents"]]
    said = [name for name in names if name in finding["why"]]
    assert said
    assert all(f"“{name}”" in finding["why"] for name in said)
    page = visit(studio, "/review?project=sample&kind=label")
    page.locator(".remedy", has_text="Delete this text").hover()
    told = page.locator("[data-role=finding] .turns p").last
    expect(told).to_contain_text(re.compile(r"Of \d+ test texts .*\d+ are right, "))


def test_a_first_look_says_what_it_does_and_counts_the_seconds(
    visit: Callable[..., Page], studio: Served
) -> None:
    """It stood still beside an empty box."""
    page = visit(studio, "/try?project=sample")
    late = hold(page, "**/projects/sample/review?*")
    page.goto(f"{studio.base}/review?project=sample")
    late.arrived()
    comparing = page.locator("[data-role=comparing]")
    expect(comparing).to_contain_text("Comparing your examples")
    expect(comparing).to_contain_text("2 seconds so far")
    expect(page.locator("[data-role=finding]")).to_be_hidden()
    late.release()
    expect(comparing).to_have_count(0)
    expect(page.locator("[data-role=finding] h2")).to_be_visible()


def test_a_first_look_says_so_while_the_model_is_loaded(
    visit: Callable[..., Page], studio: Served
) -> None:
    """For most of a minute it said “Comparing your examples”, when no model was there to do so."""
    loading = True

    def told(route: Route) -> None:
        found: dict[str, Any] = route.fetch().json()
        route.fulfill(json={**found, "model": "loading"} if loading else found)

    page = visit(studio, "/try?project=sample")
    page.route("**/status", told)
    late = hold(page, "**/projects/sample/review?*")
    page.goto(f"{studio.base}/review?project=sample")
    late.arrived()
    first = page.locator("[data-role=comparing] h2")
    expect(first).to_have_text("Loading the model")
    loading = False
    expect(first).to_have_text("Comparing your examples")
    late.release()
    expect(first).to_have_count(0)


def test_an_example_is_added_under_the_chosen_label_and_offered_under_that_of_similar_ones(
    visit: Callable[..., Page], studio: Served
) -> None:
    """The blue button bore another label than the one that the person had chosen."""
    intents = {one["name"]: one["id"] for one in studio.ask("/projects/sample/overview")["intents"]}
    text, ask = "how do I cancel my contract this year", f"{_REVIEW}/what-if"
    repair = {"kind": "add", "value": text, "intents": [intents["roaming"]]}
    near = studio.ask(ask, {"repairs": [repair]})[0]["near"]
    n = sum(one["intents"] == [intents["cancel_contract"]] for one in near)
    assert 2 * n > len(near)
    page = visit(studio, "/review?project=sample&tab=add")
    page.get_by_label("An example of").select_option(label="roaming")
    page.get_by_label("New example").fill(text)
    verdict = page.locator("[data-role=verdict]")
    of_all = f"All {n}" if n == len(near) else f"{n} of the {len(near)}"
    words = f"{of_all} most similar examples are labelled cancel_contract."
    expect(verdict).to_contain_text(words)
    expect(verdict.locator("[data-role=radius]")).to_have_count(2)
    # One of six such examples had a badge, which did not say what the label was.
    n_others = sum(one["intents"] != [intents["roaming"]] for one in near)
    rows = page.locator("[data-role=collision] .told li")
    expect(rows.get_by_text("other label")).to_have_count(n_others)
    expect(rows.first.locator(".row", has_text="other label")).to_contain_text("cancel_contract")
    expect(page.get_by_role("heading", name="What changes as roaming")).to_be_visible()
    buttons = page.locator(".content").get_by_role("button", name="Add it as")
    expect(buttons).to_have_text(["Add it as roaming", "Add it as cancel_contract"])
    # The warning advised against the blue button; another label in blue was not the chosen one.
    expect(page.locator(".content .primary:visible")).to_have_count(0)
    verdict.get_by_role("button", name="Add it as cancel_contract").click()
    expect(page.locator(MADE)).to_contain_text(f"Added “{text}” as cancel_contract.")
    page.keyboard.press("Escape")
    page.locator("[data-role=newest]").get_by_role("button", name="Undo").click()
    expect(page.locator("[data-role=newest]")).to_have_text(re.compile("^Taken back: Added “"))


def test_a_border_says_what_each_label_changes_and_where_the_mixed_up_texts_are(
    visit: Callable[..., Page], studio: Served
) -> None:
    """A relabel was offered with no word of what it changes, and “nearer” was hidden on a phone.

    The list of pairs counted seven texts, and ten others stood in the walk.
    """
    page = visit(studio, "/review?project=sample&tab=border", viewport=_PHONE)
    page.wait_for_selector(".walk li")
    expect(page.locator(".walk .amount").first).to_be_visible()
    offers = page.locator(".walk .offer:visible")
    expect(offers.first).to_have_text(re.compile(r"^Keep \w+$"))  # what harms nothing comes first
    (offer := offers.filter(has_text="abel as").first).scroll_into_view_if_needed()
    # An arrow stood for “answered as” above, and for “relabel as” here.
    expect(offer.get_by_role("button")).to_have_text(re.compile(r"^(Label|Relabel) as \w+$"))
    expect(offer.locator("[data-role=radius]")).to_contain_text(re.compile("answers? (change|of)"))
    closed = page.locator(".walk details").first
    closed.locator("summary").click()
    expect(closed.locator("[data-role=radius]").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_pin_is_explained_once_and_removed_by_a_button_with_words(
    visit: Callable[..., Page], studio: Served
) -> None:
    """Two pages explained a pin differently, and what removed it had no word."""
    page = visit(studio, "/review?project=sample&tab=pins")
    pins = page.get_by_role("region", name="Pins")
    expect(pins).to_contain_text("Set one here, or on the Try page.")  # no key: a phone has none
    pin = pins.get_by_role("button", name="Pin this answer")
    expect(pin).to_be_disabled()  # no answer is chosen for the user
    pins.get_by_label("Text").fill("my bill is too high")
    pins.get_by_label("Answer that it must get").select_option(label="Out of scope")
    pin.click()
    row = pins.locator("tbody tr", has_text="my bill is too high")
    expect(row.locator("[data-column='Versions since']")).to_have_text("none trained since")
    said = pins.locator("p").first.inner_text()
    page.goto(f"{studio.base}/try?project=sample")
    tried = page.get_by_role("region", name="Pins")
    expect(tried.locator("p").first).to_have_text(said)
    tried.get_by_role("button", name="Remove pin").click()
    expect(tried.locator("li")).to_have_count(0)
    page.locator(".toast").get_by_role("button", name="Undo").click()
    expect(tried.locator("li")).to_have_count(1)
    tried.get_by_role("button", name="Remove pin").click()
    expect(tried.locator("li")).to_have_count(0)


def test_on_a_phone_the_list_comes_first_and_a_finding_has_a_way_back(
    visit: Callable[..., Page], studio: Served
) -> None:
    """The list lay below the detail of its first finding, two screens down."""
    page = visit(studio, "/review?project=sample", viewport=_PHONE)
    rows = page.locator("[data-role=findings] button[data-key*=':']")
    expect(rows.nth(1)).to_be_in_viewport()
    finding = page.locator("[data-role=finding]")
    expect(finding).to_be_hidden()
    expect(rows.first).to_have_css("background-color", "rgba(0, 0, 0, 0)")  # not as if chosen
    in_all = re.sub(r"\D", "", page.locator("[data-key='kind ']").inner_text())
    rows.nth(1).click()
    expect(finding).to_be_visible()
    expect(rows.first).to_be_hidden()
    expect(page.locator(".remedy").first).to_be_in_viewport(ratio=1)
    title = finding.locator("h2").inner_text()
    # “of 12”, as many as were listed, stood beside a larger count.
    expect(page.get_by_text(f"2 of {in_all}", exact=True)).to_be_visible()
    page.get_by_role("button", name="Next finding").click()
    expect(page.get_by_text(f"3 of {in_all}", exact=True)).to_be_visible()
    expect(finding.locator("h2")).not_to_have_text(title)
    page.get_by_role("button", name="All findings").click()
    expect(finding).to_be_hidden()
    expect(rows.nth(2)).to_be_focused()
    page.keyboard.press("Enter")
    expect(finding).to_be_visible()
    page.keyboard.press("Escape")
    expect(rows.nth(2)).to_be_focused()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_the_newest_act_keeps_its_undo_when_the_message_has_gone(
    visit: Callable[..., Page], studio: Served
) -> None:
    """Undo went with the message; on a phone nothing was left that could take the act back."""
    phone = {"viewport": _PHONE, "has_touch": True, "is_mobile": True}
    page = visit(studio, "/review?project=sample&kind=label", **phone)
    rows = page.locator("[data-role=findings] button[data-key^='label:']")
    kept = rows.first.get_attribute("data-key")
    rows.first.tap()
    page.wait_for_timeout(_NO_DOUBLE_TAP)
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    page.locator(".remedy", has_text="Keep as it is").tap()
    # The next finding began in the middle, with the focus on “Delete this text”.
    expect(page.locator(f"[data-key='{kept}']")).to_have_count(0)
    expect(page.locator("[data-role=finding] h2")).to_be_in_viewport(ratio=1)
    expect(page.locator(".remedy:focus")).to_have_count(0)
    newest = page.locator(MADE)
    expect(newest).to_contain_text("Kept as it is")
    undo = page.get_by_role("button", name="Undo")  # it stood in a message, too
    expect(undo).to_have_count(1)
    expect(undo).to_be_in_viewport(ratio=1)
    with page.expect_response("**/review/undo"):  # the row is back before the server knows
        undo.tap()
    expect(newest).to_be_hidden()
    expect(page.locator(f"[data-key='{kept}']")).to_have_attribute("aria-pressed", "true")


def test_a_quick_tap_on_another_place_is_no_second_click(
    visit: Callable[..., Page], studio: Served
) -> None:
    """A tap on “Keep as it is” soon after the one that opened its finding did nothing.

    A phone calls two quick taps a double one, though a hundred pixels lie between them.
    """
    phone = {"viewport": _PHONE, "has_touch": True, "is_mobile": True}
    page = visit(studio, "/review?project=sample&kind=label", **phone)
    rows = page.locator("[data-role=findings] button[data-key^='label:']")
    kept = rows.first.get_attribute("data-key")
    keep = page.locator(".remedy", has_text="Keep as it is")
    rows.first.tap()
    expect(keep).to_be_visible()
    for away, acts in ((8, False), (100, True)):
        before = {"clientX": 100, "clientY": 200}
        page.locator("h1").dispatch_event("click", before)
        keep.dispatch_event("click", {"detail": 2, "clientX": 100, "clientY": 200 + away})
        expect(page.locator("[data-role=newest]")).to_be_visible(visible=acts)
    expect(page.locator(f"[data-key='{kept}']")).to_have_count(0)
    with page.expect_response("**/review/undo"):
        page.locator("[data-role=newest]").get_by_role("button", name="Undo").tap()
    expect(page.locator(f"[data-key='{kept}']")).to_have_attribute("aria-pressed", "true")


def test_home_counts_label_errors_as_review_does_when_one_comes_back_to_it(
    visit: Callable[..., Page], studio: Served
) -> None:
    """Home went on saying 25 when Review had 24 left: it showed what was true when it was left."""
    review = studio.ask(f"{_REVIEW}?kind=label&limit=1")
    n = review["counts"]["label"]
    page = visit(studio, "/")
    expect(page.get_by_text(f"Check {n} labels", exact=True)).to_be_visible()
    key = f"kept {uuid.uuid4()}"
    act = {"key": key, "finding": review["findings"][0]["id"], "repair": None}
    studio.ask(f"{_REVIEW}/act", act)
    assert studio.ask(f"{_REVIEW}?kind=label&limit=1")["counts"]["label"] == n - 1
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    expect(page.get_by_text(f"Check {n - 1} labels", exact=True)).to_be_visible()
    studio.ask(f"{_REVIEW}/undo", {"key": key})
    # "Likely label errors" led to "Labels worth a check".
    page.goto(f"{studio.base}/review?project=sample")
    kinds = page.get_by_role("group", name="Kinds of findings")
    expect(kinds.get_by_role("button", name=f"Labels to check {n}")).to_be_visible()
