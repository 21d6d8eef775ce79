"""Train, Versions and the map while answers are late: nothing starts twice or is forgotten."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, Request, Route, expect

from tests.builders.held_answers import hold, reroute, settle
from tests.builders.served_studio import Served

STATUS = "**/projects/sample/status"


def test_an_older_list_of_trainings_does_not_hide_the_one_just_started(
    visit: Callable[..., Page], twice: Served
) -> None:
    """It came behind the newer one, and Retrain could be pressed while the training ran."""
    [*_, first] = twice.ask("/projects/sample/jobs")
    running = {**first, "id": "new", "state": "running", "finished_at": None, "result": {}}
    page = visit(twice, "/train?project=sample")
    start = page.get_by_role("button", name="Retrain")
    expect(start).to_be_enabled()

    def told(route: Route) -> None:
        route.fulfill(json={**route.fetch().json(), "job": {**running, "progress": 0.1}})

    jobs = hold(page, "**/projects/sample/jobs*")
    reroute(page, STATUS, told)
    jobs.arrived()  # the header told of a training
    older = jobs.answered()
    begun = hold(page, "**/projects/sample/train", "POST")
    start.click()
    begun.arrived()
    begun.routes.pop().fulfill(status=202, json={"job": "new"})
    jobs.arrived()
    jobs.routes.pop().fulfill(json=[running, first])
    expect(page.get_by_role("button", name="Training …")).to_be_disabled()
    older()
    expect(page.get_by_role("button", name="Training …")).to_be_disabled()
    expect(page.locator("[data-role=job-state]")).to_have_text("running")
    page.unroute_all(behavior="wait")


def test_no_second_training_is_started_while_the_first_is_on_its_way(
    visit: Callable[..., Page], twice: Served
) -> None:
    """A label came from elsewhere, and the button was there to be pressed again."""
    row = twice.ask("/projects/sample/utterances?state=unlabelled&size=1")["rows"][0]
    page = visit(twice, "/train?project=sample")
    start = page.get_by_role("button", name="Retrain")
    expect(start).to_be_enabled()
    begun = hold(page, "**/projects/sample/train", "POST")
    start.click()
    begun.arrived()
    edit = {"filter": {"ids": [row["id"]]}, "kind": "flag", "value": "", "expected": 1}
    with page.expect_response("**/estimate"):
        twice.ask("/projects/sample/edits", edit)
    settle(page)
    assert start.is_disabled()
    begun.routes.pop().fulfill(status=409, json={"message": "Not now.", "hint": ""})
    expect(start).to_be_enabled()


def test_a_tick_is_kept_before_the_ways_to_train_are_known(
    visit: Callable[..., Page], twice: Served
) -> None:
    """The page looked at the chosen way, had none yet, and never sent the tick."""
    page = visit(twice, "/")
    choices = hold(page, "**/projects/sample/training-choices")
    page.goto(f"{twice.base}/train?project=sample")
    choices.arrived()
    box = page.get_by_label("unless it answers worse")
    was = box.is_checked()
    with page.expect_response(lambda answer: answer.request.method == "PATCH") as saved:
        box.set_checked(not was)
    assert saved.value.ok
    assert twice.ask("/projects/sample/status")["auto_promote"] is not was
    choices.answered()()
    expect(page.get_by_role("button", name="Retrain")).to_be_enabled()
    with page.expect_response(lambda answer: answer.request.method == "PATCH"):
        box.set_checked(was)


def test_a_tick_that_could_not_be_stored_is_taken_back(
    visit: Callable[..., Page], twice: Served
) -> None:
    """The page went on telling that the new version takes over by itself, and it waited."""
    page = visit(twice, "/train?project=sample")
    box = page.get_by_label("unless it answers worse")
    outlook = page.locator("[data-role=outlook]")
    expect(page.get_by_role("button", name="Retrain")).to_be_enabled()
    was, told = box.is_checked(), outlook.inner_text()
    saves = hold(page, "**/api/**/projects/sample", "PATCH")
    box.set_checked(not was)
    saves.arrived()
    expect(outlook).not_to_have_text(told)
    saves.routes.pop().fulfill(status=503, json={"message": "The disk is full.", "hint": ""})
    expect(page.locator(".toast.bad")).to_contain_text("The disk is full.")
    expect(box).to_be_checked(checked=was)
    expect(outlook).to_have_text(told)


def test_what_cannot_be_trained_stays_so_with_the_next_status(
    visit: Callable[..., Page], twice: Served
) -> None:
    """Retrain could be pressed again four seconds after its settings had been refused."""
    page = visit(twice)
    refused = {"message": "Too few examples.", "hint": ""}
    answer = "**/projects/sample/estimate"
    reroute(page, answer, lambda route: route.fulfill(status=422, json=refused))
    page.goto(f"{twice.base}/train?project=sample")
    expect(page.locator("[data-role=estimate]")).to_contain_text("Too few examples.")
    for _ in range(2):
        page.wait_for_event("requestfinished", lambda done: done.url.endswith("/status"))
    settle(page)
    assert page.get_by_role("button", name="Retrain").is_disabled()


def test_versions_lists_what_was_decided_elsewhere(
    visit: Callable[..., Page], twice_home: Path, serve_copy: Callable[[Path], Served]
) -> None:
    """The list stayed as it was when another tab used a version, or a training ended."""
    served = serve_copy(twice_home)
    page = visit(served, "/versions?project=sample")
    states = page.locator("[data-role=models] [data-role=state]")
    expect(states).to_have_text([re.compile("Waits for you"), re.compile("Live")])
    failures = [{"message": "Not now.", "hint": ""}]

    def fail_once(route: Route) -> None:
        if failures:
            route.fulfill(status=503, json=failures.pop())
        else:
            route.fallback()

    reroute(page, "**/projects/sample/versions", fail_once)
    served.ask("/projects/sample/models/2/promote", {})
    expect(states).to_have_text([re.compile("Live"), re.compile("Was live")])
    assert failures == []


def test_a_file_that_was_refused_can_be_chosen_again(
    visit: Callable[..., Page], twice: Served, tmp_path: Path
) -> None:
    """The browser tells of no second choice of one file, and nothing happened."""
    (tmp_path / "broken.zip").write_bytes(b"no zip")
    page = visit(twice, "/versions?project=sample")
    box = page.get_by_label("File of the version to import")
    box.set_input_files(tmp_path / "broken.zip")
    expect(page.locator(".toast.bad")).to_be_visible()
    expect(box).to_have_value("")


def test_a_state_of_before_does_not_end_the_wait_for_a_clearer_map(
    visit: Callable[..., Page], studio: Served
) -> None:
    """It knew no job yet: “could not be made” stood there, and the finished map was not offered."""
    done = False

    def as_sketch(route: Route) -> None:
        url = route.request.url if done else route.request.url.replace("=auto", "=pca")
        route.fulfill(response=route.fetch(url=url))

    def laying_out(route: Route) -> None:
        found: dict[str, Any] = route.fetch().json()
        job = {"id": "j", "kind": "layout", "state": "running", "progress": 0.4, "stage": ""}
        route.fulfill(json={**found, "job": None if done else {**job, "eta_seconds": None}})

    page = visit(studio)
    maps: list[Request] = []
    page.on("request", lambda one: "/sample/map?" in one.url and maps.append(one))
    page.route("**/projects/sample/map?*", as_sketch)
    layouts = hold(page, "**/map/layout", "POST")
    page.goto(f"{studio.base}/map?project=sample")
    layouts.arrived()
    for _ in range(2):
        page.wait_for_event("requestfinished", lambda one: one.url.endswith("/status"))
    settle(page)
    assert len(maps) == 1
    note = page.locator("[data-role=layout]")
    expect(note).to_contain_text("The clearer map is on its way")
    reroute(page, STATUS, laying_out)
    layouts.routes.pop().fulfill(status=202, json={"job": "j"})
    expect(note).to_contain_text("on its way")
    done = True
    expect(page.locator("[data-role=map-offer]")).to_contain_text("A clearer map is ready.")
    page.unroute_all(behavior="wait")
