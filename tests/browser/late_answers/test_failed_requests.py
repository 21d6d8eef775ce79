"""Requests that fail: the page says so where the answer would stand, and asks again."""

import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.late_answers.spot_check import judge_twenty, open_spot_check
from tests.builders.conversation_logs import write_log
from tests.builders.held_answers import hold, reroute, settle
from tests.builders.served_studio import Served

BROKEN = {"message": "The disk is full.", "hint": ""}
FAILED = "[data-role=failed]"


@pytest.mark.parametrize(
    ("path", "asks"),
    [
        ("review?project=sample", "**/projects/sample/review?*"),
        ("review?project=sample&tab=border", "**/projects/sample/review/border?*"),
        ("review?project=sample&tab=fence", "**/fence/what-if"),
        ("review?project=sample&tab=pins", "**/pins/history"),
        ("discover?project=sample", "**/projects/sample/groups"),
        ("discover?project=sample&tab=traffic", "**/projects/sample/traffic?*"),
        ("slots?project=sample", "**/projects/sample/slots?*"),
        ("data?project=sample", "**/projects/sample/overview"),
        ("data?project=sample", "**/projects/sample/utterances?*"),
        ("label?project=sample", "**/projects/sample/queue?*"),
        ("versions?project=sample", "**/projects/sample/versions"),
        ("label?project=sample", "**/projects/sample/status"),
        ("", "**/api/projects"),
    ],
)
def test_what_could_not_be_read_is_asked_for_again(
    visit: Callable[..., Page], studio: Served, path: str, asks: str
) -> None:
    """“Comparing your examples” stood there for ever, or nothing at all."""
    page = visit(studio)
    broken = fails(page, asks)
    page.goto(f"{studio.base}/{path}")
    expect(page.locator(FAILED)).to_contain_text("The disk is full.")
    again = page.get_by_role("button", name="Try again")
    again.click()
    expect(again).to_be_visible()
    broken.clear()
    again.evaluate_all("all => all.forEach(one => one.click())")  # some pages ask by themselves
    expect(page.locator(FAILED)).to_have_count(0)
    expect(page.locator("[data-role=skeleton], [data-role=comparing]")).to_have_count(0)


@pytest.mark.parametrize(
    ("path", "asks", "counting"),
    [
        ("discover?project=sample&tab=traffic", "**/projects/sample/traffic?*", {"counting": True}),
        ("review?project=sample", "**/projects/sample/review?*", {"recounted": 1}),
        ("review?project=sample&tab=border", "**/review/border?*", {"counting": True}),
    ],
)
def test_what_is_still_counted_is_asked_for_again_after_failures(
    visit: Callable[..., Page], talked: Served, path: str, asks: str, counting: dict[str, Any]
) -> None:
    """One request in vain was the last: the page said for ever that it is being counted."""
    answers: list[dict[str, Any]] = [counting, {}, {}]  # of the first request, and two failures
    whole: list[Route] = []

    def answer(route: Route) -> None:
        if not answers:
            whole.append(route)
            route.fallback()
        elif more := answers.pop(0):
            route.fulfill(json={**route.fetch().json(), **more})
        else:
            route.fulfill(status=500, json=BROKEN)

    page = visit(talked)
    reroute(page, asks, answer)
    page.goto(f"{talked.base}/{path}")
    limit = time.monotonic() + 60
    while not whole:
        assert time.monotonic() < limit, f"it was not asked again: {answers}"
        page.wait_for_timeout(20)
    expect(page.locator(f"{FAILED}, [data-role=skeleton], [data-role=comparing]")).to_have_count(0)


def test_a_page_to_log_in_is_no_answer_of_the_studio(
    visit: Callable[..., Page], studio: Served
) -> None:
    """A proxy answered with 200 and its own page, and the studio's page broke on it."""
    page = visit(studio)
    asks, shown = "**/projects/sample/versions", "<html>Log in</html>"
    reroute(page, asks, lambda route: route.fulfill(content_type="text/html", body=shown))
    page.goto(f"{studio.base}/versions?project=sample")
    expect(page.locator(FAILED)).to_contain_text("answered in its place. Perhaps you have to log")


def test_rows_of_another_filter_that_do_not_come_leave_nothing_picked(
    visit: Callable[..., Page], studio: Served
) -> None:
    """“1 text picked” stood below rows of the filter before, and an act reached no text."""
    page = visit(studio, "/data?project=sample")
    rows = page.locator("[data-role=utterances] tr[data-id]")
    rows.first.get_by_role("checkbox").check()
    broken = fails(page, "**/projects/sample/utterances?*")
    page.get_by_label("State of the label", exact=True).select_option("unlabelled")
    expect(page.locator(FAILED)).to_contain_text("The disk is full.")
    expect(rows).to_have_count(0)
    expect(page.locator("[data-role=picked]")).to_be_hidden()
    broken.clear()
    page.get_by_role("button", name="Try again").click()
    expect(rows.first).to_contain_text("Add label")


def test_rows_that_do_not_come_are_not_passed_over(
    visit: Callable[..., Page], studio: Served
) -> None:
    """The next press went on from the page that had not come, and skipped it."""
    page = visit(studio, "/data?project=sample")
    total = page.locator("[data-role=total]")
    expect(total).to_contain_text("page 1 of")
    broken = fails(page, "**/projects/sample/utterances?*")
    following = page.get_by_role("button", name="Next", exact=True)
    following.click()
    expect(total).to_contain_text("The disk is full.")
    expect(page.locator("[data-role=utterances] tr[data-id]").first).to_be_visible()
    broken.clear()
    total.get_by_role("button", name="Try again").click()  # the message alone stood there
    expect(total).to_contain_text("page 1 of")
    following.click()
    expect(total).to_contain_text("page 2 of")


def test_acts_that_do_not_come_are_not_passed_over(
    visit: Callable[..., Page], studio: Served
) -> None:
    asked: list[str] = []

    def many(route: Route) -> None:
        asked.extend(re.findall(r"offset=(\d+)", route.request.url))
        route.fulfill(json={**route.fetch().json(), "total": 200})

    page = visit(studio)
    reroute(page, "**/projects/sample/acts?*", many)
    page.goto(f"{studio.base}/history?project=sample")
    older = page.get_by_role("button", name="Older")
    expect(older).to_be_enabled()
    broken = fails(page, "**/projects/sample/acts?*")
    older.click()
    expect(page.locator(".toast.bad", has_text="The disk is full.")).to_be_visible()
    broken.clear()
    older.click()
    expect(page.get_by_text("51 to 100 of 200 acts")).to_be_visible()
    assert asked == ["0", "50"]


def test_a_description_is_not_lost_where_the_name_is_taken(
    visit: Callable[..., Page], studio: Served
) -> None:
    """The dialog closed before the server answered, and what was typed went with it."""
    page = visit(studio, "/data?project=sample")
    intents = page.get_by_role("region", name="Intents")
    intents.get_by_role("button", name="New", exact=True).click()
    dialog = page.get_by_role("dialog", name="New intent")
    name = dialog.get_by_label("Name", exact=True)
    about = dialog.get_by_label("What belongs to it")
    name.fill("roaming")
    about.fill("Calls from abroad")
    dialog.get_by_role("button", name="Create").click()
    expect(dialog.locator(".toast.bad")).to_be_visible()
    expect(about).to_have_value("Calls from abroad")
    name.fill("calls from abroad")
    dialog.get_by_role("button", name="Create").click()
    expect(dialog).to_have_count(0)
    made = intents.get_by_role("button", name="calls from abroad")
    expect(made).to_have_attribute("title", "Calls from abroad")


def test_personal_data_that_could_not_be_counted_is_not_said_to_be_counted(
    visit: Callable[..., Page], studio: Served, tmp_path: Path
) -> None:
    """“Counting it in the whole file …” stood there for ever."""
    page = visit(studio, "/data?project=sample")
    page.get_by_role("link", name="Conversations").click()
    log = page.get_by_label("Log of conversations to import")
    log.set_input_files(write_log(tmp_path / "talks.jsonl", 1))
    mask = page.get_by_label("Mask e-mail")
    expect(mask).to_be_visible()
    fails(page, "**/waiting/*/personal")
    mask.uncheck()
    told = page.locator("[data-role=unmasked]")
    expect(told).to_have_text("Not masked: personal data is stored as it was said.")


def test_a_preview_that_fails_is_counted_again(visit: Callable[..., Page], studio: Served) -> None:
    """What was told of an earlier choice stayed there, and nothing could be done."""
    page = visit(studio, "/review?project=sample&tab=add")
    broken = fails(page, "**/review/what-if")
    page.get_by_label("An example of").select_option(index=1)
    page.get_by_label("New example").fill("my phone finds no net")
    expect(page.locator(FAILED)).to_contain_text("The disk is full.")
    broken.clear()
    page.get_by_role("button", name="Try again").click()
    expect(page.locator("[data-role=verdict]")).to_be_visible()


def test_an_example_that_is_refused_is_not_lost(visit: Callable[..., Page], studio: Served) -> None:
    """The field was emptied before it was saved, and stayed so."""
    page = visit(studio, "/review?project=sample&tab=add")
    page.get_by_label("An example of").select_option(index=1)
    box = page.get_by_label("New example")
    box.fill("my phone finds no net")
    fails(page, "**/review/act")
    page.locator("[data-key^='add ']").first.click()
    expect(page.locator(".toast.bad", has_text="The disk is full.")).to_be_visible()
    expect(box).to_have_value("my phone finds no net")
    expect(page.locator("[data-key^='add ']").first).to_be_enabled()


def test_an_act_without_an_answer_is_not_said_to_be_kept(
    visit: Callable[..., Page], studio: Served
) -> None:
    """“Your labels are kept here” stood there, and the example was lost."""
    page = visit(studio, "/review?project=sample&tab=add")
    page.get_by_label("An example of").select_option(index=1)
    page.get_by_label("New example").fill("my phone finds no net")
    reroute(page, "**/review/act", lambda route: route.abort())
    page.locator("[data-key^='add ']").first.click()
    told = page.locator(".toast.bad", has_text="The studio does not answer.")
    expect(told).to_contain_text("perhaps not saved: look, and do it again.")


def test_a_change_of_intents_that_is_refused_stays_chosen(
    visit: Callable[..., Page], studio: Served
) -> None:
    page = visit(studio, "/review?project=sample&tab=reshape")
    page.locator("select[data-key=intent]").select_option(index=1)
    page.locator("select[data-key=how]").select_option("rename")
    page.get_by_label("New name").fill("another name")
    fails(page, "**/review/act")
    page.get_by_role("button", name="Rename it another name").click()
    expect(page.locator(".toast.bad", has_text="The disk is full.")).to_be_visible()
    expect(page.get_by_role("button", name="Rename it another name")).to_be_enabled()
    expect(page.get_by_label("New name")).to_have_value("another name")


def test_a_spot_check_stays_open_until_its_labels_are_saved(
    visit: Callable[..., Page], studio: Served
) -> None:
    """It closed before the server answered, and a refusal cost twenty judgements."""
    page, check, verdict = open_spot_check(visit, studio)
    judge_twenty(page, check, wrong=2)
    expect(verdict).to_contain_text("2 of 20 wrong.")
    broken = fails(page, "**/sure/accept")
    saves = hold(page, "**/sure/accept", "POST")
    check.get_by_role("button", name="Accept").click()
    saves.arrived()
    first = saves.routes[0].request.post_data_json
    expect(check).to_contain_text(re.compile(r"Saving \d+ labels …"))
    saves.release()
    expect(check.locator(FAILED)).to_contain_text("The disk is full.")
    expect(verdict).to_contain_text("2 of 20 wrong.")
    again = check.get_by_role("button", name="Try again")
    expect(again).to_be_focused()
    expect(check.get_by_role("button", name="Back to the check")).to_be_visible()
    broken.clear()
    again.press("Enter")
    saves.arrived()
    assert saves.routes[0].request.post_data_json == first  # the same act: done once, if it was
    saves.release()
    expect(check).to_have_count(0)
    expect(page.locator(".toast", has_text="texts labelled as the model answers.")).to_be_visible()
    page.keyboard.press("u")
    expect(page.locator(".toast", has_text="Taken back.")).to_be_visible()


def test_a_conversation_that_could_not_be_read_is_asked_for_again(
    visit: Callable[..., Page], studio: Served, tmp_path: Path
) -> None:
    """The reader had asked once, and stayed empty however often it was opened."""
    page = visit(studio, "/data?project=sample")
    page.get_by_role("link", name="Conversations").click()
    file = write_log(tmp_path / "talks.jsonl", 1)
    page.get_by_label("Log of conversations to import").set_input_files(file)
    page.get_by_role("button", name="Import the log").click()
    expect(page.locator("[data-role=logs] > li")).to_have_count(1)
    broken = fails(page, "**/dialogues/*/conversations?*")
    page.get_by_text("Read the conversations").click()
    expect(page.locator(FAILED)).to_contain_text("The disk is full.")
    broken.clear()
    page.get_by_role("button", name="Try again").click()
    which = page.locator("[data-role=which]")
    expect(which).to_have_text("Conversation 1 of 6")
    broken = fails(page, "**/dialogues/*/conversations?*")
    following = page.locator("[data-role=dialogue]").get_by_role("button", name="Next")
    following.click()
    expect(page.locator(".toast.bad", has_text="The disk is full.").last).to_be_visible()
    expect(which).to_have_text("Conversation 1 of 6")
    broken.clear()
    following.click()
    expect(which).to_have_text("Conversation 2 of 6")


def test_the_answer_stands_though_its_place_among_the_examples_does_not_come(
    visit: Callable[..., Page], studio: Served
) -> None:
    """The answer went, and the error of the small map stood in its place."""
    page = visit(studio)
    fails(page, "**/projects/sample/examples*")
    with page.expect_response("**/projects/sample/examples*"):
        page.goto(f"{studio.base}/try?project=sample&text=no+signal")
    settle(page)
    answer = page.locator("[data-role=answer]")
    expect(answer.locator(".vote").first).to_be_visible()
    expect(answer).not_to_contain_text("The disk is full.")


def test_the_command_bar_asks_again_when_it_is_opened_again(
    visit: Callable[..., Page], studio: Served
) -> None:
    """Without one answer it found no intent and no project until the page was loaded anew."""
    page = visit(studio, "/try?project=sample")
    broken = fails(page, "**/projects/sample/overview")
    with page.expect_response("**/projects/sample/overview"):
        page.keyboard.press("Control+k")
    settle(page)
    page.keyboard.press("Escape")
    broken.clear()
    page.keyboard.press("Control+k")
    page.keyboard.type("data_usage")
    expect(page.locator(".command-bar [role=option]").first).to_contain_text("data_usage")


def test_the_command_bar_that_was_opened_anew_waits_for_the_failure_of_before(
    visit: Callable[..., Page], studio: Served
) -> None:
    """Opened before the other answer was there, it took the failed one for good."""
    page = visit(studio, "/try?project=sample")
    broken = fails(page, "**/projects/sample/overview")
    names = hold(page, "**/api/project-names")
    with page.expect_response("**/projects/sample/overview"):
        page.keyboard.press("Control+k")
    names.arrived()
    page.keyboard.press("Escape")
    broken.clear()
    page.keyboard.press("Control+k")
    page.keyboard.type("data_usage")
    names.release()
    names.arrived()
    names.release()
    expect(page.locator(".command-bar [role=option]").first).to_contain_text("data_usage")


def test_what_to_do_next_is_asked_for_again(visit: Callable[..., Page], studio: Served) -> None:
    page = visit(studio)
    broken = fails(page, "**/projects/sample/next")
    with page.expect_response("**/projects/sample/next"):
        page.goto(f"{studio.base}/data?project=sample")
    expect(page.locator("[data-role=next]")).to_have_count(0)
    broken.clear()
    expect(page.locator("[data-role=next]")).to_be_visible()


def test_what_to_do_next_follows_what_is_counted_meanwhile(
    visit: Callable[..., Page], studio: Served
) -> None:
    """Labels to check are counted while nothing else changes, and the line never told of them."""
    page = visit(studio)
    page.clock.install()
    page.goto(f"{studio.base}/data?project=sample")
    expect(page.locator("[data-role=next]")).to_be_visible()
    step = {"kind": "review", "action": "Check 3 labels", "reason": "", "page": "review"}
    reroute(
        page, "**/projects/sample/next", lambda route: route.fulfill(json={**step, "query": {}})
    )
    page.clock.fast_forward(31_000)
    expect(page.locator("[data-role=next]")).to_contain_text("Check 3 labels")


def fails(page: Page, asks: str) -> list[str]:
    """Let the server refuse what matches a pattern, until what this returns is cleared."""
    broken = [asks]

    def refuse(route: Route) -> None:
        if broken:
            route.fulfill(status=500, json=BROKEN)
        else:
            route.fallback()

    reroute(page, asks, refuse)
    return broken
