"""The Discover page while groups are late: keys mean what is marked, and what is typed stays."""

from collections.abc import Callable
from uuid import uuid4

from playwright.sync_api import Locator, Page, Route, expect

from tests.builders.held_answers import hold, reroute, settle
from tests.builders.served_studio import Served

GROUP = "**/projects/sample/groups/*"


def discover(visit: Callable[..., Page], studio: Served) -> tuple[Page, Locator]:
    """Open the page, and wait for its first group; return the field with its name, too."""
    page = visit(studio, "/discover?project=sample")
    expect(page.locator("[data-role=typical] li").first).to_be_visible()
    return page, page.get_by_role("textbox", name="Name of the group")


def test_what_is_typed_outlives_a_group_drawn_anew(
    visit: Callable[..., Page], studio: Served
) -> None:
    """The field lost the focus, and the letters to come split and merged the group."""
    page, name = discover(visit, studio)
    finder = page.get_by_role("combobox", name="Another intent")
    page.keyboard.press("/")
    page.keyboard.type("data")
    groups = hold(page, GROUP)
    somebody_else(studio)
    groups.arrived()
    groups.release()
    expect(finder).to_be_focused()
    page.keyboard.type("_usage")
    expect(finder).to_have_value("data_usage")
    page.keyboard.press("Escape")
    page.keyboard.press("n")
    page.keyboard.type("my own")
    somebody_else(studio)
    groups.arrived()
    groups.release()
    page.keyboard.type(" name")
    expect(name).to_have_value("my own name")


def test_a_key_does_not_take_the_group_before_the_one_that_is_marked(
    visit: Callable[..., Page], studio: Served
) -> None:
    """J marked the next group, and I took the one before, which was still shown."""

    def alike(route: Route) -> None:  # else I only shows the texts first
        route.fulfill(json={**route.fetch().json(), "cohesion": 1.0})

    page, _ = discover(visit, studio)
    reroute(page, GROUP, alike)
    groups, takes = hold(page, GROUP), hold(page, "**/groups/*/take", "POST")
    page.keyboard.press("j")
    groups.arrived()
    page.keyboard.press("i")
    told = page.locator(".toast", has_text="1 press came before the next group")
    expect(told).to_be_visible()
    assert takes.routes == []
    told.get_by_role("button", name="Close this message").click()
    groups.release()
    marked = page.locator("[data-role=groups] button[aria-pressed=true]")
    number = str(marked.get_attribute("data-key")).removeprefix("group ")
    page.keyboard.press("i")
    takes.arrived()
    assert takes.routes[0].request.url.endswith(f"/groups/{number}/take")
    page.keyboard.press("l")  # while it is saved
    expect(told).to_be_visible()
    takes.routes.pop().fulfill(status=409, json={"message": "Not now.", "hint": ""})
    groups.arrived()
    groups.release()
    expect(page.locator(".toast", has_text="Not now.")).to_be_visible()


def test_an_older_answer_about_one_group_is_not_shown(
    visit: Callable[..., Page], studio: Served
) -> None:
    """A group was asked for twice, and the older answer came last, with the name of before."""
    page, name = discover(visit, studio)
    marked = page.locator("[data-role=groups] button[aria-pressed=true]")
    number = str(marked.get_attribute("data-key")).removeprefix("group ")
    groups = hold(page, GROUP)
    marked.click()
    groups.arrived()
    older = groups.answered()
    page.request.patch(
        f"{studio.base}/api/projects/sample/groups/{number}",
        data={"name": "another name"},
        headers={"Authorization": f"Bearer {studio.token}"},
    )
    marked.click()
    groups.arrived()
    groups.release()
    expect(name).to_have_value("another_name")  # as the project writes its names
    older()
    expect(name).to_have_value("another_name")


def test_a_state_of_before_does_not_end_the_search_for_groups(
    visit: Callable[..., Page], studio: Served
) -> None:
    """It knew no job yet, and the page said that the groups of before were found."""
    page, _ = discover(visit, studio)
    note = page.locator("[data-role=grouping]")
    begun = hold(page, "**/projects/sample/groups", "POST")
    lists = hold(page, "**/projects/sample/groups")
    states = hold(page, "**/projects/sample/status")
    states.arrived()
    note.get_by_role("button", name="Group anew").click()
    lists.arrived()  # the dialog tells what goes
    lists.release()
    page.get_by_role("dialog").get_by_role("button", name="Group anew").click()
    begun.arrived()
    begun.routes.pop().fulfill(status=202, json={"job": "j"})
    states.arrived(2)
    expect(note).to_contain_text("Finding groups")
    states.release(0)
    settle(page)
    assert lists.routes == []
    expect(note).to_contain_text("Finding groups")


def somebody_else(studio: Served) -> None:
    """Change the project from elsewhere: a new intent."""
    studio.ask("/projects/sample/intents", {"name": f"new {uuid4().hex}"})


def test_texts_that_were_asked_for_come_though_the_group_is_drawn_anew(
    visit: Callable[..., Page], studio: Served
) -> None:
    """Somebody's label between press and answer left the list cut, and the message told of more."""

    def cut(route: Route) -> None:
        found = route.fetch().json()
        route.fulfill(json={**found, "typical": found["typical"][:2]})

    page, _ = discover(visit, studio)
    every = page.get_by_role("button", name="Show all")
    reroute(page, GROUP, cut)
    page.keyboard.press("j")
    expect(every).to_be_visible()
    n = int(page.locator("[data-key='act I']").inner_text().split()[1])
    texts, groups = hold(page, "**/groups/*/texts*"), hold(page, GROUP)
    every.click()
    texts.arrived()
    somebody_else(studio)
    groups.arrived()
    groups.release()
    texts.let_through(lambda: every.count() == 0)
    rows = page.locator("[data-role=typical] li")
    expect(rows).to_have_count(n)
    # A label of somebody else cut the list again, each time.
    somebody_else(studio)
    groups.arrived()
    groups.release()
    texts.arrived()
    expect(rows).to_have_count(n)
    texts.release()
    expect(rows).to_have_count(n)
