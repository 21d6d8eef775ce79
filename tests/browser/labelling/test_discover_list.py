"""The list of groups on Discover shows what the server says of each group."""

from collections.abc import Callable

from playwright.sync_api import Page, Route, expect

from tests.builders.served_studio import Served


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
