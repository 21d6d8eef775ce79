"""What a designer sees at first sight: one thing to do, nothing cut off, broken or crowded."""

import json
import re
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.builders.conversation_logs import with_conversations
from tests.builders.served_studio import Served, probe
from tests.builders.trained_home import opened

PHONE = {"width": 390, "height": 844}
PAGES = (
    ("data", "[data-role=utterances] tbody tr"),
    ("label", ".option"),
    ("discover", "[data-role=typical] li"),
    ("slots", "[data-key=accept]"),
    ("review?tab=border", ".walk li"),
    ("review?tab=fence", ".figure"),
    ("train", "[data-role=estimate]:not(:empty)"),
    ("try?text=no+signal", ".vote"),
    ("versions", "[data-role=models] > li"),
)
EMPTY = ("data", "discover", "slots", "review", "map", "train", "try", "versions")
PRIMARY = ".content .primary:visible"
MANY = "my router is broken\nwho won the match last night\nhello\nI want to pay less"


def test_a_page_has_one_primary_action_and_room_between_its_controls(
    visit: Callable[..., Page], studio: Served
) -> None:
    """Train had two without labels, Slots two without values; Save touched a list below it."""
    page = visit(studio, "/")
    studio.ask("/projects", {"name": "new"})
    for name in EMPTY:
        page.goto(f"{studio.base}/{name}?project=new")
        expect(page.locator(PRIMARY)).to_have_text(["Import texts"])
    for name, shown in PAGES:
        page.goto(f"{studio.base}/{name}{'&' if '?' in name else '?'}project=sample")
        page.wait_for_selector(shown)
        assert page.locator(PRIMARY).count() <= 1, name
        if "tab" in name:
            assert page.evaluate(probe("crowded")) == [], name
    page.goto(f"{studio.base}/review?project=sample&tab=fence")
    page.wait_for_selector(".figure")  # before, there is no line to move
    page.get_by_label("Limit", exact=True).press("End")
    page.get_by_text("answers would change").wait_for()
    assert page.evaluate(probe("crowded")) == []


def test_a_pair_of_long_names_is_not_wider_than_its_sheet(
    visit: Callable[..., Page], studio: Served
) -> None:
    """On a phone what chooses a mixed-up pair reached over the edge of the page's sheet."""
    page = visit(studio, "/review?project=sample&tab=border", viewport=PHONE)
    page.wait_for_selector(".walk li")
    pair = page.get_by_label("Mixed up most")
    pair.evaluate(
        "at => at.options[0].text = 'change_user_name answered as change_other_name (8 texts)'"
    )
    inner, outer = pair.bounding_box(), page.locator(".sheet").bounding_box()
    assert inner
    assert outer
    assert inner["x"] + inner["width"] < outer["x"] + outer["width"]


def test_a_chart_is_drawn_for_day_and_night_with_all_its_words(
    visit: Callable[..., Page], studio: Served
) -> None:
    """By night its words stayed black; ticks read “95%” twice; a title was cut in the middle."""
    page = visit(studio, "/versions?project=sample", color_scheme="light")
    page.get_by_text("Charts and figures for researchers").click()
    page.wait_for_selector("[data-role=shapes] .point")
    expect(page.locator("[data-role=shapes-basis]")).not_to_contain_text("Measuring")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        # The frame follows the system in a listener, after this call has returned.
        followed = "night => document.body.classList.contains('dark') === night"
        page.wait_for_function(followed, arg=scheme == "dark")
        ink = page.locator("h1").evaluate("at => getComputedStyle(at).color")
        for chart in ("accuracy-chart", "shapes"):
            title = page.locator(f"[data-role={chart}] .ytitle")
            expect(title).to_have_css("fill", ink)
            inside = "at => at.getBoundingClientRect().height < at.closest('svg').clientHeight"
            assert title.evaluate(inside), chart
            ticks = page.locator(f"[data-role={chart}] .ytick text")
            ends = "all => Math.min(...all.map(at => at.getBoundingClientRect().left))"
            starts = title.evaluate("at => at.getBoundingClientRect().right")
            assert starts <= ticks.evaluate_all(ends), f"the title of {chart} lies on its ticks"
    ticks = page.locator("[data-role=accuracy-chart] .ytick").all_text_contents()
    assert len(set(ticks)) == len(ticks)
    assert all(tick.endswith(" %") for tick in ticks), ticks


def test_an_empty_box_does_not_look_disabled_by_night(
    visit: Callable[..., Page], studio: Served
) -> None:
    """The browser's own is dark grey on grey."""
    page = visit(studio, "/data?project=sample", color_scheme="dark")
    box = page.locator("[data-role=utterances] tbody input[type=checkbox]").first
    words = page.locator("[data-role=total]")
    ink = words.evaluate("at => getComputedStyle(at).color")
    expect(box).to_have_css("appearance", "none")
    expect(box).to_have_css("border-top-color", ink)
    box.check()
    expect(box).to_have_css("appearance", "auto")


def test_many_answers_stand_whole_on_a_desk_and_on_a_phone(
    visit: Callable[..., Page], studio: Served
) -> None:
    """“out of scope” broke in two, the first texts were out of sight, a phone cut the figures."""
    page = visit(studio, "/try?project=sample")
    box = page.get_by_label("Text to try")
    box.fill(MANY)
    answers = page.get_by_role("region", name="Many answers")
    expect(answers.locator("tbody tr")).to_have_count(4)
    assert box.evaluate("at => at.scrollHeight - at.clientHeight") <= 1
    heights = answers.locator(".chip").evaluate_all("all => all.map(at => at.offsetHeight)")
    assert max(heights) < 30, heights
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    scroll = answers.locator(".scroll")
    assert scroll.evaluate("at => at.scrollWidth - at.clientWidth") <= 0


def test_conversations_are_in_sight_on_a_phone(
    visit: Callable[..., Page], serve: Callable[..., Served]
) -> None:
    """Their entry of the rail led to the top of Data: the rows came later and pushed them down."""
    studio = serve(empty=True)
    home = opened(studio.home)
    with_conversations(home, studio.home)
    home.database.close()
    page = visit(studio, viewport=PHONE)
    page.goto(f"{studio.base}/data?project=p#conversations")
    page.locator("[data-role=utterances] tbody td").first.wait_for(state="attached")
    expect(page.get_by_role("heading", name="Conversations", level=1)).to_be_in_viewport()
    sheet = page.get_by_role("region", name="Conversations")
    first = sheet.get_by_role("link", name="Label their texts")
    for width in (390, 1280):
        page.set_viewport_size({"width": width, "height": 844})
        expect(first).to_be_in_viewport()
    expect(page.locator(PRIMARY)).to_have_text(["Label their texts"])
    expect(sheet.get_by_role("button", name="Add a log")).to_be_visible()
    expect(page.get_by_role("region", name="Import")).to_be_hidden()
    expect(page).to_have_title("Conversations · p")
    after = sheet.locator("[data-role=after-logs]")
    # "Train from them" did not say what is trained without a model and a label.
    expect(after.get_by_role("link", name="Train “Conversations”")).to_be_visible()
    expect(sheet).to_contain_text("it needs no label, and other trainings can start from it.")
    expect(sheet).to_contain_text("28 of your texts came from it, none of them labelled.")
    expect(sheet).to_contain_text("To mask them, delete the log and its texts")
    expect(sheet.get_by_role("button", name=re.compile("^Delete "))).to_have_text("Delete log …")
    # The whole card looked selected.
    assert sheet.evaluate("at => at === document.activeElement")
    assert sheet.evaluate("at => getComputedStyle(at).outlineStyle") == "none"


def test_a_border_offers_no_relabel_of_a_test_text(
    visit: Callable[..., Page], studio: Served
) -> None:
    """One click gave a text of the test set the label that the model would like."""
    page = visit(studio, "/review?project=sample&tab=border")
    page.wait_for_selector(".walk li")
    row = page.locator(".walk li", has=page.locator(".soft", has_text=re.compile("test$"))).first
    labels = row.get_by_role("button", name=re.compile("^(Label|Relabel)"))
    expect(labels).to_have_count(0)
    row.get_by_text("Wrong label?").click()
    expect(labels.first).to_be_visible()


def test_borders_open_on_the_pair_that_is_mixed_up_most(
    visit: Callable[..., Page], studio: Served
) -> None:
    """It opened on the first two intents: “No text lies between these two.”"""
    asked = "/projects/sample/review?kind=confusion&limit=5"
    pairs = [one["intents"] for one in studio.ask(asked)["findings"]]
    page = visit(studio, "/review?project=sample&tab=border")
    page.wait_for_selector(".walk li")
    offered, sides = page.get_by_label("Mixed up most"), page.get_by_label("Between")
    expect(offered).to_have_value(" ".join(pairs[0]))
    expect(sides).to_have_count(0)  # two controls chose one pair
    expect(offered.locator("option")).to_have_count(len(pairs) + 1)
    offered.select_option(" ".join(pairs[-1]))
    expect(page).to_have_url(re.compile(f"first={pairs[-1][0]}"))
    expect(sides).to_have_count(0)
    offered.select_option("any")
    expect(sides).to_have_value(pairs[-1][0])
    expect(page.locator("select[data-key=and]")).to_have_value(pairs[-1][1])


def test_a_border_begins_with_the_least_clear_texts(
    visit: Callable[..., Page], studio: Served
) -> None:
    """It began with the clearest, though it said that a label in the middle helps most."""
    page = visit(studio, "/review?project=sample&tab=border")
    amounts = page.locator(".walk li .amount:visible")
    amounts.first.wait_for()
    leads = [re.search(r"([\d.]+) points", words) for words in amounts.all_inner_texts()]
    points = [float(lead[1]) if lead else 0.0 for lead in leads]
    assert points == sorted(points)
    assert points[0] < points[-1]


def test_nothing_is_added_to_an_intent_that_nobody_chose(
    visit: Callable[..., Page], studio: Served
) -> None:
    """The first intent of the list was chosen, and one click added any text to it."""
    page = visit(studio, "/review?project=sample&tab=add")
    page.get_by_label("New example").fill("my router is broken")
    button = page.get_by_role("button", name="Add it")
    expect(page.locator("[data-role=collision]")).to_have_text("Choose its intent.")
    expect(button).to_be_disabled()
    page.get_by_label("An example of").select_option(label="no_internet")
    expect(page.get_by_role("button", name="Add it as no_internet")).to_be_enabled()


def test_pages_of_slots_and_conversations_say_what_they_are_for_and_what_to_do_first(
    visit: Callable[..., Page], studio: Served
) -> None:
    """“Words in your texts that fill a slot” told nobody why to mark them, or where to begin."""
    page = visit(studio, "/slots?project=sample")
    expect(page.locator(".lead")).to_contain_text("so that they do not mislead the answers")
    # It said to mark by hand, while the button took what was proposed.
    expect(
        page.get_by_text("known values stand in your texts: untick what is wrong")
    ).to_be_visible()
    expect(page.locator(PRIMARY)).to_have_text([re.compile(r"^Mark \d+ values in")])
    # “34 known values” stood below “No value is marked yet”: known from where?
    expect(page.get_by_role("region", name="Proposals")).to_contain_text("knows by their form")
    page.goto(f"{studio.base}/data?project=sample#conversations")
    sheet = page.get_by_role("region", name="Conversations")
    expect(sheet).to_contain_text("What customers say in a log becomes unlabelled texts of your")
    expect(sheet).to_contain_text("Start with a file of whole conversations")


def test_a_conversation_is_read_turn_by_turn_with_what_is_answered(
    visit: Callable[..., Page], studio: Served, tmp_path: Path
) -> None:
    """A log showed its name alone: nobody could read what was said and answered."""
    log = tmp_path / "chats.jsonl"
    said = ["the wifi does not reach my bedroom", "let me look", "who won the match last night"]
    log.write_text(json.dumps([*said, "sorry?"]) + "\n", encoding="utf-8")
    page = visit(studio, "/data?project=sample")
    page.get_by_role("link", name="Conversations").click()
    page.get_by_label("Log of conversations to import").set_input_files(log)
    expect(page.locator(PRIMARY)).to_have_text(["Import the log"])
    page.get_by_role("button", name="Import the log").click()
    page.get_by_text("Read the conversations").click()
    answers = page.locator("[data-role=turn-answer]")
    expect(answers.first).to_contain_text("wifi_coverage")
    expect(answers.first).to_contain_text("%")
    expect(answers.nth(1)).to_contain_text("out of scope")
    expect(answers).to_have_count(2)
