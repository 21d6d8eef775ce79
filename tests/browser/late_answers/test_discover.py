"""The Discover page while groups are late: keys mean what is marked, and what is typed stays."""

from collections.abc import Callable

from playwright.sync_api import Locator, Page, Route, expect

from tests.builders.held_answers import hold, reroute, settle
from tests.builders.served_studio import Served, add_intent_elsewhere

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
    add_intent_elsewhere(studio)
    groups.arrived()
    groups.release()
    expect(finder).to_be_focused()
    page.keyboard.type("_usage")
    expect(finder).to_have_value("data_usage")
    page.keyboard.press("Escape")
    page.keyboard.press("n")
    page.keyboard.type("my own")
    add_intent_elsewhere(studio)
    groups.arrived()
    groups.release()
    page.keyboard.type(" name")
    expect(name).to_have_value("my own name")


def test_an_unticked_text_that_somebody_labels_is_no_longer_left_out(
    visit: Callable[..., Page], studio: Served
) -> None:
    """It was gone from the list, and still counted: every take of the group was refused."""
    page, _ = discover(visit, studio)
    counts = page.locator("[data-role=counts]")
    whole = int(counts.inner_text().split(" text", 1)[0])
    boxes = page.locator("[data-role=typical] input")
    key = str(boxes.first.get_attribute("data-key")).removeprefix("text ")
    everything = page.get_by_role("button", name="All", exact=True)
    if everything.count():
        everything.click()
    create = page.get_by_role("button", name="new intent")
    expect(create).to_contain_text(f"{whole} texts")
    boxes.first.uncheck()
    expect(create).to_contain_text(f"{whole - 1} texts")
    intent = studio.ask("/projects/sample/overview")["intents"][0]["id"]
    label = {"filter": {"ids": [key]}, "kind": "label", "value": intent, "expected": 1}
    assert studio.ask("/projects/sample/edits", label)["changed"] == 1
    expect(counts).to_contain_text(f"{whole - 1} texts")
    expect(page.locator(f"[data-key='text {key}']")).to_have_count(0)
    expect(create).to_contain_text(f"{whole - 1} texts")
    boxes.first.uncheck()
    expect(create).to_contain_text(f"{whole - 2} texts")
    studio.ask("/projects/sample/undo", {})  # as others of this module find it


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
    add_intent_elsewhere(studio)
    groups.arrived()
    groups.release()
    texts.let_through(lambda: every.count() == 0)
    rows = page.locator("[data-role=typical] li")
    expect(rows).to_have_count(n)
    # A label of somebody else cut the list again, each time.
    add_intent_elsewhere(studio)
    groups.arrived()
    groups.release()
    texts.arrived()
    expect(rows).to_have_count(n)
    texts.release()
    expect(rows).to_have_count(n)


def test_after_an_undo_the_act_before_it_is_not_told_as_just_done(
    visit: Callable[..., Page], studio: Served
) -> None:
    """U took back the second act, and the first one stood there with a green tick."""
    page, name = discover(visit, studio)
    newest = page.locator("[data-role=newest]")
    marked = page.locator("[data-role=groups] button[aria-pressed=true] .what")
    groups = []
    for _ in range(2):
        groups.append(marked.inner_text())
        page.keyboard.press("l")
        expect(newest.locator(".good")).to_be_visible()
        expect(newest).to_contain_text(f"Later: “{groups[-1]}”")
        expect(marked).not_to_have_text(groups[-1])
        expect(name).to_have_value(marked.inner_text().replace(" ", "_"))
    for group, more in ((groups[1], True), (groups[0], False)):
        page.keyboard.press("u")
        expect(newest).to_contain_text(f"Taken back: Later: “{group}”")
        expect(newest.locator(".good")).to_have_count(0)
        before = newest.get_by_role("button", name="Undo the one before")
        expect(before).to_have_count(1 if more else 0)
        expect(marked).to_have_text(group)


def test_enter_takes_the_name_that_was_typed_and_enter_does_what_is_blue(
    visit: Callable[..., Page], studio: Served
) -> None:
    """Enter twice after a name did nothing, and I made an intent beside the one in blue."""

    def alike(route: Route) -> None:
        if route.request.method == "GET":
            found = {"cohesion": 1.0, "same": "", "intents": [], "refused": 0}
            route.fulfill(json={**route.fetch().json(), **found})
        else:
            route.fallback()

    page, name = discover(visit, studio)
    first = name.input_value()
    reroute(page, GROUP, alike)
    page.keyboard.press("j")
    expect(name).not_to_have_value(first)  # keys that come before the next group do nothing
    blue = page.locator(".deeds button.primary")
    expect(blue).to_contain_text("↵")
    takes = hold(page, "**/groups/*/take", "POST")
    renames = hold(page, GROUP, "PATCH")
    page.keyboard.press("n")
    page.keyboard.type("typed_fast")
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    renames.arrived()
    renames.release()
    takes.arrived()
    assert takes.routes[0].request.post_data_json["create"] == "typed_fast"
    takes.routes.pop().fulfill(status=409, json={"message": "Not now.", "hint": ""})
    expect(page.locator(".toast", has_text="Not now.")).to_be_visible()
    expect(name).to_have_value("typed_fast")


def test_enter_puts_a_group_into_the_intent_that_is_blue_and_i_makes_another(
    visit: Callable[..., Page], studio: Served
) -> None:
    intent = studio.ask("/projects/sample/overview")["intents"][0]

    def known(route: Route) -> None:
        found = {"cohesion": 1.0, "same": intent["id"], "intents": [intent["id"]]}
        route.fulfill(json={**route.fetch().json(), **found})

    page, _ = discover(visit, studio)
    reroute(page, GROUP, known)
    page.keyboard.press("j")
    blue, other = page.locator(".deeds button.primary"), page.locator("[data-key='act I']")
    expect(blue).to_contain_text(f"into “{intent['name']}”1 ↵")
    expect(other).to_contain_text("the new intent “")
    takes = hold(page, "**/groups/*/take", "POST")
    for key, sent in (("Enter", "intent"), ("i", "create")):
        page.keyboard.press(key)
        takes.arrived()
        given = takes.routes.pop()
        assert given.request.post_data_json[sent]
        with page.expect_response(GROUP):
            given.fulfill(status=409, json={"message": "Not now.", "hint": ""})
        settle(page)


def test_the_name_of_an_intent_that_does_not_fit_is_not_blue(
    visit: Callable[..., Page], studio: Served
) -> None:
    """“Put 30 texts into lost_card” stood in blue for broken cards, which two words named so."""
    intent = studio.ask("/projects/sample/overview")["intents"][0]

    def named(route: Route) -> None:
        if route.request.method != "GET":
            route.fallback()
            return
        found = route.fetch().json()
        card = {**found["card"], "name": intent["name"]}
        alone = {"same": "", "intents": [], "refused": 0}
        route.fulfill(json={**found, "card": card, "cohesion": 1.0, **alone})

    page, _ = discover(visit, studio)
    reroute(page, GROUP, named)
    page.keyboard.press("j")
    offered = page.locator("[data-key='act I']")
    expect(offered).to_contain_text(f"into “{intent['name']}”")
    expect(page.locator(".deeds .primary")).to_have_count(0)
    page.keyboard.press("Enter")
    told = page.locator(".toast", has_text="No intent is proposed for this group.")
    expect(told).to_contain_text("and then I.")  # without it no intent was made
    page.keyboard.press("n")
    page.keyboard.type("card_broken")
    expect(page.locator(".deeds .primary")).to_contain_text("the new intent “card_broken”")


def test_a_group_that_the_version_in_use_refuses_is_for_a_person_to_decide(
    visit: Callable[..., Page], studio: Served
) -> None:
    """“sing something” and “does god exist” were to become an intent, in blue and by Enter."""

    def refused(route: Route) -> None:
        found = route.fetch().json()
        alone = {"same": "", "refused": len(found["typical"])}
        route.fulfill(json={**found, "cohesion": 1.0, **alone})

    page, _ = discover(visit, studio)
    reroute(page, GROUP, refused)
    page.keyboard.press("j")
    asked = "answers none of these with an intent: a new intent, or out of scope?"
    expect(page.locator(".deeds [data-role=refused]")).to_contain_text(asked)
    expect(page.locator(".deeds .primary")).to_have_count(0)
    takes = hold(page, "**/groups/*/take", "POST")
    page.keyboard.press("Enter")
    expect(page.locator(".toast", has_text="Press I for a new intent, or O")).to_be_visible()
    assert takes.routes == []
    page.keyboard.press("i")
    takes.arrived()
    assert takes.routes[0].request.post_data_json["create"]
    takes.routes.pop().fulfill(status=409, json={"message": "Not now.", "hint": ""})
    expect(page.locator(".toast", has_text="Not now.")).to_be_visible()
    page.keyboard.press("n")
    page.keyboard.type("small_talk")  # who names it has chosen
    expect(page.locator(".deeds .primary")).to_contain_text("the new intent “small_talk”")
