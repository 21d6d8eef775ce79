"""The Label page beyond the card: what the model is sure of, last decisions, goal, and keys."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.builders.held_answers import hold, rest, settle
from tests.builders.served_studio import Served
from tests.waiting import wait_until

_UNLABELLED = "/projects/sample/utterances?size=1&state=unlabelled"
MEANINGS = "What each intent means"
_TESTS = "/projects/sample/utterances?size=1&split=test&state=labelled"


@pytest.fixture
def page(studio: Served, visit: Callable[..., Page]) -> Page:
    opened = visit(studio, "/label?project=sample")
    opened.wait_for_function("document.querySelector('[data-role=utterance]')?.dataset.id")
    return opened


def _status(page: Page) -> dict[str, Any]:
    return dict(page.evaluate("async () => (await fetch('/api/projects/sample/status')).json()"))


def waiting(studio: Served) -> int:
    return int(studio.ask(_UNLABELLED)["total"])


def counted(studio: Served) -> int:
    """Return how many texts are unlabelled, once the server has compared them in the background."""
    n, sure = waiting(studio), "/projects/sample/sure?most=0"
    wait_until(lambda: studio.ask(sure)["looked_at"] == n, "the unlabelled texts are compared")
    return n


def test_all_that_the_model_is_sure_of_is_accepted_after_a_check(
    page: Page, studio: Served
) -> None:
    before, tests = counted(studio), studio.ask(_TESTS)["total"]
    sure = len(studio.ask("/projects/sample/sure")["texts"])
    note = page.locator("[data-role=sure]")
    expect(note).to_contain_text(f"The model is sure of {sure} of {before} unlabelled texts.")
    expect(note).to_contain_text("Check 20 of them, then label all at once.")
    page.keyboard.press("a")
    expect(note.get_by_role("button")).to_have_text("Check 20 of them A")
    # "About 8 errors" did not say of what.
    expect(note).to_contain_text(re.compile(rf"(of these {sure} labels to be|one) wrong"))
    check = page.locator("[data-role=spot-check]")
    expect(check).to_contain_text("Judge 20 of them, drawn at random.")
    expect(page.get_by_role("button", name="Accept")).to_have_count(0)
    wrong = page.locator("[data-role=checked-text]").inner_text()
    page.keyboard.press("n")
    for place in range(2, 21):
        expect(check).to_contain_text(f"{place} of 20")
        page.keyboard.press("y")
    expect(page.locator("[data-role=verdict]")).to_contain_text("1 of 20 wrong.")
    page.keyboard.press("y")  # a quick hand comes one key too far
    page.keyboard.press("Enter")
    expect(check).to_contain_text("Very likely at most 22 % of the others are wrong.")
    expect(check).not_to_contain_text("probably under")  # a third figure of the same errors
    assert waiting(studio) == before
    page.get_by_role("button", name=f"Accept {sure - 1} labels").click()
    message = page.locator(".toast", has_text=f"{sure - 1} texts labelled as the model answers.")
    expect(message).to_be_visible()
    expect(page.locator("[data-role=utterance]")).to_have_text(wrong)
    assert waiting(studio) == before - (sure - 1)
    assert studio.ask(_TESTS)["total"] == tests
    # U said that nothing was left to undo, and the strip did not know of the act.
    strip = page.get_by_role("list", name="Last decisions").locator("li[data-id]")
    expect(strip.first).to_contain_text(f"{sure - 1} texts as the model answers")
    expect(page.locator("[data-role=left]")).to_have_text(f"{before - (sure - 1)} wait for a label")
    page.keyboard.press("u")
    expect(page.locator(".toast", has_text="Taken back.")).to_be_visible()
    assert waiting(studio) == before
    expect(strip.filter(has_text="as the model answers")).to_have_count(0)


def test_the_last_decisions_and_the_goal_of_the_day_survive_a_reload(
    page: Page, studio: Served
) -> None:
    strip = page.get_by_role("list", name="Last decisions").locator("li[data-id]")
    texts = []
    for key in "s0s":
        texts.append(page.locator("[data-role=utterance]").inner_text())
        page.keyboard.press(key)
        expect(strip).to_have_count(len(texts))
    expect(page.locator("[data-role=saved]")).to_have_text("all saved")
    today = page.locator("[data-role=today]")
    expect(today).to_have_text("1 labelled today")  # “of 100” was a goal that nobody had set
    today.get_by_role("button").click()
    page.get_by_label("Texts a day").fill("40")
    page.get_by_role("button", name="Save").click()
    # Two skipped texts counted as labels, beside “1 label since training”.
    expect(today).to_contain_text("1 of 40 labelled today")
    page.reload()
    expect(strip).to_have_count(3)
    expect(strip.locator(".soft")).to_have_text(texts[::-1])
    expect(today).to_contain_text("1 of 40 labelled today")
    before = waiting(studio)
    strip.nth(1).get_by_role("button", name="Undo").click()
    expect(page.locator("[data-role=utterance]")).to_have_text(texts[1])
    expect(strip).to_have_count(2)
    expect(page.locator("[data-role=saved]")).to_have_text("all saved")
    assert waiting(studio) == before + 1
    expect(today).to_contain_text("0 of 40 labelled today")


def test_the_keys_of_the_page_lie_over_it(page: Page) -> None:
    page.keyboard.press("?")
    keys = page.get_by_role("dialog", name="Keys of this page")
    for key in ("1 to 5", "Enter", "0 or O", "A", "Ctrl K"):
        expect(keys.locator("dt", has_text=re.compile(f"^{key}$"))).to_be_visible()
    for key, meaning in (("S", "skipped"), ("F", "second look"), ("T", "all one label")):
        line = keys.locator("dt", has_text=re.compile(f"^{key}$"))
        expect(line.locator("xpath=following-sibling::dd[1]")).to_contain_text(meaning)
    page.keyboard.press("s")  # no decision while the keys are read
    page.keyboard.press("Escape")
    expect(keys).to_have_count(0)
    expect(page.locator("[data-role=saved]")).to_have_text("saved as you go")


def test_the_card_shows_names_above_their_shares_and_says_what_its_buttons_do(page: Page) -> None:
    """A share was larger than the name it belongs to; Skip and Flag were unexplained."""
    option = page.locator(".option").first
    sizes = [
        option.locator(part).evaluate("at => parseFloat(getComputedStyle(at).fontSize)")
        for part in (".inside", ".share")
    ]
    assert sizes[0] > sizes[1]
    for name, title in (
        ("Skip", "Decides nothing"),
        ("Flag unclear", "second look"),
    ):
        button = page.locator(".card").get_by_role("button", name=name)
        expect(button).to_have_attribute("title", re.compile(title))


def test_the_queue_starts_with_what_helps_and_its_orders_are_few(page: Page) -> None:
    order = page.get_by_label("Order of the queue")
    expect(order).to_have_value("helps")
    first = ("Helps most", "Asked most, least sure", "Least sure")
    others = ("Unlike all examples", "Newest first", "Random")
    expect(order.locator("option")).to_have_text([*first, *others])


def test_a_key_draws_two_lines_and_is_sent_when_the_next_card_is_drawn(page: Page) -> None:
    """Drawing ten lines anew and sending at once delayed the next card by a third of its time."""
    lines = page.locator("[aria-label='Last decisions'] li[data-id]")
    for _ in range(11):
        page.keyboard.press("s")
    expect(lines).to_have_count(10)
    expect(page.locator("[data-role=saved]")).to_have_text("all saved")
    order = page.evaluate(
        """() => new Promise(done => {
          const [list] = document.querySelectorAll("[aria-label='Last decisions']");
          const before = [...list.children].slice(0, 9), order = [];
          const plain = window.fetch;
          window.fetch = (...given) => {
            if (!String(given[0]).endsWith('/ops')) return plain(...given);
            order.push('sent');
            window.fetch = plain;
            done({order, kept: before.every((line, at) => list.children[at + 1] === line)});
            return plain(...given);
          };
          requestAnimationFrame(() => order.push('drawn'));
          document.dispatchEvent(new KeyboardEvent('keydown', {key: 's', bubbles: true}));
        })"""
    )
    assert order == {"order": ["drawn", "sent"], "kept": True}
    expect(page.locator("[data-role=saved]")).to_have_text("all saved")


def test_the_card_says_what_the_last_key_did_and_how_to_take_it_back(
    visit: Callable[..., Page], studio: Served
) -> None:
    """Nothing in view said it: the box of last decisions lies below the edge of a small window."""
    page = visit(studio, "/label?project=sample", viewport={"width": 1280, "height": 800})
    card, said = page.locator("[data-role=utterance]"), page.locator("[data-role=decided]")
    option = page.locator(".option").first.locator(".chip")
    expect(option).to_be_visible()
    expect(page.locator("[data-role=sure]")).to_be_visible()
    top, text, intent = card.bounding_box(), card.inner_text(), option.inner_text()
    page.keyboard.press("1")
    expect(said).to_contain_text(f"Labelled “{text}” as {intent}")
    expect(said).to_be_in_viewport(ratio=1)
    expect(card).not_to_have_text(text)
    after = card.bounding_box()
    assert top
    assert after
    assert after["y"] == top["y"]
    page.keyboard.press("s")
    expect(said).to_contain_text("Skipped")
    said.get_by_role("button", name="Undo").click()
    expect(said).to_contain_text(f"Labelled “{text}”")
    page.keyboard.press("u")
    expect(card).to_have_text(text)
    expect(said).to_have_text("Nothing decided yet.")
    expect(page.locator("[data-role=saved]")).to_have_text("all saved")


def test_the_counters_follow_each_key_before_the_server_answers(page: Page) -> None:
    """They lagged behind by seconds, and an older answer of the server set them back."""
    today, left = page.locator("[data-role=today]"), page.locator("[data-role=left]")
    expect(today).to_contain_text("today")
    expect(left).to_contain_text("wait for a label")
    made = int(today.inner_text().split()[0])
    waiting = int(left.inner_text().split()[0].replace(",", ""))
    saves = hold(page, "**/ops", "POST")
    for more in (1, 2):
        page.keyboard.press("0")
        expect(today).to_contain_text(f"{made + more} of")
        expect(left).to_have_text(f"{waiting - more} wait for a label")
    saves.arrived()
    old = hold(page, "**/status", most=1)
    old.arrived()
    saves.let_through(lambda: page.locator("[data-role=saved]").inner_text() == "all saved")
    old.routes.pop().fulfill(json={**_status(page), "unlabelled": waiting + 40})
    settle(page)
    expect(left).to_have_text(f"{waiting - 2} wait for a label")
    page.unroute_all(behavior="wait")
    for _ in range(2):
        page.keyboard.press("u")
    expect(left).to_have_text(f"{waiting} wait for a label")
    expect(today).to_contain_text(f"{made} of")
    expect(page.locator("[data-role=saved]")).to_have_text("all saved")


def test_the_next_card_has_the_answer_of_the_model_with_the_labels_just_given(page: Page) -> None:
    """Cards kept the answer from when they were fetched, up to a hundred labels before."""
    card, options = page.locator("[data-role=utterance]"), page.locator(".option .chip")
    expect(options).to_have_count(5)
    expect(page.locator(".order-note")).not_to_have_text(re.compile("^(Not yet|$)"))  # settled
    asked = hold(page, "**/suggestions?*")
    page.keyboard.press("1")
    asked.arrived()
    text, shown = card.inner_text(), options.all_inner_texts()
    route = asked.routes.pop()
    answers = route.fetch().json()
    for answer in answers:
        answer["suggestions"].reverse()
        answer["out_of_scope"] = False
    newest = {answer["id"]: answer for answer in answers}
    route.fulfill(json=answers)
    settle(page)
    expect(options).to_have_text(shown)  # no number changes its meaning under the hand
    page.keyboard.press("s")
    expect(card).not_to_have_text(text)
    answer = newest[str(card.get_attribute("data-id"))]
    expect(options).to_have_text([one["intent"] for one in answer["suggestions"]])
    page.keyboard.press("w")
    why = page.get_by_label("Why", exact=True)
    expect(why).to_contain_text("Labels given since this card came have changed its answer.")
    page.unroute_all(behavior="wait")
    for _ in range(2):
        page.keyboard.press("u")
    expect(page.locator("[data-role=saved]")).to_have_text("all saved")


def test_texts_set_aside_are_there_after_a_reload(page: Page, studio: Served) -> None:
    """Review was visited, and the texts were in the queue again without a word."""
    card, aside = page.locator("[data-role=utterance]"), page.get_by_label("Set aside")
    ids, texts = [], []
    for _ in range(2):
        ids.append(str(card.get_attribute("data-id")))
        texts.append(card.inner_text())
        page.keyboard.press("t")
        expect(card).not_to_have_text(texts[-1])
    decided = {"key": "labelled elsewhere", "kind": "out-of-scope", "id": ids[1], "seen": None}
    studio.ask("/projects/sample/ops", [decided])
    page.reload()
    expect(aside.locator("li")).to_have_text(texts[:1])  # the other one was labelled meanwhile
    expect(card).to_be_visible()
    assert card.get_attribute("data-id") not in ids
    aside.get_by_role("button", name="Back into the queue").click()
    expect(card).to_have_text(texts[0])
    page.reload()
    expect(card).to_be_visible()
    expect(aside).to_be_hidden()
    undone = {"key": "taken back", "kind": "undo", "id": ids[1], "of": "labelled elsewhere"}
    studio.ask("/projects/sample/ops", [undone])


def test_why_opens_in_view(visit: Callable[..., Page], studio: Served) -> None:
    """It opened below the edge of the window, and nothing seemed to happen."""
    for width, height in ((1280, 800), (390, 844)):
        page = visit(studio, "/label?project=sample", viewport={"width": width, "height": height})
        expect(page.locator(".option .share")).to_have_count(5)
        page.keyboard.press("w")
        why = page.get_by_label("Why", exact=True)
        expect(why.get_by_role("heading", name="votes for")).to_be_visible()
        expect(why.get_by_role("heading", name="Why")).to_be_in_viewport(ratio=1)


def test_counts_of_intents_and_of_sure_texts_follow_the_labels(page: Page, studio: Served) -> None:
    """Ten labels later, the list of intents and the note of sure texts counted as before."""
    guidelines, note = page.get_by_label(MEANINGS, exact=True), page.locator("[data-role=sure]")
    before = counted(studio)  # with what the tests before this one took back
    page.reload()
    expect(note).to_contain_text(f"of {before} unlabelled texts")
    expect(page.locator(".option .share")).to_have_count(5)  # the model answers the card, too
    names = guidelines.locator("summary .chip").all_inner_texts()
    assert names == sorted(names)
    offered = page.locator(".option .chip").all_inner_texts()
    place, name = next((at, one) for at, one in enumerate(offered) if one != "out of scope")
    entry = guidelines.locator("details", has=page.get_by_text(name, exact=True))
    n = int(entry.locator(".count").inner_text().split()[0])
    page.keyboard.press(str(place + 1))
    expect(entry.locator(".count")).to_have_text(re.compile(rf"^{n + 1} examples, \d+ test$"))
    expect(note).to_contain_text(f"of {before - 1} unlabelled texts")
    page.keyboard.press("u")
    expect(page.locator("[data-role=saved]")).to_have_text("all saved")
    page.get_by_label("Find an intent to read about").fill(name.replace("_", " "))
    expect(guidelines.locator("summary .chip:visible")).to_have_text([name])


def test_after_as_many_texts_as_home_asked_for_the_page_says_so(
    visit: Callable[..., Page], studio: Served
) -> None:
    """Home said "Label these 20", and at 20 nothing was said."""
    page = visit(studio, "/label?project=sample&order=helps&n=2")
    few = page.locator("[data-role=few]")
    expect(page.locator(".option .share")).to_have_count(5)
    expect(few).to_have_text("0 of these 2")
    page.keyboard.press("1")
    expect(few).to_have_text("1 of these 2")
    page.keyboard.press("s")
    expect(few).to_have_text("1 labelled, 1 without a label. Train, or go on.")
    expect(few.get_by_role("link", name="Train")).to_have_attribute("href", "/train?project=sample")
    for left in ("1 of these 2", "0 of these 2"):
        page.keyboard.press("u")
        expect(few).to_have_text(left)
    expect(page.locator("[data-role=saved]")).to_have_text("all saved")


def test_on_a_phone_the_card_is_whole_and_no_length_of_a_text_moves_its_buttons(
    visit: Callable[..., Page], studio: Served
) -> None:
    """Half the screen went before the text, a tap missed the answer, and Skip lay under the bar."""
    options = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    page = visit(studio, "/label?project=sample", **options)
    text, first = page.locator("[data-role=utterance]"), page.locator(".option").first
    skip = page.get_by_role("button", name="Skip")
    expect(page.locator(".option .share")).to_have_count(5)
    # What stands above the card comes after it.
    expect(page.locator("[data-role=left]")).to_contain_text("wait for a label")
    rest(page)
    for shown in (first, skip):
        shown.click(trial=True)  # nothing lies over it
        expect(shown).to_be_in_viewport(ratio=1)
    assert page.evaluate("scrollY") == 0
    expect(page.locator(".card kbd:visible")).to_have_count(0)
    before = first.bounding_box()
    text.evaluate("node => { node.textContent = 'a long text without an end '.repeat(12); }")
    assert first.bounding_box() == before
    text.evaluate("node => { node.textContent = 'lol'; }")
    assert first.bounding_box() == before


def test_a_suggestion_is_never_said_to_be_impossible(
    visit: Callable[..., Page], studio: Served
) -> None:
    """Four of five suggestions were said to be of 0 %."""
    rows = studio.ask("/projects/sample/utterances?size=50&state=unlabelled")["rows"]
    ids = ",".join(row["id"] for row in rows)
    known = studio.ask(f"/projects/sample/suggestions?ids={ids}")
    unlikely = next(
        one["id"]
        for one in known
        if not one["out_of_scope"] and one["suggestions"][-1]["probability"] < 0.01
    )
    page = visit(studio, f"/label?project=sample&texts={unlikely}")
    expect(page.locator("[data-role=utterance]")).to_have_attribute("data-id", unlikely)
    shares = page.locator(".option .share")
    expect(shares).to_have_count(5)
    expect(shares.filter(has_text=re.compile("^under 1 %$")).first).to_be_visible()
    expect(shares.filter(has_text=re.compile("^0 %$"))).to_have_count(0)


def test_on_a_phone_what_intents_mean_opens_from_the_card(
    visit: Callable[..., Page], studio: Served
) -> None:
    """They lay below the last decisions, three screens down."""
    page = visit(studio, "/label?project=sample", viewport={"width": 390, "height": 844})
    expect(page.locator(".option .share")).to_have_count(5)
    opener = page.get_by_role("button", name=MEANINGS, exact=True)
    expect(opener).to_be_in_viewport(ratio=1)
    guidelines = page.get_by_label(MEANINGS, exact=True)
    expect(guidelines).to_be_hidden()
    opener.click()
    expect(guidelines.locator("summary").first).to_be_in_viewport(ratio=1)
    page.keyboard.press("Escape")
    expect(guidelines).to_be_hidden()
    expect(opener).to_be_focused()
