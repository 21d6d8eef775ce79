"""Pages are drawn anew while somebody works on them, who is neither disturbed nor misled."""

from collections.abc import Callable
from itertools import count
from pathlib import Path

from playwright.sync_api import Page, Route, expect

from tests.builders.held_answers import Held, hold, reroute
from tests.builders.served_studio import Served, run

_FOCUS = "() => document.activeElement.dataset.key ?? document.activeElement.tagName"


def test_rows_that_somebody_else_changes_keep_focus_and_scroll(
    visit: Callable[..., Page], studio: Served
) -> None:
    page = visit(studio, "/data?project=sample")
    row = page.locator("[data-role=utterances] tbody tr").nth(40)
    expect(page.locator("td.answer-cell").last).not_to_be_empty()  # answers follow the rows
    row.locator("button.editable").focus()
    held, scrolled = page.evaluate(_FOCUS), page.evaluate("scrollY")
    assert held.startswith("edit ")
    assert scrolled > 0
    change(studio, str(row.get_attribute("data-id")), "move", "test")
    expect(row).to_contain_text("test")
    assert page.evaluate(_FOCUS) == held
    assert page.evaluate("scrollY") == scrolled


def test_the_focus_goes_to_the_row_after_a_deleted_one(
    visit: Callable[..., Page], studio: Served
) -> None:
    page = visit(studio, "/data?project=sample")
    rows = page.locator("[data-role=utterances] tbody tr")
    ids = [rows.nth(place).get_attribute("data-id") for place in (3, 4)]
    rows.nth(3).get_by_role("button", name="Delete this text").focus()
    page.keyboard.press("Enter")
    expect(page.locator(f"tr[data-id='{ids[0]}']")).to_have_count(0)
    assert page.evaluate(_FOCUS) == f"delete {ids[1]}"


def test_the_focus_stays_among_the_pages_where_there_is_no_next_one(
    visit: Callable[..., Page], studio: Served
) -> None:
    """On the last page Next could not be pressed, and the focus went to the top."""
    pages = -(-studio.ask("/projects/sample/utterances?size=1")["total"] // 50)
    page = visit(studio, f"/data?project=sample&page={pages - 2}")
    page.get_by_role("button", name="Next", exact=True).press("Enter")
    expect(page.locator("[data-role=total]")).to_contain_text(f"page {pages} of {pages}")
    assert page.evaluate(_FOCUS) == "Previous"


def test_escape_leads_from_a_finder_back_to_where_it_was_opened(
    visit: Callable[..., Page], studio: Served
) -> None:
    page = visit(studio, "/data?project=sample&state=unlabelled")
    row = page.locator("[data-role=utterances] tr[data-id]").first
    label = row.get_by_role("button", name="Add label")
    label.press("Enter")
    expect(page.get_by_role("combobox", name="Find an intent")).to_be_focused()
    page.keyboard.press("Escape")
    expect(label).to_be_focused()
    row.get_by_role("checkbox").check()
    page.get_by_role("combobox", name="Intent to label with").press("Escape")
    expect(page.get_by_label("What to do")).to_be_focused()


def test_what_to_do_with_the_picked_rows_outlives_another_pick(
    visit: Callable[..., Page], studio: Served
) -> None:
    page = visit(studio, "/data?project=sample")
    picks = page.locator("tbody input[type=checkbox]")
    picks.nth(0).check()
    page.get_by_label("What to do").select_option("move:test")
    picks.nth(1).check()
    expect(page.locator("[data-role=picked]")).to_have_text("2 texts picked")
    expect(page.get_by_label("What to do")).to_have_value("move:test")
    expect(page.get_by_role("combobox", name="Intent to label with")).to_be_hidden()


def test_nothing_can_be_applied_before_an_intent_is_chosen(
    visit: Callable[..., Page], studio: Served
) -> None:
    """The bar began with the first intent and a button that would have labelled with it."""
    page = visit(studio, "/data?project=sample")
    page.locator("tbody input[type=checkbox]").first.check()
    intent, apply = (
        page.get_by_role("combobox", name="Intent to label with"),
        page.get_by_role("button", name="Apply"),
    )
    expect(intent).to_have_value("")
    expect(apply).to_be_disabled()
    page.get_by_label("What to do").select_option("flag")
    expect(apply).to_be_enabled()
    page.get_by_label("What to do").select_option("label")
    expect(apply).to_be_disabled()
    intent.fill("roam")
    page.keyboard.press("Enter")  # of many texts no beginning of a name decides
    expect(apply).to_be_disabled()
    intent.fill("roaming")
    page.keyboard.press("Enter")
    expect(apply).to_be_enabled()
    expect(apply).to_be_focused()
    page.get_by_role("button", name="roaming: choose another intent").click()
    expect(intent).to_be_focused()
    expect(apply).to_be_disabled()


def test_a_link_of_the_header_keeps_the_focus(visit: Callable[..., Page], studio: Served) -> None:
    page = visit(studio, "/data?project=sample")
    labels = count(2)

    def one_more(route: Route) -> None:
        route.fulfill(json={**route.fetch().json(), "hot": next(labels)})

    reroute(page, "**/status", one_more)
    link = page.locator(".state a", has_text="changes since version 1")
    link.focus()
    before = link.inner_text()
    expect(link).not_to_have_text(before)
    assert page.evaluate(_FOCUS) == "hot"


def test_an_older_answer_does_not_come_after_a_newer_one(
    visit: Callable[..., Page], studio: Served
) -> None:
    """A slow answer about the project's state went over a later one, and the count went back."""
    page = visit(studio, "/label?project=sample")
    page.wait_for_selector(".option")
    state = page.request.get(f"{studio.base}/api/projects/sample/status").json()
    asked: list[Route] = []
    reroute(page, "**/status", lambda route: asked.append(route))
    held = Held(page, asked)
    held.arrived()
    page.keyboard.press("Enter")
    held.arrived(2)
    link = page.locator(".state a", has_text="since version 1")
    asked[1].fulfill(json={**state, "hot": 7})
    expect(link).to_contain_text("7 changes")
    asked[0].fulfill(json={**state, "hot": 6})
    page.wait_for_timeout(300)
    expect(link).to_contain_text("7 changes")
    for late in asked[2:]:
        late.abort()
    page.unroute_all(behavior="ignoreErrors")


def test_the_expected_intent_outlives_an_answer_given_anew(
    visit: Callable[..., Page], studio: Served
) -> None:
    page = visit(studio, "/try?project=sample&text=no+signal")
    expected = page.get_by_label("Expected intent")
    expected.select_option(label="roaming")
    expected.focus()
    chosen = expected.input_value()
    page.evaluate(
        "() => { document.querySelector('[data-role=answer]').firstChild.dataset.old = 'yes' }"
    )
    change(studio, unlabelled(studio), "label", an_intent(studio))
    page.wait_for_selector("[data-role=answer] > [data-old]", state="detached")
    page.wait_for_selector("[data-role=answer] .vote")
    expect(expected).to_have_value(chosen)
    assert page.evaluate(_FOCUS) == "expected"


def test_the_keyboard_gives_an_utterance_several_intents(
    visit: Callable[..., Page], studio: Served, tmp_path: Path
) -> None:
    few(studio, tmp_path, "several", "--multi-label")
    page = visit(studio, "/label?project=several")
    page.wait_for_selector("[data-role=utterance]:not(:empty)")
    page.keyboard.press("1")
    option = page.get_by_role("button", name="first", pressed=True)
    option.focus()
    held = page.evaluate(_FOCUS)
    page.keyboard.press("2")
    expect(page.get_by_role("button", name="second", pressed=True)).to_be_visible()
    assert page.evaluate(_FOCUS) == held


def test_after_the_last_label_the_card_says_that_nothing_is_left(
    visit: Callable[..., Page], studio: Served, tmp_path: Path
) -> None:
    few(studio, tmp_path, "last")
    page = visit(studio, "/label?project=last")
    page.wait_for_selector("[data-role=utterance]:not(:empty)")
    for _ in range(3):
        page.keyboard.press("1")
    expect(page.locator("h2", has_text="Nothing is left to label")).to_be_visible()
    expect(page.locator("[data-role=left]")).to_have_text("")
    expect(page.get_by_label("Order of the queue")).to_be_hidden()  # there is nothing to order
    rest = page.locator("[data-role=rest]")
    expect(rest).to_contain_text("All 3 texts have a label. Next: ")
    expect(rest.locator(".primary")).to_have_text(["Import more texts"])  # of one intent alone
    page.keyboard.press("/")  # the finder is out of sight
    expect(page.locator(".toast")).to_contain_text("No text waits here.")


def test_a_label_saved_while_the_queue_was_asked_is_no_text_of_others(
    visit: Callable[..., Page], studio: Served, tmp_path: Path
) -> None:
    """The answer still counted it, came after it was saved, and nothing asked again."""
    few(studio, tmp_path, "lagging")
    page = visit(studio, "/label?project=lagging")
    page.wait_for_selector("[data-role=utterance]:not(:empty)")
    for _ in range(2):
        page.keyboard.press("1")
    expect(page.locator("[data-role=saved]")).to_have_text("all saved")
    page.wait_for_load_state("networkidle")
    late = hold(page, "**/queue?**", most=1)
    page.keyboard.press("1")
    late.arrived()
    expect(page.locator("[data-role=saved]")).to_have_text("all saved")
    late.routes[0].fulfill(
        json={"items": [], "waiting": 1, "model": "none", "order": "helps"},
    )
    expect(page.locator("h2", has_text="Nothing is left to label")).to_be_visible()


def test_what_lies_in_the_tray_does_not_come_back_to_the_card(
    visit: Callable[..., Page], studio: Served, tmp_path: Path
) -> None:
    few(studio, tmp_path, "tray")
    page = visit(studio, "/label?project=tray")
    card = page.locator("[data-role=utterance]")
    page.wait_for_selector("[data-role=utterance]:not(:empty)")
    page.keyboard.press("t")
    for _ in range(2):
        page.keyboard.press("1")
    expect(page.locator("[data-role=saved]")).to_have_text("all saved")
    page.get_by_role("button", name="Look again").click()
    page.wait_for_timeout(300)
    expect(card).to_be_hidden()
    page.get_by_role("button", name="Back into the queue").click()
    expect(card).to_be_visible()


def few(studio: Served, folder: Path, project: str, *options: str) -> None:
    """Make a project of three texts and two intents."""
    file = folder / "texts.txt"
    file.write_text("one\ntwo\nthree\n", encoding="utf-8")
    run(studio.home, "new", project, *options)
    run(studio.home, "import", project, str(file))
    for name in ("first", "second"):
        studio.ask(f"/projects/{project}/intents", {"name": name})


def change(studio: Served, utterance: str, kind: str, value: str) -> None:
    edit = {"filter": {"ids": [utterance]}, "kind": kind, "value": value, "expected": 1}
    studio.ask("/projects/sample/edits", edit)


def an_intent(studio: Served) -> str:
    return str(studio.ask("/projects/sample/overview")["intents"][0]["id"])


def unlabelled(studio: Served) -> str:
    found = studio.ask("/projects/sample/utterances?state=unlabelled&size=1")
    return str(found["rows"][0]["id"])


def test_how_long_ago_something_was_follows_the_clock(
    visit: Callable[..., Page], studio: Served
) -> None:
    """An open page said "just now" for hours."""
    page = visit(studio, "/versions?project=sample")
    [made] = {one["created_at"] for one in studio.ask("/projects/sample/versions")["models"]}
    page.clock.install(time=made)
    page.reload()
    when = page.locator("[data-role=since]").first
    expect(when).to_have_text("just now")
    page.clock.fast_forward("05:00")
    expect(when).to_have_text("5 min ago")
    page.clock.fast_forward("23:40:00")
    expect(when).to_have_text("23 h ago")  # “24 h ago” stood there before a day was over


def test_the_map_of_a_version_that_goes_live_is_shown_when_asked_for(
    visit: Callable[..., Page], studio: Served
) -> None:
    """A colleague promoted a version, and every point moved under the hand that drew a lasso."""
    live = 1

    def told(route: Route) -> None:
        route.fulfill(json={**route.fetch().json(), "champion": live})

    page = visit(studio)
    page.route("**/status", told)
    page.goto(f"{studio.base}/map?project=sample")
    page.wait_for_selector(".map[data-ready=true]")
    live = 2
    offer = page.locator("[data-role=map-offer]")
    expect(offer).to_contain_text("Version 2 is live now and has a map of its own.")
    with page.expect_request("**/projects/sample/map?*"):
        offer.get_by_role("button", name="Show it").click()
    expect(offer).to_be_hidden()
