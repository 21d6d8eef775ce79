"""Decisions of Label that could not be sent: every other page sends them, and says so."""

import json
import re
import urllib.request
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from playwright.sync_api import Page, Route, expect

from tests.builders.held_answers import hold, reroute
from tests.builders.served_studio import Served

OPS = "**/projects/sample/ops"
BROKEN = {"message": "The disk is full.", "hint": ""}
UNSAVED = "[data-role=unsaved]"


def left_behind(page: Page, studio: Served, n: int) -> list[str]:
    """Leave decisions in the browser as a closed tab does; return the ids of their texts.

    The page in view is none of the studio's: it would send them before the next one is there.
    """
    page.goto(f"{studio.base}/api/health/live")
    found = studio.ask(f"/projects/sample/utterances?state=unlabelled&size={n}")["rows"]
    operations = [
        {"key": str(uuid4()), "kind": "skip", "id": row["id"], "seen": None} for row in found
    ]
    page.evaluate(
        "([name, held]) => localStorage.setItem(name, held)",
        [f"outbox:sample:{uuid4()}", json.dumps(operations)],
    )
    return [row["id"] for row in found]


def kept(page: Page) -> int:
    """Return how many decisions the browser keeps."""
    return int(
        page.evaluate(
            """() => Object.keys(localStorage).filter(name => name.startsWith('outbox:'))
            .reduce((n, name) => n + JSON.parse(localStorage.getItem(name)).length, 0)"""
        )
    )


@pytest.mark.parametrize("path", ["", "data", "review", "map", "train", "versions"])
def test_every_page_sends_what_label_could_not(
    visit: Callable[..., Page], studio: Served, path: str
) -> None:
    """They waited in the browser until somebody opened Label again, and no page told of them."""
    page = visit(studio, "/history?project=sample")
    ids = left_behind(page, studio, 3)
    saves = hold(page, OPS, "POST")
    page.goto(f"{studio.base}/{path}?project=sample")
    saves.arrived()
    line = page.locator(UNSAVED)
    expect(line).to_have_text("3 decisions of Label are not saved yet: sending …")
    assert kept(page) == 3
    saves.release()
    expect(line).to_be_empty()
    expect(page.locator(".toast", has_text="3 decisions of Label saved.")).to_be_visible()
    assert kept(page) == 0
    sent = studio.ask("/projects/sample/utterances?state=skipped&size=500")["rows"]
    assert set(ids) <= {row["id"] for row in sent}


def test_what_the_studio_cannot_take_stays_and_is_sent_when_the_connection_is_back(
    visit: Callable[..., Page], studio: Served
) -> None:
    page = visit(studio, "/history?project=sample")
    left_behind(page, studio, 1)
    broken = [True]

    def refuse(route: Route) -> None:
        if broken:
            route.fulfill(status=500, json=BROKEN)
        else:
            route.fallback()

    reroute(page, OPS, refuse)
    page.goto(f"{studio.base}/data?project=sample")
    line = page.locator(UNSAVED)
    expect(line).to_contain_text("1 decision of Label is not saved yet: the studio does not take")
    assert kept(page) == 1
    broken.clear()
    page.evaluate("window.dispatchEvent(new Event('online'))")
    expect(line).to_be_empty()
    assert kept(page) == 0


def test_a_proxy_that_answers_in_place_of_the_studio_takes_no_decision(
    visit: Callable[..., Page], studio: Served
) -> None:
    """Its page to log in came with the status 200, and nothing was sent until a reload."""
    page = visit(studio, "/history?project=sample")
    left_behind(page, studio, 1)
    proxied = ["<html>Log in</html>", '{"login": "/"}']

    def answer(route: Route) -> None:
        if proxied:
            route.fulfill(body=proxied.pop(0))
        else:
            route.fallback()

    reroute(page, OPS, answer)
    page.goto(f"{studio.base}/data?project=sample")
    expect(page.locator(".toast", has_text="1 decision of Label saved.")).to_be_visible()
    assert proxied == []
    assert kept(page) == 0


def test_a_training_waits_for_decisions_and_asks_if_they_take_long(
    visit: Callable[..., Page], studio: Served
) -> None:
    """It began without them, and nothing said so."""
    page = visit(studio, "/history?project=sample")
    left_behind(page, studio, 2)
    saves, begun = hold(page, OPS, "POST"), hold(page, "**/projects/sample/train", "POST")
    page.goto(f"{studio.base}/train?project=sample")
    saves.arrived()
    beside = page.locator("[data-role=unsaved-beside]")
    expect(beside).to_have_text(
        "2 decisions of Label are not saved yet. A training waits for them."
    )
    start = page.get_by_role("button", name=re.compile("^(Ret|T)rain$"))
    start.click()
    expect(beside).to_contain_text("The training begins when they are")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("A training that begins now does not learn from them.")
    assert begun.routes == []
    dialog.get_by_role("button", name="Cancel").click()
    expect(start).to_be_enabled()
    assert begun.routes == []
    start.click()
    expect(beside).to_contain_text("The training begins when they are")
    saves.release()
    begun.arrived()
    expect(beside).to_be_empty()
    begun.routes.pop().fulfill(status=409, json={"message": "Not now.", "hint": ""})
    expect(start).to_be_enabled()


def test_decisions_of_another_tab_are_told_and_left_to_it(
    visit: Callable[..., Page], studio: Served
) -> None:
    page = visit(studio, "/label?project=sample&order=newest")
    page.wait_for_selector("[data-role=utterance]:not(:empty)")
    saves = hold(page, OPS, "POST")
    page.keyboard.press("s")
    saves.arrived()
    other = page.context.new_page()
    other.goto(f"{studio.base}/versions?project=sample")
    line = other.locator(UNSAVED)
    expect(line).to_have_text("1 decision of Label is not saved yet: waiting in another tab.")
    saves.release()
    expect(page.locator("[data-role=saved]")).to_have_text("all saved")
    expect(line).to_be_empty()
    other.close()


def renamed(studio: Served, name: str, to: str) -> None:
    """Rename a project as another person does."""
    headers = {"Authorization": f"Bearer {studio.token}", "Content-Type": "application/json"}
    path, body = f"{studio.base}/api/projects/{name}", json.dumps({"name": to}).encode()
    request = urllib.request.Request(path, body, headers, method="PATCH")
    with urllib.request.urlopen(request, timeout=60):
        pass


def decides_under_the_former_name(page: Page, studio: Served) -> None:
    """Skip the text on the card of the sample, which was renamed under the page."""
    page.wait_for_selector("[data-role=utterance]:not(:empty)")
    renamed(studio, "sample", "renamed")
    page.keyboard.press("s")
    state = page.locator("[data-role=saved]")
    expect(state).to_contain_text("1 decision not saved, kept here in this browser")
    told = page.locator(".toast.bad", has_text="There is no project 'sample'")
    expect(told.first).to_be_visible()
    assert kept(page) == 1


def test_decisions_of_a_project_that_was_renamed_are_saved_under_its_new_name(
    visit: Callable[..., Page], serve: Callable[..., Served]
) -> None:
    """“There is no project” stood there once for each label, and all of them were gone."""
    served = serve()
    page = visit(served, "/label?project=sample")
    decides_under_the_former_name(page, served)
    context = page.context
    page.close()
    other = context.new_page()
    other.goto(f"{served.base}/data?project=renamed")
    expect(other.locator(".toast", has_text="1 decision of Label saved.")).to_be_visible()
    expect(other.locator(UNSAVED)).to_be_empty()
    assert kept(other) == 0
    assert served.ask("/projects/renamed/overview")["counts"]["skipped"] == 1
    other.close()


def test_decisions_wait_while_another_project_has_the_name_of_theirs(
    visit: Callable[..., Page], serve: Callable[..., Served]
) -> None:
    """The other project has no such text, and the decision was told as a conflict and dropped."""
    served = serve()
    page = visit(served, "/label?project=sample")
    page.wait_for_selector("[data-role=utterance]:not(:empty)")
    renamed(served, "sample", "former")
    served.ask("/projects", {"name": "sample"})
    page.keyboard.press("s")
    state = page.locator("[data-role=saved]")
    expect(state).to_contain_text("1 decision not saved, kept here in this browser")
    assert kept(page) == 1
    context = page.context
    page.close()
    other = context.new_page()
    other.goto(f"{served.base}/data?project=former")
    expect(other.locator(".toast", has_text="1 decision of Label saved.")).to_be_visible()
    assert kept(other) == 0
    assert served.ask("/projects/former/overview")["counts"]["skipped"] == 1
    other.close()


def test_decisions_of_a_project_that_is_gone_can_be_dropped(
    visit: Callable[..., Page], serve: Callable[..., Served]
) -> None:
    served = serve()
    page = visit(served, "/label?project=sample")
    decides_under_the_former_name(page, served)
    page.get_by_role("button", name="Drop …").click()
    dialog = page.get_by_role("dialog", name="Drop 1 decision?")
    dialog.get_by_role("button", name="Drop", exact=True).click()
    expect(page.locator(".note.bad")).to_contain_text("There is no project 'sample'")
    assert kept(page) == 0
    assert served.ask("/projects/renamed/overview")["counts"]["skipped"] == 0


@pytest.mark.parametrize("when", ["at the start", "after a new intent"])
def test_intents_that_do_not_come_hold_up_no_decision(
    visit: Callable[..., Page], studio: Served, when: str
) -> None:
    """Label loaded its intents before it sent anything, and after each new one."""
    page = visit(studio, "/history?project=sample")
    if when == "at the start":
        left_behind(page, studio, 1)
        intents = hold(page, "**/projects/sample/overview")
        saves: Any = hold(page, OPS, "POST")
        page.goto(f"{studio.base}/label?project=sample")
        intents.arrived()
        saves.arrived()
        return
    page.goto(f"{studio.base}/label?project=sample&order=newest")
    page.wait_for_selector("[data-role=utterance]:not(:empty)")
    intents = hold(page, "**/projects/sample/overview")
    page.keyboard.press("/")
    page.keyboard.type(f"new {uuid4().hex}")
    page.keyboard.press("Enter")
    intents.arrived()
    saves = hold(page, OPS, "POST")
    page.keyboard.press("s")
    saves.arrived()
