"""Steps on the Review page of the project "bank", where a text may have several intents."""

import re

from playwright.sync_api import Page, Route, expect

from tests.builders.held_answers import reroute
from tests.builders.served_studio import Served

SET = "cancel my card please"
MADE = "[data-role=newest]:has(.good)"  # the newest act of Review, once it is saved


def undo(page: Page) -> None:
    page.locator(MADE).get_by_role("button", name="Undo").click()
    expect(page.locator("[data-role=newest]")).to_contain_text("Taken back")


def moves_one_intent_of_a_set(page: Page, studio: Served) -> None:
    """The text was labelled transfer alone: that it asks to cancel was lost without a word."""
    page.get_by_role("button", name="Reshape intents").click()
    form = page.get_by_role("region", name="Reshape intents")
    form.locator("select[data-key=intent]").select_option(label="card")
    form.locator("select[data-key=how]").select_option("relabel")
    form.locator("select[data-key=target]").select_option(label="transfer")
    form.get_by_label(SET, exact=True).check()
    form.get_by_role("button", name="Move 1 text to transfer").click()
    expect(page.locator(MADE)).to_contain_text("card: move 1 text to transfer.")
    assert labels_of(studio, SET) == {"cancel", "transfer"}
    undo(page)
    assert labels_of(studio, SET) == {"cancel", "card"}


def adds_an_intent_to_an_example(page: Page, studio: Served) -> None:
    """“Its label changes” meant that both of its intents went."""
    page.get_by_role("button", name="Add an example").click()
    form = page.get_by_role("region", name="Add an example")
    form.get_by_label("New example").fill(SET)
    form.locator("select[data-key=as]").select_option(label="thanks")
    kept = "This text is an example already; it keeps its intents and gets this one, too."
    expect(form.locator("[data-role=verdict]")).to_contain_text(kept)
    form.get_by_role("button", name="Label it also as thanks").click()
    expect(page.locator(MADE)).to_contain_text(f"Labelled also “{SET}” as thanks.")
    assert labels_of(studio, SET) == {"cancel", "card", "thanks"}
    undo(page)
    assert labels_of(studio, SET) == {"cancel", "card"}


def adds_an_intent_at_a_border(page: Page, studio: Served) -> None:
    """“Relabel as card” took from a text the intents that it had."""
    keys = {intent["name"]: intent["id"] for intent in intents(studio)}
    pair = f"first={keys['cancel']}&second={keys['card']}"
    page.goto(f"{studio.base}/review?project=bank&tab=border&{pair}")
    offers = page.locator(".walk .offer button")
    expect(offers.filter(has_text=re.compile("^Add (cancel|card)$")).first).to_be_attached()
    expect(offers.filter(has_text="Relabel as")).to_have_count(0)


def gives_both_intents_at_a_border(page: Page, studio: Served) -> None:
    """An unlabelled text of both got the first by one press, and the second by another."""
    rows = studio.ask("/projects/bank/utterances?size=200")["rows"]
    row = next(row for row in rows if row["labels"] is None)
    text = {"id": row["id"], "text": row["text"], "intents": None, "place": "pool", "note": ""}
    step = {"text": text, "lead": 0.01, "answer": "", "finding": "", "kept": False}

    def with_one_text(route: Route) -> None:
        route.fulfill(json={**route.fetch().json(), "steps": [step]})

    reroute(page, "**/projects/bank/review/border*", with_one_text)
    page.reload()
    offers = page.locator(".walk .offer button")
    expect(offers).to_have_text(["Label as cancel", "Label as card", "Label as both"])
    offers.last.click()
    expect(page.locator(MADE)).to_contain_text(f"Labelled “{row['text'][:50]}” cancel and card.")
    assert labels_of(studio, row["text"]) == {"cancel", "card"}
    undo(page)
    assert labels_of(studio, row["text"]) is None
    page.unroute("**/projects/bank/review/border*")


def chooses_a_whole_set(page: Page, studio: Served) -> None:
    """“Another label” gave one intent alone: a text lost its others, or never got a second."""
    page.goto(f"{studio.base}/review?project=bank&kind=next")
    expect(page.locator("[data-role=finding]")).to_contain_text("The model answers ")
    same = page.locator(".remedy", has_text="Label it “cancel” and “transfer”")
    page.locator(".remedy", has_text="Another label").click()
    boxes = page.get_by_role("group", name="Find the right label")
    expect(boxes).to_be_visible()
    n = same.count()  # the model may answer so
    for name in ("cancel", "transfer"):
        boxes.get_by_label(name, exact=True).check()
    page.get_by_role("button", name="Show what it changes").click()
    expect(same).to_have_count(n + 1)


def intents(studio: Served) -> list[dict[str, str]]:
    return list(studio.ask("/projects/bank/overview")["intents"])


def labels_of(studio: Served, text: str) -> set[str] | None:
    names = {intent["id"]: intent["name"] for intent in intents(studio)}
    rows = studio.ask("/projects/bank/utterances?size=200")["rows"]
    labels = next(row["labels"] for row in rows if row["text"] == text)
    return None if labels is None else {names[key] for key in labels}
