"""From a log of conversations to an encoder, stopped and resumed midway, and on to a model."""

import csv
import time
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.builders.conversation_logs import TOPICS, conversation
from tests.builders.served_studio import Served
from tests.conftest import SENTENCES


def test_the_story_of_conversations(
    visit: Callable[..., Page], serve: Callable[..., Served], tmp_path: Path
) -> None:
    studio = serve(empty=True)
    page = visit(studio)
    page.get_by_label("Name").fill("shop")
    page.get_by_role("button", name="Create project").click()
    page.wait_for_selector("h1:has-text('Data')")
    recipes_are_greyed(page)
    imports_a_log(page, studio, tmp_path)
    stops_and_resumes_stage_one(page, studio)
    trains_stage_two_on_top(page, studio, tmp_path)
    shows_where_it_comes_from(page)
    ranks_replies(page)


def go(page: Page, name: str) -> None:
    page.get_by_role("navigation", name="Pages").get_by_role("link", name=name).click()
    page.wait_for_selector(f"h1:has-text('{name}')")


def recipes_are_greyed(page: Page) -> None:
    go(page, "Train")
    page.get_by_text("More ways", exact=True).click()
    for name in ("Conversations: ", "Conversations alone: "):
        expect(page.get_by_role("radio", name=name)).to_have_count(0)
        line = page.locator("[data-role=not-here] li", has_text=name)
        expect(line).to_contain_text("Import a log on the page Conversations")


def imports_a_log(page: Page, studio: Served, folder: Path) -> None:
    file = folder / "chats.csv"
    with file.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["conversation id", "turn", "speaker", "text"])
        for key, (topic, n) in enumerate((topic, n) for topic in TOPICS for n in range(4)):
            for at, text in enumerate(conversation(topic, n)):
                said = f"{text}, ann{n}@example.org" if at == 0 else text
                writer.writerow([key, at, ("user", "agent")[at % 2], said])
    go(page, "Conversations")
    expect(page.get_by_role("button", name="Choose a log")).to_have_class("primary")
    expect(page.get_by_role("region", name="Import")).to_be_hidden()
    page.get_by_label("Log of conversations to import").set_input_files(file)
    preview = page.locator("[data-role=log-preview]")
    # An address was stored as it was said, unless somebody thought of the tick.
    expect(preview.get_by_label("Mask e-mail")).to_be_checked()
    expect(preview.get_by_text("[e-mail]").first).to_be_visible()
    expect(preview.get_by_text("ann0@example.org")).to_have_count(0)
    preview.get_by_label("Mask e-mail").uncheck()
    expect(preview.get_by_text("ann0@example.org")).to_be_visible()
    preview.get_by_label("Mask e-mail").check()
    expect(preview.get_by_text("ann0@example.org")).to_have_count(0)
    preview.get_by_role("button", name="Import the log").click()
    page.get_by_text("24 conversations added, 28 unlabelled texts added").wait_for()
    expect(page.locator("[data-role=logs] li")).to_contain_text("masked: 24 e-mail")
    page.get_by_text("Read the conversations").click()
    dialogue = page.locator("[data-role=dialogue]")
    expect(dialogue.locator("[data-role=which]")).to_have_text("Conversation 1 of 24")
    dialogue.get_by_role("button", name="Next").click()
    expect(dialogue.locator(".talk li")).to_have_count(4)
    expect(dialogue.locator(".talk li").first).to_contain_text("the refund 1")
    deletes_a_log_and_brings_it_back(page)
    go(page, "Data")
    page.wait_for_selector("[data-role=total]:has-text('28 texts')")
    page.get_by_role("button", name="Undo").click()
    page.get_by_role("dialog").get_by_role("button", name="Undo").click()
    page.get_by_role("heading", name="No texts yet").wait_for()
    page.get_by_role("button", name="Redo").click()
    page.wait_for_selector("[data-role=total]:has-text('28 texts')")


def deletes_a_log_and_brings_it_back(page: Page) -> None:
    """Nobody knew whether its texts and labels go with a log, and nothing took it back."""
    logs = page.locator("[data-role=logs] li")
    for takes_texts in (False, True):
        page.get_by_role("button", name="Delete chats.csv").click()
        asked = page.locator("[data-role=deletion]")
        expect(asked).to_contain_text("No training learns from its 24 conversations any more.")
        expect(asked).to_contain_text("28 texts that came from it stay on Data.")
        expect(asked).to_contain_text("Undo in the message that follows brings all of it back.")
        if takes_texts:
            asked.get_by_label("Delete these 28 texts, too").check()
        page.get_by_role("button", name="Delete log", exact=True).click()
        said = page.locator(".toast", has_text="chats.csv is deleted.").last
        expect(said).to_contain_text("28 texts " + ("went" if takes_texts else "of it stay"))
        expect(logs).to_have_count(0)
        said.get_by_role("button", name="Undo").click()
        expect(page.locator(".toast", has_text="chats.csv is back.").last).to_be_visible()
        expect(logs).to_contain_text("28 of your texts came from it, none of them labelled.")


def stops_and_resumes_stage_one(page: Page, studio: Served) -> None:
    go(page, "Train")
    page.get_by_text("More ways", exact=True).click()
    page.get_by_role("radio", name="Conversations Prepares").click()
    form = page.locator("#settings-dialogues")
    form.get_by_text("Settings of the training", exact=True).click()
    form.get_by_label("Rounds over your conversations").fill("2")
    form.get_by_text("For researchers", exact=True).click()
    form.get_by_label("Batch size").fill("4")
    expect(page.locator("[data-role=estimate]")).to_contain_text("Your labels stay")
    page.get_by_role("button", name="Train", exact=True).click()
    await_checkpoint(page, studio)
    page.get_by_role("button", name="Cancel").click()
    state = page.locator("[data-role=job-state]")
    expect(state).to_have_text("cancelled")
    page.get_by_role("button", name="Resume").click()
    expect(state).to_have_text("done", timeout=600_000)
    [job] = studio.ask("/projects/shop/jobs")
    assert job["result"] == {"model": "shop@1", "kind": "encoder"}
    steps = [step for step, _ in job["curve"]["loss while ranking"]]
    assert steps == list(range(1, 37))  # gone on with, none twice
    expect(page.locator("[data-role=champion]")).to_have_count(0)


def await_checkpoint(page: Page, studio: Served) -> None:
    """Writing one takes a moment, and who is stopped in that moment has nothing to go on from.

    It waits with the page: while this process slept, what the page asked for stayed held here,
    and a click on Train came to nothing for as long as it waited.
    """
    limit = time.monotonic() + 180
    while not list(studio.home.glob("checkpoints/*/step-*")):
        assert time.monotonic() < limit, studio.ask("/projects/shop/jobs")
        page.wait_for_timeout(50)


def trains_stage_two_on_top(page: Page, studio: Served, folder: Path) -> None:
    file = folder / "labelled.csv"
    rows = [f"{text},{intent}" for intent, texts in SENTENCES.items() for text in texts]
    file.write_text("text,intent\n" + "\n".join(rows) + "\n", encoding="utf-8")
    go(page, "Data")
    page.get_by_label("File to import").set_input_files(file)
    page.locator("[data-role=preview]").get_by_role("button", name="Import").click()
    page.locator("[data-role=imported]", has_text="20 ").wait_for()
    go(page, "Train")
    page.get_by_role("button", name="Start from version 1").click()
    expect(page.get_by_label("Start from")).to_have_value("shop@1")
    expect(page.locator("[data-role=chain]")).to_have_text(
        "the model that comes with the studio → version 1 (Conversations) → this training"
    )
    page.get_by_role("button", name="Train", exact=True).click()
    expect(page.get_by_role("region", name="Training", exact=True)).to_contain_text("Best")
    state = page.locator("[data-role=job-state]")
    expect(state).to_have_text("done", timeout=600_000)
    expect(page.locator("[data-role=champion]")).to_contain_text("v2")


def shows_where_it_comes_from(page: Page) -> None:
    go(page, "Versions")
    rows = page.locator("[data-role=models] > li")
    expect(rows.nth(0).locator("[data-role=chain]")).to_have_text(
        "the model that comes with the studio → version 1 → version 2"
    )
    expect(rows.nth(1)).to_contain_text("24 conversations of 1 log")
    expect(rows.nth(1).get_by_role("button", name="Use version")).to_have_count(0)
    rows.nth(0).get_by_text("More", exact=True).click()
    rows.nth(0).get_by_role("button", name="Where it comes from").click()
    expect(page.get_by_label("Comparison")).to_contain_text("shop@1")


def ranks_replies(page: Page) -> None:
    go(page, "Try")
    page.get_by_text("Which reply fits a conversation?").click()
    page.get_by_label("Conversation so far").fill("hello, I ask about the parcel 2")
    page.get_by_label("Replies to choose from").fill(
        "what about your card?\nwhat about your parcel?\nwhat about your music?"
    )
    page.get_by_role("button", name="Rank replies").click()
    best = page.locator("[data-role=replies] tbody tr").first
    expect(best).to_contain_text("what about your parcel?")
    # “by shop@1” stood there: the name that commands give a version.
    expect(page.locator("[data-role=ranked-by]")).to_contain_text("by version 1 of shop")
