"""What somebody else labels while a change is being chosen on Review is not overwritten."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

from playwright.sync_api import Locator, Page, expect

from tests.builders.held_answers import hold
from tests.builders.served_studio import Served

CHANGED = "A text was changed meanwhile."


def intents(studio: Served) -> dict[str, str]:
    found = studio.ask("/projects/sample/overview")["intents"]
    return {one["name"]: one["id"] for one in found}


def labelled(studio: Served, text: str, intent: str) -> None:
    """Label a text as another person does."""
    repair = {"kind": "add", "intents": [intents(studio)[intent]], "value": text}
    studio.ask("/projects/sample/review/act", {"key": uuid4().hex, "repair": repair})


def label_of(studio: Served, text: str) -> Any:
    [answer] = studio.ask("/projects/sample/predict", {"texts": [text]})
    [known] = answer["known"]
    return known["labels"]


def told(page: Page) -> Locator:
    return page.locator(".toast.bad", has_text=CHANGED)


def test_an_example_is_not_added_over_a_label_that_somebody_gave_meanwhile(
    visit: Callable[..., Page], studio: Served
) -> None:
    """It went by the labels beside the button, and the newer one was lost."""
    text = "xylophone quartz 4 4 4"
    labelled(studio, text, "roaming")
    page = visit(studio, "/review?project=sample&tab=add")
    page.get_by_label("New example").fill(text)
    page.get_by_label("An example of").select_option(label="lost_sim")
    own = page.locator("[data-role=collision] li", has_text=text)
    relabel = page.get_by_role("button", name="Relabel it as lost_sim")
    expect(own.locator(".chip")).to_have_text(["roaming"])
    hold(page, "**/sample/status")  # else the page would show the newer label
    labelled(studio, text, "wrong_charge")
    relabel.click()
    expect(told(page)).to_contain_text("Nothing was overwritten.")
    assert label_of(studio, text) == [intents(studio)["wrong_charge"]]
    expect(own.locator(".chip")).to_have_text(["wrong_charge"])
    relabel.click()
    expect(page.locator("[data-role=newest]:has(.good)")).to_contain_text("Relabelled")
    assert label_of(studio, text) == [intents(studio)["lost_sim"]]


def test_no_text_is_moved_that_somebody_labelled_meanwhile(
    visit: Callable[..., Page], studio: Served
) -> None:
    """Reshape moved what it had listed, and the newer label of a text was lost."""
    by = intents(studio)
    chosen = f"intent={by['no_internet']}&how=relabel&target={by['slow_internet']}"
    page = visit(studio, f"/review?project=sample&tab=reshape&{chosen}")
    form = page.get_by_role("region", name="Reshape intents")
    row = form.get_by_role("listitem").filter(has=page.get_by_role("checkbox")).first
    text = row.inner_text().strip()
    row.get_by_role("checkbox").check()
    hold(page, "**/sample/status")  # else the page would list the text no more
    labelled(studio, text, "roaming")
    form.get_by_role("button", name="Move 1 text to slow_internet").click()
    expect(told(page)).to_contain_text("Nothing was overwritten.")
    expect(form.get_by_text(text, exact=True)).to_have_count(0)
    assert label_of(studio, text) == [by["roaming"]]


def test_no_intents_are_merged_of_which_somebody_labelled_another_text_meanwhile(
    visit: Callable[..., Page], studio: Served
) -> None:
    """A merge told no revision, and took along labels that nobody had counted."""
    by, text = intents(studio), "xylophone quartz 5 5 5"
    labelled(studio, text, "roaming")
    chosen = f"intent={by['no_internet']}&how=merge&target={by['slow_internet']}"
    page = visit(studio, f"/review?project=sample&tab=reshape&{chosen}")
    merge = page.locator("button[data-key=do]")
    expect(merge).to_be_enabled()
    hold(page, "**/sample/status")  # else the page would count again
    labelled(studio, text, "no_internet")
    merge.click()
    expect(told(page)).to_contain_text("Nothing was overwritten.")
    assert label_of(studio, text) == [by["no_internet"]]
