"""Where labels wait for a training, no effect can be told: pages say so, and acts can be made."""

import re
from collections.abc import Callable
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from tests.builders.served_studio import Served
from tests.waiting import wait_until

LATER = "What this does to answers shows after the next training."
MADE = "[data-role=newest]:has(.good)"  # the newest act, once it is saved
TAKEN = "[data-role=newest]"
TEXT = "xylophone quartz 0 0 0"


@pytest.fixture(scope="module")
def waiting(twice: Served) -> Served:
    """The sample, answered by a version whose examples do not vote."""
    twice.ask("/projects/sample/models/2/promote", {})
    status = "/projects/sample/status"
    wait_until(lambda: twice.ask(status)["joins"] is False, "labels wait for a training")
    return twice


def test_an_intent_is_merged_and_brought_back(visit: Callable[..., Page], waiting: Served) -> None:
    """“Try again” stood in place of the counts, and the button stayed dim."""
    page = visit(waiting, "/review?project=sample&tab=reshape")
    form = page.get_by_role("region", name="Reshape intents")
    form.locator("select[data-key=intent]").select_option(label="no_internet")
    form.locator("select[data-key=how]").select_option("merge")
    form.locator("select[data-key=target]").select_option(label="slow_internet")
    expect(form.locator("[data-role=result]")).to_have_text(LATER)
    counts = re.compile(r"^Changes the label of \d+ texts, \d+ of them test texts\.")
    expect(form.locator("[data-role=touched]")).to_have_text(counts)
    expect(form.get_by_text("Not checked")).to_have_count(0)
    form.locator("button[data-key=do]").click()
    made = page.locator(MADE, has_text="Merge no_internet")
    expect(made).to_contain_text("Labels count from the next training on.")
    made.get_by_role("button", name="Undo").click()
    expect(page.locator(TAKEN, has_text="Taken back: Merge no_internet")).to_be_visible()


def relabelled(studio: Served) -> tuple[str, str, str]:
    """Return kind and id of a finding, and the words of a remedy of it that gives a label."""
    for kind in ("conflict", "label", "doubt"):
        for finding in studio.ask(f"/projects/sample/review?kind={kind}")["findings"]:
            for remedy in finding["remedies"]:
                repair = remedy["repair"] or {"kind": ""}
                if repair["kind"] == "relabel" and not remedy["asks"]:
                    return kind, finding["id"], remedy["words"]
    raise AssertionError("no finding offers a label")


def test_no_key_does_what_nobody_can_foretell(visit: Callable[..., Page], waiting: Served) -> None:
    """The key 1 relabelled a text at once, though nothing told what that does."""
    kind, id_, words = relabelled(waiting)
    page = visit(waiting, f"/review?project=sample&kind={kind}")
    page.locator(f'[data-role=findings] button[data-key="{id_}"]').click()
    told = "What a remedy does to answers shows after the next training: the examples of version 2"
    expect(page.get_by_text(f"{told} do not vote.")).to_have_count(1)
    remedy = page.locator(".remedy", has_text=words).first
    expect(remedy).to_contain_text("effect not known yet")
    key = remedy.locator("kbd")
    expect(key).to_be_hidden()
    page.keyboard.press(key.text_content() or "")
    expect(page.locator(".toast", has_text="No key does this")).to_be_visible()
    expect(page.locator(TAKEN)).to_be_hidden()
    remedy.click()
    expect(page.locator(MADE, has_text="Labelled “")).to_be_visible()
    page.keyboard.press("u")
    expect(page.locator(TAKEN, has_text="Taken back: Labelled “")).to_be_visible()


def test_an_example_can_be_added_on_review(visit: Callable[..., Page], waiting: Served) -> None:
    page = visit(waiting, "/review?project=sample&tab=add")
    sheet = page.get_by_role("region", name="Add an example")
    sheet.get_by_label("New example").fill(TEXT)
    sheet.locator("select[data-key=as]").select_option(label="roaming")
    expect(sheet.locator("[data-role=verdict]")).to_contain_text("effect not known yet")
    expect(sheet.locator("[data-role=collision]")).to_contain_text(LATER)
    sheet.get_by_role("button", name="Add it as roaming").click()
    expect(page.locator(MADE, has_text=f"Added “{TEXT}” as roaming.")).to_be_visible()
    page.locator(MADE).get_by_role("button", name="Undo").click()
    expect(page.locator(TAKEN, has_text="Taken back")).to_be_visible()


def test_an_example_added_on_try_is_said_to_wait(
    visit: Callable[..., Page], waiting: Served
) -> None:
    """“The answer stays” alone read as if the model had learned nothing from it."""
    page = visit(waiting, f"/try?project=sample&text={quote(TEXT)}")
    effect = page.locator("[data-role=answer] [data-role=effect]")
    page.get_by_label("Expected intent").select_option(label="roaming")
    page.get_by_role("button", name=re.compile("add as example$", re.IGNORECASE)).click()
    expect(effect).to_contain_text(f"Added “{TEXT}” as an example of roaming.")
    expect(effect).to_contain_text("It counts after the next training.")
    expect(effect.get_by_text("The answer stays")).to_have_count(0)
    effect.get_by_role("button", name="Undo").click()
    expect(effect).to_have_count(0)
