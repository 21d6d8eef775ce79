"""Data is understood at first sight: one word for one thing."""

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.builders.held_answers import settle
from tests.builders.served_studio import Served


def test_label_is_the_word_for_one_thing(visit: Callable[..., Page], studio: Served) -> None:
    """“Label” was a column, a filter, a button and an act; a set was “none”, an act “Mark as”."""
    page = visit(studio, "/data?project=sample&state=unlabelled")
    first = page.locator("[data-role=utterances] tr[data-id]").first
    expect(first.locator(".relabel")).to_have_text("Add label")
    expect(first.locator(".split")).to_have_text("in no set")
    filters = page.locator(".filters label.field")
    assert page.get_by_text("Label", exact=True).count() == 2  # the page, and the column
    expect(filters.nth(1)).to_contain_text("State of the label")  # of the column, not the set
    first.get_by_role("checkbox").check()
    acts = page.get_by_label("What to do").locator("option")
    expect(acts.nth(0)).to_have_text("Give the intent …")
    expect(acts.nth(1)).to_have_text("Give “out of scope”")


def test_the_header_of_a_phone_says_what_its_percents_are(
    visit: Callable[..., Page], studio: Served
) -> None:
    """“v1 92.8 %” stood there alone: right, sure, or done?"""
    page = visit(studio, "/data?project=sample", viewport={"width": 390, "height": 844})
    champion = page.locator(".state [data-role=champion]")
    expect(champion).to_have_text(re.compile(r"^v1 \d+\.\d % right$"), use_inner_text=True)
    expect(champion).to_be_in_viewport(ratio=1)


def test_an_empty_project_is_offered_one_way_to_import(
    visit: Callable[..., Page], studio: Served
) -> None:
    """Three stood there: a line above, a button in the middle, and a box at the side."""
    studio.ask("/projects", {"name": "without texts"})
    page = visit(studio, "/")
    with page.expect_response("**/projects/without%20texts/next"):
        page.goto(f"{studio.base}/data?project=without%20texts")
    box = page.get_by_role("region", name="Import", exact=True)
    expect(box.get_by_role("heading", name="No texts yet")).to_be_visible()
    settle(page)
    begins = re.compile("^Import")  # the field for a file is hidden, and pressed by the button
    ways = page.locator(".content, .next-line")
    expect(ways.get_by_role("button", name=begins)).to_have_text("Import texts")
    expect(ways.get_by_role("link", name=begins)).to_have_count(0)
    expect(page.get_by_role("button", name="Choose a file")).to_have_count(0)
    expect(page.get_by_role("region", name="Texts of the project")).to_be_hidden()
    box.get_by_text("Paste texts").click()
    box.get_by_label("Texts to import").fill("my first text")
    box.get_by_role("button", name="Preview").click()
    page.get_by_role("button", name="Import 1 text").click()
    expect(page.get_by_role("region", name="Texts of the project")).to_contain_text("my first text")
    expect(box.get_by_role("heading", name="Import")).to_be_visible()
    expect(box.get_by_role("button", name="Choose a file")).to_be_visible()
    # The message leads on, and once it is closed the line above does.
    imported = page.locator("[data-role=imported]")
    above = page.locator(".next-line [data-role=next]")
    expect(imported.locator("[data-role=next]")).to_be_visible()
    expect(above).to_be_hidden()
    imported.get_by_label("Close").click()
    expect(above).to_be_visible()


def test_the_header_counts_deletions_as_changes(
    visit: Callable[..., Page], serve: Callable[..., Served]
) -> None:
    """After two deletions “2 new labels since training” stood there."""
    page = visit(serve(), "/data?project=sample&split=train&state=labelled")
    bins = page.get_by_role("button", name="Delete this text")
    chip = page.locator(".state [data-key=hot]")
    for words in ("1 change since version 1", "2 changes since version 1"):
        bins.first.click()
        expect(chip).to_have_text(words)
    expect(chip).to_have_attribute(
        "title", re.compile("labelled texts that were edited or deleted")
    )


_OFF = """row => {
  const parts = 'td > input, bdi, .relabel, .answer-cell .chip, .split, .acts svg';
  const middles = [...row.querySelectorAll(parts)].map(one => {
    const texts = document.createTreeWalker(one, NodeFilter.SHOW_TEXT);
    const range = document.createRange();
    if (texts.nextNode()) range.selectNodeContents(texts.currentNode);
    else range.selectNode(one);
    const isText = !one.matches('input, svg');
    const [line] = isText ? range.getClientRects() : [one.getBoundingClientRect()];
    return line.top + line.height / 2;
  });
  return Math.max(...middles) - Math.min(...middles);
}"""


def test_all_that_a_row_says_stands_on_one_line(visit: Callable[..., Page], studio: Served) -> None:
    """The label stood 3 pixels below the set, and beside the last line of a long text."""
    for state in ("unlabelled", "labelled"):
        page = visit(studio, f"/data?project=sample&state={state}")
        rows = page.locator("[data-role=utterances] tr[data-id]")
        expect(rows.locator(".answer-cell .chip").nth(7)).to_be_visible()
        for at in range(8):
            assert rows.nth(at).evaluate(_OFF) <= 1.5, (state, at)


def test_what_a_training_learns_from_is_called_examples(
    visit: Callable[..., Page], studio: Served
) -> None:
    """“training texts 340” stood beside “20 examples”, and a report had “340 labelled texts”."""
    page = visit(studio, "/data?project=sample")
    chip = page.locator("[data-role=splits] button").first
    expect(chip).to_have_text(re.compile(r"^examples \d+$"))
    chip.click()
    expect(page.locator("[data-role=utterances] .split").first).to_have_text("example")
    page.locator("[data-role=utterances] tr[data-id]").first.get_by_role("checkbox").check()
    expect(page.get_by_label("What to do").locator("option[value='move:train']")).to_have_text(
        "Make examples"
    )
    for path in ("data", "label", "train", "versions"):
        page.goto(f"{studio.base}/{path}?project=sample")
        expect(page.locator(".content")).to_contain_text("examples")
        expect(page.locator(".content")).not_to_contain_text("training text")
