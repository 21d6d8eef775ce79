"""From the first marked value to an encoder that learned from templates, by mouse and by keys."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from app.bootstrap import open_studio
from app.settings import Settings
from core.text import WORD_EDGES, word_spans
from tests.builders.served_studio import Served, StudioPool, run
from tests.builders.slotted_project import with_values

LAST = "book a room in new york"  # the last that came of those with a label
_PARTED = """async texts => {
    const {part, wordsOf} = await import('/studio/js/shared/tokens.js');
    return texts.map(text => wordsOf(text).map(({start, end}) => part(text, start, end)));
}"""


@pytest.fixture
def unmarked(tmp_path: Path, studios: StudioPool) -> Iterator[Served]:
    """A studio with thirty labelled texts that name cities, and not one of them marked."""
    home = tmp_path / "unmarked"
    studio = open_studio(Settings(home=home, device="cpu"))
    with_values(studio, marked=False)
    studio.database.close()
    with studios.serving(home) as served:
        yield served


def test_the_story_of_slots(visit: Callable[..., Page], unmarked: Served) -> None:
    page = visit(unmarked, "/slots?project=p")
    expect(page.get_by_text("No value is marked yet")).to_be_visible()
    name = page.get_by_label("Name of a slot")  # “Another slot” where none was
    expect(name).to_have_attribute("placeholder", "A slot, such as city")
    marks_with_the_mouse(page, unmarked)
    marks_with_keys(page, unmarked)
    accepts_what_is_proposed(page, unmarked)
    adds_synthetic_utterances(page, unmarked)
    learns_from_templates(page, unmarked)


def test_the_first_value_is_marked_where_the_page_speaks_of_it(
    visit: Callable[..., Page], unmarked: Served
) -> None:
    """The empty page led to the Label page, which showed no mark, and known values led nowhere."""
    page = visit(unmarked, "/slots?project=p", viewport={"width": 390, "height": 844})
    opening = page.locator(".empty")
    expect(opening).to_contain_text("“Rome” in “a flight to Rome”")
    expect(page.get_by_role("region", name="Proposals")).to_be_hidden()
    by_hand = page.get_by_role("region", name="Mark by hand")
    by_hand.get_by_role("searchbox").fill("hotel OSLO")
    line = by_hand.locator(".marking")
    expect(line).to_have_text("a hotel in oslo please")
    opening.get_by_role("button", name="Mark by hand").click()
    expect(line).to_be_focused()
    expect(line).to_be_in_viewport()
    for key in ("ArrowRight", "ArrowRight", "ArrowRight", "n"):
        page.keyboard.press(key)
    page.keyboard.type("city")
    page.keyboard.press("Enter")
    expect(line.locator(".slot")).to_have_text("oslocity")
    expect(line).to_be_focused()  # the page around it changes, and the hand keeps its place
    known = page.get_by_role("region", name="Proposals")
    expect(known.get_by_role("heading")).to_have_text("6 known values are not marked yet")
    known.get_by_role("button", name="Mark 6 values in 6 texts").click()
    advice = page.locator("[data-role=advice]")
    expect(advice).to_contain_text("All known values are marked.")
    advice.get_by_role("button", name="Mark more by hand").click()
    expect(line).to_be_focused()
    by_hand.get_by_role("button", name="Next text").click()
    expect(by_hand).to_contain_text("No text without a mark has these words.")


def words(page: Page) -> Locator:
    return page.locator(".marking [data-word]")


def marks_with_the_mouse(page: Page, studio: Served) -> None:
    page.goto(f"{studio.base}/data?project=p&text=new+york")
    row = page.locator("[data-role=utterances] tr", has_text=LAST)
    row.get_by_role("button", name="Mark values of this text").click()
    first, last = words(page).nth(4), words(page).nth(5)
    expect(last).to_have_text("york")
    first.hover()
    page.mouse.down()
    last.hover()
    page.mouse.up()
    page.get_by_label("Name of a slot").fill("city")
    page.keyboard.press("Enter")
    expect(page.get_by_text("“new york” is city now.")).to_be_visible()
    page.keyboard.press("Escape")
    expect(row.locator(".slot-chip")).to_have_text("new yorkcity")


def marks_with_keys(page: Page, studio: Served) -> None:
    page.goto(f"{studio.base}/label?project=p&order=newest")
    card = page.locator("[data-role=utterance]")
    card.wait_for()
    for _ in range(5):
        if "oslo" in card.inner_text():
            break
        text = card.inner_text()
        page.keyboard.press("s")
        expect(card).not_to_have_text(text)
    expect(card).to_have_text("is it cold in oslo")
    page.keyboard.press("v")
    page.keyboard.press("2")  # too early for a mark, and no intent of the card's any more
    expect(words(page)).to_have_count(5)
    page.keyboard.press("End")
    page.keyboard.press("1")
    expect(page.get_by_text("“oslo” is city now.")).to_be_visible()
    page.keyboard.press("Delete")
    expect(page.get_by_text("The mark is gone.")).to_be_visible()
    page.keyboard.press("1")
    expect(page.locator(".marking .slot")).to_have_text("oslocity")
    page.keyboard.press("Escape")
    page.keyboard.press("2")  # the card has its keys again: this is an intent
    expect(card).to_be_hidden()  # it was the last one
    page.wait_for_selector("text=all saved")


def accepts_what_is_proposed(page: Page, studio: Served) -> None:
    page.goto(f"{studio.base}/slots?project=p")
    proposals = page.get_by_role("region", name="Proposals")
    known = proposals.get_by_role("button", name="Mark ")
    # Six frames say each of the two cities that are known by now; one of these twelve is marked.
    listed = proposals.get_by_role("listitem")
    expect(listed).to_have_count(11)
    advice, marked = page.locator("[data-role=advice]"), page.locator("[data-role=marked]")
    heading = proposals.get_by_role("heading")
    expect(heading).to_have_text("11 known values are not marked yet")
    expect(proposals).to_contain_text("Untick what is wrong, then mark the rest.")
    expect(advice).to_be_hidden()
    # Those of no set yet, too.
    expect(marked).to_have_text("Values marked in 2 of 35 texts that are no test texts")
    # Somebody expected answers that read the city out.
    expect(page.locator("main")).to_contain_text(
        "The model still answers with intents alone, and gives no values out."
    )
    expect(known).to_have_text("Mark 11 values in 11 texts")
    page.get_by_role("button", name="Untick all").click()
    expect(page.locator("[data-key=accept]")).to_be_disabled()
    expect(page.locator("[data-key=accept]")).to_have_text("Tick a value first")
    page.get_by_role("button", name="Tick all").click()
    expect(known).to_have_text("Mark 11 values in 11 texts")
    refused = listed.first.get_by_role("checkbox")
    refused.uncheck()
    expect(known).to_have_text("Mark 10 values in 10 texts")
    known.click()
    expect(page.get_by_text("10 values marked.")).to_be_visible()
    expect(listed).to_have_count(1)
    expect(refused).not_to_be_checked()  # it stays refused
    refused.check()
    proposals.get_by_role("button", name="Mark 1 value in 1 text").click()
    expect(page.get_by_text("1 value marked.")).to_be_visible()
    book = page.get_by_role("region", name="Slot book")
    # “100 %” of all places stood beside a value that was proposed in other texts.
    expect(book.get_by_role("row", name="oslo")).to_contain_text("times")
    expect(book.get_by_role("row", name="oslo")).not_to_contain_text("%")
    expect(marked).to_have_text("Values marked in 13 of 35 texts that are no test texts")
    expect(advice).to_contain_text("All known values are marked.")
    expect(advice.get_by_role("link", name="Train “Marked values”")).to_be_visible()


def adds_synthetic_utterances(page: Page, studio: Served) -> None:
    sheet = page.get_by_role("region", name="Augmentation")
    sheet.get_by_role("button", name="Preview").click()
    add = sheet.get_by_role("button", name="Add ")
    expect(sheet.get_by_text("is it cold in {city}")).to_be_visible()
    expect(add).to_have_text("Add 1 generated text")
    expect(sheet).to_contain_text("A pattern is a text with its values left open.")
    template = sheet.get_by_role("checkbox", name="Use is it cold in {city}")
    template.uncheck()
    expect(add).to_have_text("Add 0 generated texts")
    expect(add).to_be_disabled()
    template.check()
    expect(add).to_have_text("Add 1 generated text")
    add.click()
    expect(page.get_by_text("1 generated text added to your examples.")).to_be_visible()
    page.goto(f"{studio.base}/data?project=p&text=is+it+cold")
    made = page.locator("[data-role=utterances] tr", has_text="is it cold in new york")
    expect(made).to_contain_text("generated")
    expect(made.locator(".slot-chip")).to_have_text("new yorkcity")


def learns_from_templates(page: Page, studio: Served) -> None:
    page.goto(f"{studio.base}/train?project=p")
    page.get_by_text("More ways", exact=True).click()
    page.get_by_role("radio", name="Marked values").click()
    expect(page.get_by_role("radio", name="Marked values")).to_contain_text("with marked values")
    page.get_by_role("button", name="Train", exact=True).click()
    expect(page.locator("[data-role=job-state]")).to_have_text("done", timeout=600_000)
    page.goto(f"{studio.base}/versions?project=p")
    chain = page.locator("[data-role=models] > li").first.locator("[data-role=chain]")
    expect(chain).to_have_text("the model that comes with the studio → version 1")


def test_a_value_within_a_text_without_blanks_is_marked(
    studio: Served, visit: Callable[..., Page], tmp_path: Path
) -> None:
    """The whole text was one word on the page."""
    file = tmp_path / "texts.txt"
    file.write_text("東京に行きたい\n", encoding="utf-8")
    run(studio.home, "new", "japanese")
    run(studio.home, "import", "japanese", str(file))
    page = visit(studio, "/label?project=japanese")
    expect(page.locator("[data-role=utterance]")).to_have_text("東京に行きたい")
    page.keyboard.press("v")
    expect(words(page)).to_have_text(["東", "京", "に", "行", "き", "た", "い"])
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("n")
    page.keyboard.type("city")
    page.keyboard.press("Enter")
    expect(page.get_by_text("“東京” is city now.")).to_be_visible()
    expect(page.locator(".marking .slot")).to_have_text(["東", "京city"])


def test_the_page_parts_words_as_the_studio_does(
    studio: Served, visit: Callable[..., Page]
) -> None:
    page = visit(studio, "/slots?project=sample")
    texts = [
        "where is it",
        "𠮷野家 ABC",
        "か\u3099っ",
        "\u0e19\u0e49\u0e33100",
        "\u1781\u17d2\u1798\u17c2\u179a",
    ]
    parted = [[text[start:end] for start, end in word_spans(text)] for text in texts]
    assert page.evaluate(_PARTED, texts) == parted
    edged = [f"{sign}ab{sign}" for sign in WORD_EDGES if sign != " "]
    assert page.evaluate(_PARTED, edged) == [["ab"]] * len(edged)
