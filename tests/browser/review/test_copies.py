"""Equal texts under one label go in one act, which says first what it takes."""

import re
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from tests.builders.held_answers import reroute
from tests.builders.served_studio import Served

pytestmark = pytest.mark.usefixtures("foretold")

_REVIEW = "/projects/sample/review"
_EXAMPLES = "/projects/sample/utterances?split=train&state=labelled&size=500"


def _double(studio: Served, n: int) -> int:
    """Write examples a second time, with an exclamation mark; return the number of examples."""
    found: dict[str, Any] = studio.ask(_EXAMPLES)
    for one in found["rows"][:n]:
        repair = {"kind": "add", "intents": one["labels"], "value": f"{one['text']}!"}
        body = {"key": uuid.uuid4().hex, "finding": "", "repair": repair}
        studio.ask(f"{_REVIEW}/act", body)
    return int(found["total"])


@pytest.mark.parametrize("width", [1280, 390])
def test_all_copies_go_at_once_after_their_effect_was_told_and_come_back(
    visit: Callable[..., Page], studio: Served, width: int
) -> None:
    """Sixty pairs had to be handled one at a time."""
    before = _double(studio, 6)
    after = studio.ask(_EXAMPLES)["total"]
    page = visit(
        studio, "/review?project=sample&kind=duplicate", viewport={"width": width, "height": 844}
    )
    offer = page.locator("[data-key='keep one of each']")
    expect(offer).to_have_text(re.compile(r"Keep one of each: \d+ texts are deleted …"))
    n = int(re.sub(r"\D", "", offer.inner_text()))
    offer.click()
    dialog = page.locator("dialog")
    expect(dialog).to_contain_text(f"{n} labelled texts are deleted")
    expect(dialog).to_contain_text("No unlabelled text and no test text is among them.")
    expect(dialog.locator("[data-role=effect]")).to_contain_text("Of ")
    confirm = dialog.get_by_role("button", name=f"Delete {n} texts")
    confirm.click()
    newest = page.locator("[data-role=newest]:has(.good)")
    expect(newest).to_contain_text(f"Kept one of each: {n} texts deleted")
    expect(offer).to_have_count(0)
    assert studio.ask(_EXAMPLES)["total"] == after - n
    newest.get_by_role("button", name="Undo").click()
    expect(offer).to_have_text(re.compile(rf"Keep one of each: {n} texts"))
    assert studio.ask(_EXAMPLES)["total"] == after
    assert before < after


def test_of_nearly_the_same_texts_the_act_lists_which_go_and_which_stay(
    visit: Callable[..., Page], studio: Served
) -> None:
    """339 such pairs had to be handled one at a time."""
    _double(studio, 6)

    def alike(route: Route) -> None:
        answer = route.fetch().json()
        route.fulfill(json={**answer, "alike": answer["copies"], "copies": None})

    page = visit(studio)
    reroute(page, "**/projects/sample/review?*", alike)
    page.goto(f"{studio.base}/review?project=sample&kind=duplicate")
    offer = page.locator("[data-key='keep one of alike']")
    expect(offer).to_have_text(re.compile(r"nearly the same: \d+ texts are deleted …"))
    expect(page.locator("[data-key='keep one of each']")).to_have_count(0)
    n = int(re.sub(r"\D", "", offer.inner_text()))
    before = studio.ask(_EXAMPLES)["total"]
    offer.click()
    dialog = page.locator("dialog")
    expect(dialog).to_contain_text("an opposite or a number are not among them")
    dialog.get_by_text("Which ones").click()
    expect(dialog.locator("[data-role=which] li")).to_have_count(n)
    expect(dialog.locator("[data-role=which] li").first).to_contain_text("” stays")
    dialog.get_by_role("button", name=f"Delete {n} texts").click()
    newest = page.locator("[data-role=newest]:has(.good)")
    expect(newest).to_contain_text(f"Kept one of those nearly the same: {n} texts deleted")
    assert studio.ask(_EXAMPLES)["total"] == before - n
    newest.get_by_role("button", name="Undo").click()
    expect(page.locator("[data-role=newest]")).to_contain_text("Taken back: Kept one")
    page.unroute_all(behavior="wait")
    assert studio.ask(_EXAMPLES)["total"] == before
