"""The Label page says of which intents the designer can stop labelling, and why."""

from collections.abc import Callable

from playwright.sync_api import Page, expect

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
    expect(legend).to_contain_text("“enough”: you can stop labelling this intent. The model knew")
    # Of two intents with as many labels, one had the word and the other had not.
    expect(legend).to_contain_text("the number of labels does not matter")
    expect(legend).to_contain_text("Labels of other intents still teach the model.")
    # “What each intent means” listed counts alone.
    expect(guidelines).to_contain_text("Open one for its description and examples.")
    entry = guidelines.locator("details").filter(has=page.locator(".badge")).first
    entry.locator("summary").click()
    expect(entry.locator("[data-role=enough]")).to_contain_text(
        "You can stop labelling it: the model knew"
    )
