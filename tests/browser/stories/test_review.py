"""A designer plants a conflict, finds it in the review, sees whom it hurts, mends it, undoes it."""

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

from core.formats.rows import LONGEST_TEXT
from tests.builders.served_studio import Served

MADE = "[data-role=newest]:has(.good)"  # the newest act, once it is saved

TEXT = "my wifi does not reach the bedroom at all"


def test_a_conflict_is_planted_found_mended_and_taken_back(
    visit: Callable[..., Page], serve: Callable[..., Served]
) -> None:
    studio = serve()
    page = visit(studio, "/review?project=sample&tab=add")
    plants(page, "wifi_coverage", "No very similar example has another label")
    plants(page, "cancel_contract", "most similar examples are labelled wifi_coverage")
    finds(page)
    mends(page, studio)
    page.keyboard.press("u")
    expect(page.locator("[data-role=finding] h2")).to_have_text(
        "“cancel_contract” or “wifi_coverage”?"
    )
    # The finding comes back at once, before its labels are saved.
    labels = {TEXT: "wifi_coverage", f"{TEXT}!": "cancel_contract"}
    for _ in range(100):
        if planted(studio) == labels:
            break
        page.wait_for_timeout(50)
    assert planted(studio) == labels


def plants(page: Page, intent: str, verdict: str) -> None:
    page.get_by_label("An example of").select_option(label=intent)
    text = TEXT if intent == "wifi_coverage" else f"{TEXT}!"
    box = page.get_by_label("New example")
    box.fill(text)
    # Of a pasted text of more than 2,000 signs the browser dropped the rest, and said nothing.
    assert int(box.get_attribute("maxlength") or 0) > LONGEST_TEXT
    expect(page.locator("[data-role=verdict]")).to_contain_text(verdict)
    expect(page.locator("[data-role=verdict] [data-role=radius]").last).to_contain_text("answer")
    page.get_by_role("button", name=f"Add it as {intent}").click()
    expect(page.locator(MADE)).to_contain_text(f"Added “{text}”")


def finds(page: Page) -> None:
    page.get_by_role("button", name="Findings").click()
    first = page.locator("[data-role=findings] button").first
    expect(first).to_contain_text("conflicting labels")
    expect(first).to_contain_text("same text")
    finding = page.locator("[data-role=finding]")
    expect(finding).to_contain_text("both cannot be right")
    expect(finding.locator(".remedy [data-role=radius]")).to_have_count(4)


def mends(page: Page, studio: Served) -> None:
    both = page.locator(".remedy", has_text="Both “wifi_coverage”")
    page.keyboard.press(both.locator("kbd").inner_text())
    expect(page.locator(MADE)).to_have_text(re.compile(r"^Labelled “.+” as “wifi_coverage”"))
    assert planted(studio) == {TEXT: "wifi_coverage", f"{TEXT}!": "wifi_coverage"}
    # Not even with another example, which was there until the list came anew.
    conflicts = page.locator("[data-role=findings] .badge:text-is('conflicting labels')")
    expect(conflicts).to_have_count(0)


def planted(studio: Served) -> dict[str, str]:
    """The planted texts with their labels."""
    names = {i["id"]: i["name"] for i in studio.ask("/projects/sample/overview")["intents"]}
    rows = studio.ask("/projects/sample/utterances?text=reach+the+bedroom+at+all")["rows"]
    return {row["text"]: names[row["labels"][0]] for row in rows}
