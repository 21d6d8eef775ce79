"""The Data page shows the model's answer beside the label, and keeps filters by name."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from playwright.sync_api import Page, Route, expect

from tests.builders.held_answers import reroute
from tests.builders.served_studio import Served

LONG_NAMES = ("international_transfer_notifications", "internationalTransferNotifications")
CELLS = "[data-role=utterances] tr[data-id] td"
# Cells whose content is wider than they are, but for the room around a text that is pressed, or
# that reach over the edge of the sheet.
STICKING_OUT = """cells => cells
  .filter(at => at.scrollWidth > at.clientWidth + 4
    || at.getBoundingClientRect().right > at.closest('.sheet').getBoundingClientRect().right)
  .map(at => at.innerText)"""


def test_the_answer_stands_beside_the_label_and_can_be_filtered(
    visit: Callable[..., Page], studio: Served
) -> None:
    page = visit(studio, "/data?project=sample&state=labelled")
    rows = page.locator("[data-role=utterances] tr[data-id]")
    expect(page.locator(".answer-cell .chip").first).to_be_visible()
    expect(page.locator(".answer-cell .chip")).to_have_count(rows.count())
    page.get_by_role("button", name="More filters").click()
    page.get_by_label("answer differs from the label").check()
    differing = studio.ask("/projects/sample/utterances?size=1&state=labelled&differs=true")
    expect(page.locator("[data-role=total]")).to_have_text(
        re.compile(rf"^{differing['total']} texts")
    )
    expect(page.locator(".answer-cell.differs")).to_have_count(rows.count())
    assert rows.count() > 0


def test_an_example_that_the_others_answer_otherwise_says_so(
    visit: Callable[..., Page], studio: Served
) -> None:
    """Try answered an example as it is labelled, and Data otherwise, without a word on why."""
    page = visit(studio, "/data?project=sample&state=labelled&differs=true&split=train")
    answer = page.locator(".answer-cell").first
    expect(answer).to_have_text(re.compile("^The other examples say.+"))
    words = answer.get_by_text("The other examples say")
    low, high = words.bounding_box(), answer.locator(".chip").bounding_box()
    assert low is not None
    assert high is not None
    assert low["y"] + low["height"] <= high["y"] + 1  # they ran into each other
    expect(words).to_have_attribute("title", re.compile("Try answers just this text as it is"))
    page.goto(f"{studio.base}/data?project=sample&state=labelled&differs=true&split=test")
    expect(answer.locator(".badge")).to_have_text("differs")


def test_a_row_stands_whole_in_its_sheet(visit: Callable[..., Page], studio: Served) -> None:
    """With the column of answers the bin stuck out of the sheet."""
    page = visit(studio)

    def with_long_names(route: Route) -> None:
        overview = route.fetch().json()
        for intent, name in zip(overview["intents"], LONG_NAMES * 20, strict=False):
            intent["name"] = name
        route.fulfill(json=overview)

    reroute(page, "**/projects/sample/overview", with_long_names)
    page.goto(f"{studio.base}/data?project=sample&state=labelled")
    expect(page.locator(".answer-cell .chip").first).to_be_visible()
    for width in (1600, 1280, 1024, 700, 390):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.locator(CELLS).evaluate_all(STICKING_OUT) == [], width
        text = page.locator("td.text-cell").first.bounding_box()
        assert text is not None
        assert text["width"] > 170, width
    page.unroute_all(behavior="wait")


def test_an_answer_leads_to_its_reason(visit: Callable[..., Page], studio: Served) -> None:
    """From a wrongly answered row no way led to why: its answer and "differs" did nothing."""
    page = visit(studio, "/data?project=sample&state=labelled&differs=true&split=test")
    row = page.locator("[data-role=utterances] tr[data-id]").first
    text = row.locator(".editable").inner_text()
    answer = row.locator(".answer-cell .chip").inner_text()
    row.get_by_text("differs").click()
    expect(page).to_have_url(re.compile("/try"))
    expect(page.get_by_label("Text to try")).to_have_value(text)
    expect(page.locator("[data-role=answer] .answer .chip")).to_have_text(answer)


def test_a_text_with_a_line_break_is_tried_as_one(
    visit: Callable[..., Page], studio: Served
) -> None:
    """Try got another text, did not know it, and offered to add it as a second example."""
    text = "the wifi is slow\nsince the zeppelin landed"
    studio.ask("/projects/sample/texts", {"texts": [{"text": text}]})
    page = visit(studio, "/data?project=sample&text=zeppelin")
    row = page.locator("[data-role=utterances] tr[data-id]")
    expect(row).to_have_count(1)
    row.locator("a.why-answer").click()
    expect(page).to_have_url(re.compile("/try"))
    box = page.get_by_label("Text to try")
    expect(box).to_have_value(text)
    expect(page.locator("[data-role=known]")).to_contain_text("In your project already")
    page.reload()
    expect(page.locator("[data-role=known]")).to_contain_text("In your project already")
    box.fill(f"{text} again")  # what is typed is a text a line
    expect(page.get_by_label("Many answers")).to_contain_text("2 texts")


def test_answers_are_asked_for_in_parts_and_only_for_rows_that_stay_in_view(
    visit: Callable[..., Page], studio: Served
) -> None:
    page = visit(studio, "/data?project=sample")
    rows = page.locator("[data-role=utterances] tr[data-id]")
    expect(page.locator(".answer-cell .chip").first).to_be_visible()
    # While the model is loading the network is idle, and more questions follow.
    expect(page.locator(".answer-cell .chip")).to_have_count(rows.count())
    asked: list[list[str]] = []
    page.on(
        "request",
        lambda sent: (
            asked.append(sent.post_data_json["ids"])
            if sent.url.endswith("/utterances/answers")
            else None
        ),
    )
    search = page.get_by_label("Search in texts")
    # Time stands still between the letters, however slow the machine is.
    page.clock.install()
    page.clock.pause_at(datetime.now(UTC) + timedelta(minutes=1))
    for typed in ("c", "ca", "car"):
        search.fill(typed)
        with page.expect_response(lambda answer: "/utterances?" in answer.url):
            page.clock.run_for(100)
    page.clock.resume()
    # The response is there before its rows are drawn.
    found = studio.ask("/projects/sample/utterances?size=1&text=car")["total"]
    expect(rows).to_have_count(min(found, 50))
    expect(page.locator(".answer-cell .chip")).to_have_count(min(found, 50))
    shown = rows.evaluate_all("all => all.map(row => row.dataset.id)")
    assert [key for ids in asked for key in ids] == shown
    assert max(map(len, asked)) == min(10, len(shown))


def test_a_filter_is_kept_by_name_and_deleted_with_undo(
    visit: Callable[..., Page], studio: Served
) -> None:
    page = visit(studio, "/data?project=sample")
    saved = page.locator("[data-role=saved-filters]")
    expect(page.get_by_role("button", name="Save this filter")).to_have_count(0)
    page.get_by_label("State of the label", exact=True).select_option("unlabelled")
    page.get_by_role("button", name="More filters").click()
    page.get_by_label("Set", exact=True).select_option("pool")
    page.get_by_role("button", name="Save this filter").click()
    page.get_by_label("Name of the filter").fill("to label")
    page.get_by_role("button", name="Save", exact=True).click()
    chip = saved.get_by_role("button", name="to label", exact=True)
    expect(chip).to_have_attribute("aria-pressed", "true")
    page.goto(f"{studio.base}/data?project=sample")
    expect(chip).to_have_attribute("aria-pressed", "false")
    chip.click()
    expect(page.get_by_label("State of the label", exact=True)).to_have_value("unlabelled")
    expect(page.get_by_label("Set", exact=True)).to_have_value("pool")
    expect(page.locator("[data-role=utterances] tr[data-id]").first).to_contain_text("Add label")
    page.get_by_role("button", name="Delete the filter to label").click()
    expect(chip).to_have_count(0)
    page.locator(".toast").get_by_role("button", name="Undo").click()
    expect(chip).to_be_visible()


def test_a_filter_that_another_one_replaces_can_be_brought_back(
    visit: Callable[..., Page], studio: Served
) -> None:
    """A name that was in use took the new filter, and the old one was gone without a word."""
    page = visit(studio)
    chip = page.locator("[data-role=saved-filters]").get_by_role("button", name="mine", exact=True)
    for state in ("unlabelled", "flagged"):
        page.goto(f"{studio.base}/data?project=sample&state={state}")
        page.get_by_role("button", name="Save this filter").click()
        page.get_by_label("Name of the filter").fill("mine")
        page.get_by_role("button", name="Save", exact=True).click()
        expect(chip).to_have_attribute("aria-pressed", "true")
    told = page.locator(".toast", has_text="“mine” was in use: it is this filter now.")
    told.get_by_role("button", name="Undo").click()
    expect(chip).to_have_attribute("aria-pressed", "false")
    chip.click()
    expect(page.get_by_label("State of the label", exact=True)).to_have_value("unlabelled")


def test_a_link_to_an_intent_that_is_gone_says_so(
    visit: Callable[..., Page], studio: Served
) -> None:
    """“any intent” stood above a list without a row."""
    page = visit(studio, "/data?project=sample&intent=gone")
    chosen = page.get_by_label("Intent", exact=True).locator("option:checked")
    expect(chosen).to_have_text("an intent that is gone")


def test_answers_have_a_column_once_there_is_a_model(
    visit: Callable[..., Page], studio: Served
) -> None:
    """Before the first training the column was empty without a reason; sets were a dash."""
    page = visit(studio)

    def untrained(route: Route) -> None:
        route.fulfill(json=route.fetch().json() | {"champion": None})

    reroute(page, "**/projects/sample/status", untrained)
    page.goto(f"{studio.base}/data?project=sample&state=unlabelled")
    expect(page.locator("[data-role=utterances] td.split").first).to_have_text("in no set")
    head = page.locator("[data-role=utterances] th")
    expect(head.nth(3)).to_be_hidden()
    page.unroute_all(behavior="wait")
    expect(head.nth(3)).to_have_text("Answer")
    expect(head.nth(3)).to_be_visible()
    expect(page.locator(".answer-cell .chip").first).to_be_visible()
