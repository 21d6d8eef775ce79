"""The list of groups on Discover shows what the server says of each group."""

import re
from collections.abc import Callable

from playwright.sync_api import Page, Route, expect

from tests.builders.served_studio import Served

_MERGES = """async () => {
  const {askTarget} = await import('/studio/js/discover/merging.js');
  const [card, other] = [1, 2].map(id => ({id, name: `group ${id}`, size: 1, state: 'open'}));
  askTarget(card, [], [card, other]);
}"""
"""Asks into which other group one of a single text is merged."""


def test_a_group_names_its_label_if_the_server_says_that_it_stands_for_it(
    visit: Callable[..., Page], studio: Served
) -> None:
    """The page had a rule of its own: three labels of fifty texts named nothing in the list."""
    [intent, *_] = studio.ask("/projects/sample/overview")["intents"]
    said = [
        {"label": intent["id"], "labelled": 3, "size": 50, "stands_for_label": True},
        {"label": intent["id"], "labelled": 2, "size": 1, "stands_for_label": False},
    ]

    def told(route: Route) -> None:
        found = route.fetch().json()
        cards = [card for card in found["groups"] if card["state"] == "open"][:2]
        groups = [{**card, **more} for card, more in zip(cards, said, strict=True)]
        route.fulfill(json={**found, "groups": groups})

    page = visit(studio, "/")
    page.route("**/projects/sample/groups", told)
    page.goto(f"{studio.base}/discover?project=sample")
    listed = page.locator("[data-role=groups] button[data-key^=group]")
    expect(listed).to_have_count(2)
    expect(listed.nth(0)).to_contain_text(intent["name"])
    expect(listed.nth(1)).not_to_contain_text(intent["name"])
    page.unroute_all(behavior="wait")


def test_groups_that_wait_for_a_training_are_said_to_wait(
    visit: Callable[..., Page], studio: Served
) -> None:
    """“Sort them in” stood there again for twelve minutes: the page knew of the training alone."""
    training = {"id": "0", "kind": "train", "state": "running", "progress": 0.4, "stage": "tuning"}
    told = {"job": {**training, "eta_seconds": 600.0, "slowed": False}, "queued": ["discover"]}

    def waits(route: Route) -> None:
        route.fulfill(json={**route.fetch().json(), **told})

    page = visit(studio, "/")
    page.route("**/projects/sample/status", waits)
    page.goto(f"{studio.base}/discover?project=sample")
    note = page.locator("[data-role=grouping]")
    expect(note).to_contain_text("Finding groups: waiting until the training is over")
    expect(page.get_by_role("button", name="Group anew…")).to_have_count(0)
    told |= {"queued": []}
    expect(page.get_by_role("button", name="Group anew…")).to_be_visible()
    page.unroute_all(behavior="wait")


def test_skipped_texts_are_not_said_to_have_a_label(
    visit: Callable[..., Page], studio: Served
) -> None:
    """“Every text has a label” stood there, and forty had been skipped."""

    def none(route: Route) -> None:
        route.fulfill(json={**route.fetch().json(), "groups": [], "waiting": 0})

    page = visit(studio, "/")
    page.route("**/projects/sample/groups", none)
    page.goto(f"{studio.base}/discover?project=sample")
    expect(page.get_by_role("heading", name="No text waits for a label")).to_be_visible()
    page.unroute_all(behavior="wait")


def test_groups_that_are_mostly_labelled_are_not_said_to_be_taken(
    visit: Callable[..., Page], studio: Served
) -> None:
    """“All are taken or for later” stood there, and then how many texts wait in three others."""

    def mostly(route: Route) -> None:
        found = route.fetch().json()
        groups = [{**card, "state": "mostly"} for card in found["groups"]]
        route.fulfill(json={**found, "groups": groups, "ungrouped": 0})

    page = visit(studio, "/")
    page.route("**/projects/sample/groups", mostly)
    page.goto(f"{studio.base}/discover?project=sample")
    note = page.locator("[data-role=grouping]")
    expect(note).to_contain_text("all are taken, for later or mostly labelled. In ")
    page.unroute_all(behavior="wait")


def shows(page: Page, studio: Served, answers: list[str], **more: object) -> None:
    """Open a group whose first typical texts the version in use answers so."""

    def answered(route: Route) -> None:
        found = route.fetch().json()
        said = zip(found["typical"], answers, strict=False)
        typical = [{**text, "answer": answer} for text, answer in said]
        route.fulfill(json={**found, "cohesion": 0.9, "typical": typical, **more})

    page.route(re.compile(r"/projects/sample/groups/\d+$"), answered)
    page.goto(f"{studio.base}/discover?project=sample")


def test_what_is_blue_goes_by_the_texts_that_are_still_ticked(
    visit: Callable[..., Page], studio: Served
) -> None:
    """The texts of an intent were unticked, and it was still offered for the others."""
    first, second, *_ = studio.ask("/projects/sample/overview")["intents"]
    page, ids = visit(studio, "/"), [first["id"], second["id"]]
    shows(page, studio, [ids[0]] * 3 + [ids[1]] * 2, intents=ids, same=ids[0])
    group = page.locator("[data-role=group]")
    rows, primary = group.locator("[data-role=typical] li"), group.locator(".deeds button.primary")
    expect(rows).to_have_count(5)
    expect(primary).to_contain_text(f"into “{first['name']}”")
    # “Put them into …” labelled 61 texts without saying so.
    counted = re.compile(rf"^Put [\d,]+ texts into {second['name']}")
    expect(group.locator("[data-key='act 2']")).to_have_text(counted)
    rows.first.get_by_role("checkbox").uncheck()
    expect(primary).to_contain_text("the new intent")  # two of four each: half is not most
    for at in (1, 2):
        rows.nth(at).get_by_role("checkbox").uncheck()
    expect(primary).to_contain_text(f"into “{second['name']}”")
    expect(primary.locator("kbd")).to_have_text("2 ↵")
    page.unroute_all(behavior="wait")


def test_a_group_that_is_answered_by_several_intents_says_so(
    visit: Callable[..., Page], studio: Served
) -> None:
    """Groups of two kinds looked like all others."""
    first, second, *_ = studio.ask("/projects/sample/overview")["intents"]
    page = visit(studio, "/")
    shows(page, studio, [first["id"], second["id"]] * 2, same="")
    told = page.locator("[data-role=group]").get_by_text("It may be of several kinds")
    expect(told).to_contain_text("2 intents")
    for intent in (first, second):
        expect(told).to_contain_text(intent["name"])
    page.unroute_all(behavior="wait")


def test_a_group_tells_how_many_of_its_texts_are_answered_already(
    visit: Callable[..., Page], studio: Served
) -> None:
    """Nothing told what the model covers of a group, unless it refused most of it."""
    first = studio.ask("/projects/sample/overview")["intents"][0]["id"]
    page, answers = visit(studio, "/"), [first, first, first, "", ""]
    shows(page, studio, answers, intents=[first], same=first, refused=2)
    group = page.locator("[data-role=group]")
    told = group.locator("[data-role=answered]")
    expect(told).to_have_text("The version in use answers 3 of 5 typical texts with an intent.")
    group.locator("[data-role=typical] li").first.get_by_role("checkbox").uncheck()
    expect(told).to_contain_text("answers 2 of 4 typical texts")  # those that are still ticked
    group.locator("[data-role=typical] li").nth(1).get_by_role("checkbox").uncheck()
    expect(group.locator("[data-role=refused]")).to_contain_text("only 1 of 3 typical texts")
    expect(told).to_have_count(0)
    page.unroute_all(behavior="wait")


def test_a_group_of_several_kinds_tells_once_how_many_are_answered(
    visit: Callable[..., Page], studio: Served
) -> None:
    first, second, *_ = [one["id"] for one in studio.ask("/projects/sample/overview")["intents"]]
    page, answers = visit(studio, "/"), [first, second, first, second, ""]
    shows(page, studio, answers, same="", refused=1)
    group = page.locator("[data-role=group]")
    expect(group).to_contain_text("answers 4 of its 5 typical texts with 2 intents")
    expect(group.locator("[data-role=answered]")).to_have_count(0)
    page.unroute_all(behavior="wait")


def test_texts_out_of_scope_are_counted_first_and_grouped_on_wish(
    visit: Callable[..., Page], studio: Served
) -> None:
    """What had once been put out of scope was in no group, and nothing offered to look at it."""

    def answered(route: Route) -> None:
        if route.request.method == "POST":
            route.fulfill(status=202, json={"job": "0"})
        else:
            route.fulfill(json={**route.fetch().json(), "out_of_scope": 1234})

    def counted(route: Route) -> None:
        found = route.fetch().json()
        route.fulfill(json={**found, "card": {**found["card"], "size": 9, "out_of_scope": 2}})

    page = visit(studio, "/")
    page.route("**/projects/sample/groups", answered)
    page.route(re.compile(r"/projects/sample/groups/\d+$"), counted)
    page.goto(f"{studio.base}/discover?project=sample")
    told = page.locator("[data-role=counts]")
    expect(told).to_contain_text("7 texts without a label · 2 texts labelled “out of scope”")
    page.get_by_role("button", name="Group anew…").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("There is no Undo: ")
    expect(dialog).to_contain_text("With more groups, each is more of one kind")  # not “purer”
    dialog.get_by_label("Also 1,234 texts labelled “out of scope”").check()
    with page.expect_request(
        lambda one: one.method == "POST" and one.url.endswith("/groups")
    ) as it:
        dialog.get_by_role("button", name="Group anew").click()
    assert it.value.post_data_json["out_of_scope"] is True
    # The usual number is that of the texts without a label alone: 3,000 others made one group.
    assert it.value.post_data_json["n_groups"] is None
    page.unroute_all(behavior="wait")


def test_labels_of_a_group_that_is_forgotten_by_now_are_taken_back_in_words(
    visit: Callable[..., Page], serve: Callable[..., Served]
) -> None:
    """They were taken back, and the page said: “This group is there no more. Nothing was changed.”

    All groups are forgotten when a text is erased.
    """
    served = serve()
    before = served.ask("/projects/sample/overview")["counts"]["labelled"]

    def alike(route: Route) -> None:  # else the press only shows the texts first
        route.fulfill(json={**route.fetch().json(), "cohesion": 1.0})

    page = visit(served, "/")
    page.route(re.compile(r"/projects/sample/groups/\d+$"), alike)
    page.goto(f"{served.base}/discover?project=sample")
    expect(page.locator("[data-role=typical] li").first).to_be_visible()
    page.locator("[data-key='act I']").click()
    newest = page.locator("[data-role=newest]")
    expect(newest.locator(".good")).to_be_visible()
    page.unroute_all(behavior="wait")
    assert served.ask("/projects/sample/overview")["counts"]["labelled"] > before
    [waiting] = served.ask("/projects/sample/utterances?state=unlabelled&size=1")["rows"]
    served.ask("/projects/sample/erase", {"texts": [waiting["text"]], "now": True})
    newest.get_by_role("button", name="Undo").click()
    expect(newest).to_contain_text("Taken back")
    assert served.ask("/projects/sample/overview")["counts"]["labelled"] == before


def test_one_new_text_and_a_group_of_one_text_are_told_as_one(
    visit: Callable[..., Page], studio: Served
) -> None:
    """“1 new text is in no group. Sort them in”, and “Its 1 text join another group”."""

    def told(route: Route) -> None:
        route.fulfill(json={**route.fetch().json(), "ungrouped": 1})

    page = visit(studio, "/")
    page.route("**/projects/sample/groups", told)
    page.goto(f"{studio.base}/discover?project=sample")
    expect(page.locator("[data-role=grouping]")).to_contain_text("1 new text is in no group.")
    expect(page.get_by_role("button", name="Sort it in")).to_be_visible()
    page.evaluate(_MERGES)
    expect(page.get_by_role("dialog")).to_contain_text("Its text joins another group")
    page.unroute_all(behavior="wait")
