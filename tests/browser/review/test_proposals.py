"""What an agent proposed waits in Review; a person accepts it, takes that back, or declines it."""

import re
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Page, expect

from tests.builders.served_studio import Served

MADE = "[data-role=newest]:has(.good)"  # the newest act, once it is saved
_PATH = "/projects/sample/proposals"
_EXAMPLES = "/projects/sample/utterances?split=train&state=labelled&size=500"


def proposed(studio: Served) -> tuple[dict[str, Any], str]:
    """Propose a wrong label and a new example; return the text and the label's name."""
    intents = studio.ask("/projects/sample/overview")["intents"]
    names = {one["id"]: one["name"] for one in intents}
    text = studio.ask(_EXAMPLES)["rows"][0]
    other = next(one for one in intents if one["id"] not in text["labels"])
    label = {"kind": "relabel", "ids": [text["id"]], "intents": [other["id"]]}
    add = {"kind": "add", "value": "no bars in the attic", "intents": [intents[0]["id"]]}
    body = {
        "by": "Agent 7",
        "proposals": [
            {"repair": label, "why": "Similar texts say so."},
            {"repair": add, "why": "Nobody says attic."},
        ],
    }
    stored = studio.ask(_PATH, body)
    assert [one["state"] for one in stored] == ["waits", "waits"]
    return {**text, "name": names[text["labels"][0]]}, other["name"]


def label_of(studio: Served, text: dict[str, Any]) -> list[str]:
    [row] = [one for one in studio.ask(_EXAMPLES)["rows"] if one["id"] == text["id"]]
    labels: list[str] = row["labels"]
    return labels


def states(studio: Served) -> list[str]:
    return [one["state"] for one in studio.ask(_PATH)]


def test_a_proposal_is_accepted_taken_back_and_declined(
    visit: Callable[..., Page], studio: Served
) -> None:
    text, name = proposed(studio)
    page = visit(studio, "/")
    page.get_by_role("link", name="Decide about 2 proposals").click()
    page.wait_for_url("**/review?*kind=proposal*")
    finding = page.locator("[data-role=finding]")
    before, title = label_of(studio, text), f"“{text['name']}”, or “{name}”?"
    tells_who_and_why(page, title)

    finding.locator(".remedy", has_text=f"Label it “{name}”").click()
    question = page.locator("dialog button.primary, dialog button.danger")
    if question.count():  # it breaks answers: it is asked first
        question.first.click()
    expect(page.locator(MADE)).to_be_visible()
    assert label_of(studio, text) != before
    assert states(studio) == ["accepted", "waits"]
    expect(finding.locator("h2")).to_contain_text("Add it to")
    expect(finding.locator(".last")).to_contain_text("no bars in the attic")

    page.keyboard.press("u")
    expect(page.get_by_text("Taken back:")).to_be_visible()
    expect(finding.locator("h2")).to_have_text(title)
    assert label_of(studio, text) == before
    assert states(studio) == ["waits", "waits"]

    expect(finding).not_to_have_class(re.compile("waits"))  # until it is counted again
    page.keyboard.press("n")
    expect(page.locator(MADE)).to_contain_text("Declined: “")
    expect(finding.locator("h2")).to_contain_text("Add it to")
    assert states(studio) == ["declined", "waits"]
    assert label_of(studio, text) == before


def tells_who_and_why(page: Page, title: str) -> None:
    finding = page.locator("[data-role=finding]")
    expect(page.locator("[data-key='kind proposal']")).to_contain_text("Proposals")
    expect(finding.locator("h2")).to_have_text(title)
    expect(finding.locator("p").first).to_contain_text("Agent 7 proposes: label it “")
    expect(finding.locator("p").first).to_contain_text("The reason given: “Similar texts say so.”")
    keeps = finding.locator(".remedy", has_text="Decline: keep “")
    expect(keeps).to_contain_text(title.split(",")[0])
    row = page.locator("[data-role=findings] button[data-key^='proposal:']").first
    expect(row).to_contain_text("by Agent 7")
    expect(finding.locator(".remedy .radius").first).not_to_contain_text("counting")


def test_history_tells_who_proposed(visit: Callable[..., Page], studio: Served) -> None:
    if not studio.ask(_PATH):
        proposed(studio)
    page = visit(studio, "/history?project=sample")
    act = page.locator("tr", has_text="Propose changes")
    expect(act).to_contain_text("Agent 7")
    expect(act).to_contain_text("another program")
