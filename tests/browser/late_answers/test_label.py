"""Answers that come late while somebody labels, marks values, or makes more of them."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from app.bootstrap import open_studio
from app.services.data.importing import ImportRequest, import_file
from app.services.data.intents import add_intent
from app.services.data.projects import create_project
from app.services.studio import Studio
from app.settings import Settings
from tests.builders.held_answers import hold, reroute, settle
from tests.builders.served_studio import Served, StudioPool
from tests.builders.slotted_project import with_values

_ORDER = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh")
TEXTS = [f"say the {word} thing" for word in _ORDER]
N_INTENTS = 12  # more than the card numbers
_PRESS = """keys => {
  for (const key of keys)
    document.body.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}));
}"""


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory, studios: StudioPool) -> Iterator[Served]:
    """One studio for all tests of this file, and a project of its own for each of them."""
    folder = tmp_path_factory.mktemp("late-label")
    prepared = open_studio(Settings(home=folder / "home", device="cpu"))
    file = folder / "texts.txt"
    file.write_text("\n".join(reversed(TEXTS)), encoding="utf-8")  # the newest is the first card
    for name in ("similar", "champion", "digits", "why", "sure", "slow", "refused"):
        few(prepared, name, file)
    for name in ("several", "undone"):
        few(prepared, name, file, "multi-label")
    for name in ("names", "twice", "marks", "others", "proposals", "augmentation"):
        with_values(prepared, name)
        import_file(prepared, ImportRequest(name, file))
    prepared.database.close()
    with studios.serving(folder / "home") as served:
        yield served


def few(studio: Studio, name: str, file: Path, task: Any = "single-label") -> None:
    create_project(studio, name, task)
    import_file(studio, ImportRequest(name, file))
    for place in range(N_INTENTS):
        add_intent(studio, name, f"intent-{place + 1}", "")


def label(visit: Callable[..., Page], studio: Served, project: str) -> tuple[Page, Locator]:
    """Open the Label page on a project, and wait for its first card."""
    page = visit(studio, f"/label?project={project}&order=newest")
    card = page.locator("[data-role=utterance]")
    expect(card).to_have_text(TEXTS[0])
    return page, card


def words(page: Page) -> Locator:
    return page.locator(".marking [data-word]")


def test_the_newest_card_has_its_values_shown(visit: Callable[..., Page], studio: Served) -> None:
    """While the names of slots were awaited the card went on, and the former one's text came."""
    page, card = label(visit, studio, "names")
    names = hold(page, "**/slots?most=1")
    texts = hold(page, "**/utterances/*/slots")
    page.keyboard.press("v")
    names.arrived()
    page.keyboard.press("t")
    expect(card).to_have_text(TEXTS[1])
    names.release()
    texts.arrived()
    texts.release()
    expect(words(page)).to_have_text(TEXTS[1].split())


def test_a_second_look_does_not_move_the_chosen_word(
    visit: Callable[..., Page], studio: Served
) -> None:
    """One utterance was shown twice, and a key marked its first word in place of the chosen one."""
    page, _ = label(visit, studio, "twice")
    names = hold(page, "**/slots?most=1")
    texts = hold(page, "**/utterances/*/slots")
    for _ in range(2):
        page.keyboard.press("v")
    names.arrived(2)
    names.release()
    names.release()
    texts.arrived()
    texts.release()
    expect(words(page)).to_have_text(TEXTS[0].split())
    page.keyboard.press("End")
    while texts.routes:
        texts.release()
    expect(page.locator(".marking [aria-current=true]")).to_have_text("thing")


def test_marks_made_at_once_are_all_kept(visit: Callable[..., Page], studio: Served) -> None:
    """A mark made while another was being saved erased it; a refused one stops no other."""
    page, _ = label(visit, studio, "marks")
    page.keyboard.press("v")
    expect(words(page)).to_have_text(TEXTS[0].split())
    saves = hold(page, "**/utterances/*/slots", "PUT")
    for key in ("1", "ArrowRight", "1", "ArrowRight", "1"):
        page.keyboard.press(key)
    saves.arrived()
    saves.release()
    saves.arrived()
    saves.routes.pop(0).fulfill(status=409, json={"message": "Not this one.", "hint": ""})
    saves.arrived()
    saves.release()
    expect(page.locator(".marking .slot small")).to_have_text(["city", "city"])
    expect(words(page).nth(1)).to_have_text("the")


def test_marks_of_somebody_else_are_shown_and_not_replaced(
    visit: Callable[..., Page], studio: Served
) -> None:
    """A mark was saved with all others as the page had them: a new name of theirs was undone."""
    page, _ = label(visit, studio, "others")
    page.keyboard.press("v")
    expect(words(page)).to_have_text(TEXTS[0].split())
    marks = page.locator(".marking .slot small")
    page.keyboard.press("1")
    expect(marks).to_have_text(["city"])
    studio.ask("/projects/others/slots/rename", {"name": "city", "to": "town"})
    page.keyboard.press("End")
    page.keyboard.press("1")
    expect(page.locator(".toast.bad")).to_contain_text("Nothing was overwritten.")
    expect(marks).to_have_text(["town"])
    page.keyboard.press("1")
    expect(marks).to_have_text(["town", "city"])


def test_ticked_intents_stay_with_their_utterance(
    visit: Callable[..., Page], studio: Served
) -> None:
    """Intents ticked for a card went on to the next one, unless a label brought it."""
    page, card = label(visit, studio, "several")
    ticked = page.get_by_role("button", name="intent-2", pressed=True)
    page.keyboard.press("2")
    expect(ticked).to_be_visible()
    page.keyboard.press("t")
    expect(card).to_have_text(TEXTS[1])
    expect(ticked).to_have_count(0)
    page.get_by_role("button", name="Back into the queue").click()
    expect(card).to_have_text(TEXTS[0])
    expect(ticked).to_be_visible()
    page.evaluate(_PRESS, ["1", "Enter"])  # the card is still the same one, so Enter takes them
    expect(card).to_have_text(TEXTS[1])
    decided = page.get_by_role("list", name="Last decisions").locator("li .chip")
    expect(decided).to_have_text(["intent-2", "intent-1"])


def test_undone_a_text_comes_back_with_its_marks(
    visit: Callable[..., Page], studio: Served
) -> None:
    """To change one intent of three, a person had to mark all of them again after U."""
    page, card = label(visit, studio, "undone")
    marked = page.locator(".option[aria-pressed=true] .chip")
    decided = page.get_by_role("list", name="Last decisions").locator("li .chip")
    page.evaluate(_PRESS, ["1", "2", "s"])
    expect(card).to_have_text(TEXTS[1])
    page.evaluate(_PRESS, ["u", "3"])
    expect(card).to_have_text(TEXTS[0])
    expect(marked).to_have_text(["intent-1", "intent-2", "intent-3"])
    page.keyboard.press("Enter")
    expect(page.locator("[data-role=saved]")).to_have_text("all saved")
    expect(decided).to_have_text(["intent-1", "intent-2", "intent-3"])
    page.reload()
    page.get_by_role("button", name=f"Undo: {TEXTS[0]}").click()
    expect(card).to_have_text(TEXTS[0])
    expect(marked).to_have_text(["intent-1", "intent-2", "intent-3"])
    page.evaluate(_PRESS, ["2", "Enter"])
    expect(decided).to_have_count(2)
    assert set(decided.all_inner_texts()) == {"intent-1", "intent-3"}
    expect(page.locator("[data-role=saved]")).to_have_text("all saved")


def test_a_refused_undo_leaves_the_card_and_the_counts_as_they_were(
    visit: Callable[..., Page], studio: Served
) -> None:
    """A text that somebody else had labelled stayed on the card, and counted as one that waits."""
    page, card = label(visit, studio, "refused&n=3")
    page.keyboard.press("1")
    expect(page.locator("[data-role=saved]")).to_have_text("all saved")
    [row] = studio.ask("/projects/refused/utterances?size=1&state=labelled")["rows"]
    other = {"key": "by somebody else", "kind": "out-of-scope", "id": row["id"]}
    studio.ask("/projects/refused/ops", [{**other, "seen": row["labels"]}])
    undos = hold(page, "**/ops", "POST")
    page.keyboard.press("u")
    expect(card).to_have_text(TEXTS[0])
    expect(page.locator("[data-role=few]")).to_have_text("0 of these 3")
    undos.arrived()
    undos.release()
    expect(page.locator(".toast.bad")).to_contain_text("Nothing was taken back.")
    expect(card).to_have_text(TEXTS[1])
    expect(page.locator("[data-role=few]")).to_have_text("1 of these 3")
    expect(page.locator("[data-role=left]")).to_have_text("6 wait for a label")
    expect(page.locator("[data-role=today]")).to_have_text("1 labelled today")
    expect(page.locator("[data-role=decided]")).to_contain_text(f"“{TEXTS[0]}” as intent-1")


def test_a_card_that_is_like_another_stays(visit: Callable[..., Page], studio: Served) -> None:
    """What is similar came late, and took away the card that was one of them."""

    def with_model(route: Route) -> None:  # without one there is nothing to ask for
        route.fulfill(json={**route.fetch().json(), "champion": 1})

    page = visit(studio)
    page.route("**/projects/similar/status", with_model)
    page.goto(f"{studio.base}/label?project=similar&order=newest")
    card = page.locator("[data-role=utterance]")
    expect(card).to_have_text(TEXTS[0])
    first = record_of(card)
    similar = hold(page, "**/similar", "POST")
    page.keyboard.press("m")
    similar.arrived()
    page.keyboard.press("t")
    expect(card).to_have_text(TEXTS[1])
    found = [{"record": one} for one in (first, record_of(card))]
    similar.routes.pop().fulfill(json=found)
    expect(page.get_by_text("1 text like")).to_be_visible()
    expect(card).to_have_text(TEXTS[1])


def test_no_more_texts_are_called_sure_than_wait_while_the_server_is_away(
    visit: Callable[..., Page], studio: Served
) -> None:
    """It said "sure of 7 of 4": of the two figures, only the second followed the keys."""
    page = visit(studio, "/history?project=sure")
    counted = {"n": 7, "looked_at": 8, "expected": 0.01, "check": ["a"] * 7, "texts": []}
    reroute(page, "**/sure?most=0", lambda route: route.fulfill(json=counted))
    page.goto(f"{studio.base}/label?project=sure&order=newest")
    sure = page.locator("[data-role=sure]")
    expect(sure).to_contain_text("sure of 7 of 8 unlabelled texts")
    page.context.set_offline(True)
    for place in range(3):
        expect(page.locator("[data-role=utterance]")).to_have_text(TEXTS[place])
        page.keyboard.press("s")
    expect(sure).to_contain_text("sure of 5 of 5 unlabelled texts")
    expect(sure.get_by_role("button")).to_contain_text("Check 5 of them")
    page.keyboard.press("s")
    expect(sure).to_be_hidden()
    page.keyboard.press("u")
    expect(sure).to_contain_text("sure of 5 of 5 unlabelled texts")
    page.context.set_offline(False)
    expect(page.locator("[data-role=saved]")).to_have_text("all saved")


def record_of(card: Locator) -> dict[str, Any]:
    shown = {"id": card.get_attribute("data-id"), "text": card.inner_text()}
    return {**shown, "split": "pool", "labels": None, "flagged": ""}


def test_another_champion_leaves_the_card(visit: Callable[..., Page], studio: Served) -> None:
    """Another version came to answer, and the card went while somebody thought about it."""
    page, card = label(visit, studio, "champion")
    queue = hold(page, "**/queue?*")

    def promoted(route: Route) -> None:
        route.fulfill(json={**route.fetch().json(), "champion": 7})

    reroute(page, "**/status", promoted)
    expect(page.get_by_text("Version 7 answers now.")).to_be_visible()
    queue.arrived()
    expect(card).to_be_visible()
    queue.release()
    expect(card).to_have_text(TEXTS[0])
    page.unroute_all(behavior="wait")


def test_a_number_decides_at_once_and_only_for_what_the_card_shows(
    visit: Callable[..., Page], studio: Served
) -> None:
    """A pause within 12 labelled two texts: a number key waited for a second digit."""
    page = visit(studio, "/label?project=digits&order=newest")
    card = page.locator("[data-role=utterance]")
    expect(card).to_have_text(TEXTS[0])
    page.evaluate(_PRESS, ["1", "2", "0"])
    expect(card).to_have_text(TEXTS[3])
    decided = page.get_by_role("list", name="Last decisions").locator("li .chip")
    expect(decided).to_have_text(["out of scope", "intent-2", "intent-1"])
    page.evaluate(_PRESS, ["7"])
    expect(page.get_by_text("The card has no number 7.")).to_be_visible()
    expect(card).to_have_text(TEXTS[3])
    page.keyboard.press("?")
    keys = page.locator("#keys")
    expect(keys).to_contain_text("1 to 5")
    expect(keys).not_to_contain_text("17")
    expect(page.locator("[data-role=saved]")).to_have_text("all saved")


def test_what_is_said_of_a_card_does_not_stay_beside_the_next(
    visit: Callable[..., Page], studio: Served
) -> None:
    """What was said of a card stayed beside the next one, or came late beside it."""
    page, card = label(visit, studio, "why")
    why = page.get_by_role("region", name="Why")
    answers = hold(page, "**/predict", "POST")
    page.keyboard.press("w")
    expect(why).to_be_visible()
    page.keyboard.press("t")
    expect(card).to_have_text(TEXTS[1])
    expect(why).to_be_hidden()
    page.keyboard.press("w")
    answers.arrived(2)
    answers.routes.pop().fulfill(json=[reason("of the second")])
    expect(why).to_contain_text("of the second")
    answers.routes.pop().fulfill(json=[reason("of the first")])
    settle(page)
    expect(why).to_contain_text("of the second")


def reason(sentence: str) -> dict[str, Any]:
    prediction = {"ranked": [], "decision": {"intents": []}}
    return {"sentence": sentence, "prediction": prediction, "reasons": []}


def test_what_is_marked_is_what_is_shown(visit: Callable[..., Page], studio: Served) -> None:
    """Proposals were accepted with the unsure ones, which were ticked and not shown yet."""
    page = visit(studio, "/slots?project=proposals")
    sheet = page.get_by_role("region", name="Proposals")
    mark = sheet.get_by_role("button", name=re.compile(r"^Mark \d+ values? in \d+ texts?$"))
    expect(mark).to_be_visible()
    asked = hold(page, "**/slots/accept", "POST")
    sheet.get_by_label("Also words that are often something else").check()
    asked.arrived()
    mark.click()
    asked.arrived(2)
    sent = asked.routes[1].request.post_data_json
    assert (sent["noisy"], sent["preview"]) == (False, False)
    asked.release()
    expect(mark).to_be_disabled()
    asked.release()
    expect(page.get_by_text("marked.")).to_be_visible()


def test_what_is_added_is_what_is_shown(visit: Callable[..., Page], studio: Served) -> None:
    """What was added was of the numbers in the fields, though others made the preview."""
    page = visit(studio, "/slots?project=augmentation")
    sheet = page.get_by_role("region", name="Augmentation")
    previews = hold(page, "**/augmentation/preview", "POST")
    added = hold(page, "**/augmentation", "POST")
    sheet.get_by_role("button", name="Preview").click()
    previews.arrived()
    sheet.get_by_label("Values per slot").fill("3")
    line = {"template": "is it cold in [city]", "intents": [], "n": 4, "examples": []}
    found = {"n": 4, "n_templates": 1, "n_sources": 2, "templates": [line]}
    previews.routes.pop().fulfill(json=found)
    add = sheet.get_by_role("button", name="Add 4")
    add.click()
    added.arrived()
    assert added.routes[0].request.post_data_json["top"] == 5
    expect(add).to_be_disabled()


def test_a_decision_that_is_not_saved_for_long_says_so(
    visit: Callable[..., Page], studio: Served
) -> None:
    """A faint “saving …” stood there for minutes, and a person left with five labels unsaved."""
    page, card = label(visit, studio, "slow")
    saves = hold(page, "**/ops", "POST")
    for place in (1, 2):
        page.keyboard.press("s")
        expect(card).to_have_text(TEXTS[place])
    state = page.locator("[data-role=saved]")
    expect(state).to_have_text("saving …")
    expect(state).to_have_text("2 decisions not saved yet: the studio is slow to answer")
    expect(state).to_have_class(re.compile("trouble"))
    saves.let_through(lambda: state.inner_text() == "all saved")
