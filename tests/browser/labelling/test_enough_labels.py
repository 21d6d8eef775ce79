"""The Label page says of which intents the designer can stop labelling, and why."""

from collections.abc import Callable

from playwright.sync_api import Page, Route, expect

from tests.builders.served_studio import Served


def test_guidelines_say_which_intents_have_enough_labels(
    visit: Callable[..., Page], studio: Served
) -> None:
    page = visit(studio, "/label?project=sample")
    guidelines = page.get_by_role("region", name="What each intent means")
    badges = guidelines.locator(".badge", has_text="enough")
    expect(badges.first).to_be_visible()
    told = {one["intent"]: one for one in studio.ask("/projects/sample/enough")["intents"]}
    enough = [one for one in told.values() if one["is_enough"]]
    assert 0 < len(enough) < len(told)
    expect(badges).to_have_count(len(enough))
    # The word stood beside some intents, and nothing said what the others are.
    legend = guidelines.locator("[data-role=legend]")
    expect(legend).to_contain_text("“enough”: you can stop labelling this intent. By all other")
    # Of two intents with as many labels, one had the word and the other had not.
    expect(legend).to_contain_text("the number of labels does not matter")
    expect(legend).to_contain_text("Labels of other intents still teach the model.")
    # “What each intent means” listed counts alone.
    expect(guidelines).to_contain_text("Open one for its description and examples.")
    entry = guidelines.locator("details").filter(has=page.locator(".badge")).first
    entry.locator("summary").click()
    expect(entry.locator("[data-role=enough]")).to_contain_text(
        "You can stop labelling it: by all other labels the model finds it for"
    )


def test_the_card_says_that_the_intent_it_suggests_has_enough_labels(
    visit: Callable[..., Page], studio: Served
) -> None:
    """The guidelines alone told it, beside a card that went on asking for such labels."""
    first, second, *_ = studio.ask("/projects/sample/overview")["intents"]
    reason = "You can stop labelling it: the model finds it for all of its last 15 texts."
    enough = {"intent": first["id"], "judged": 15, "known": 15, "is_enough": True, "reason": reason}
    suggested = {"intent_id": first["id"], "intent": first["name"]}

    def queue(route: Route) -> None:
        found = route.fetch().json()
        certain = {"probability": 0.97, "marked": True, **suggested}
        alike = {"out_of_scope": False, "split": "train", "suggestions": [certain]}
        route.fulfill(json={**found, "items": [{**one, **alike} for one in found["items"]]})

    page = visit(studio, "/")
    judged = {"ready": True, "intents": [enough]}
    page.route("**/projects/sample/enough", lambda route: route.fulfill(json=judged))
    page.route("**/projects/sample/queue?*", queue)
    page.goto(f"{studio.base}/label?project=sample")
    card = page.get_by_role("region", name="Text to label")
    told = card.locator("[data-role=enough-labels]")
    expect(told).to_have_text(
        f"Enough labels of {first['name']}: a label of another intent helps more."
    )
    expect(told).to_have_attribute("title", reason)
    suggested |= {"intent_id": second["id"], "intent": second["name"]}
    page.reload()
    expect(card.locator(".option .chip").first).to_have_text(second["name"])
    guidelines = page.get_by_role("region", name="What each intent means")
    expect(guidelines.locator(".badge", has_text="enough")).to_be_visible()
    expect(told).to_have_count(0)
    page.unroute_all(behavior="wait")
