"""What people said: changes with their texts, coverage, groups, and a page without traffic."""

import csv
import re
from collections.abc import Callable

from playwright.sync_api import Page, Route, expect

from tests.browser.test_accessibility import AXE, faults
from tests.builders.held_answers import hold
from tests.builders.served_studio import Served
from tests.builders.traffic.two_weeks import RISING, SECOND, SILENT, two_weeks
from tests.waiting import wait_until


def test_changes_are_told_with_their_texts_and_lead_to_groups(
    visit: Callable[..., Page], talked: Served
) -> None:
    page = visit(talked, "/discover?project=sample")
    page.get_by_role("button", name="What people said").click()
    change = page.locator("[data-role=changes] details").filter(has_text=f"{RISING}: up from")
    change.locator("summary").click()
    expect(change.locator("[data-role=said] li").first).to_contain_text("times: ")
    expect(page.locator("[data-role=covered]")).to_contain_text("Before, it was")
    expect(page.locator("[data-role=covered]")).not_to_contain_text("many figures")
    # “What people say now” headed texts of a week in February.
    told = page.locator("[data-role=traffic]").get_by_text(" days before.")
    # “The last week” was one in February.
    expect(page.get_by_label("What people wrote in").locator("option").first).to_have_text(
        "the last week with texts"
    )
    expect(told).to_have_text(re.compile(r"days before\. The newest text is \d[\d,]* days old\.$"))
    sure = page.locator("[data-role=sure]")
    # “62 %, before 60 %. That means 80 % sure or more”: three percents that mean three things.
    sure_of = r"^\d+\.\d % got an answer that the model is clearly sure of \(before: \d+\.\d %\)\.$"
    expect(sure).to_contain_text(re.compile(sure_of))
    expect(page.locator("[data-role=answered-chart][data-ready=true]")).to_be_visible()
    expect(page.locator("[data-role=sources] tbody tr")).to_have_count(2)
    row = page.locator("[data-role=volumes] tbody tr").filter(has_text=RISING)
    expect(row).to_contain_text("more than chance")
    # A share of ten texts stood there like one of a thousand.
    expect(row.locator("td").nth(2)).to_have_text(re.compile(r"^\d+\.\d % \(\d+\.\d to \d+\.\d\)$"))
    asked = row.get_by_role("link", name=RISING)  # one could not be clicked
    expect(asked).to_have_attribute("href", re.compile(r"/data\?project=sample&intent=\w+"))
    # Its share stood there for all texts alone: not by week, nor by source.
    parts = page.locator(f"[data-role=volumes] tr:has-text('{RISING}') + tr details").first
    parts.locator("summary").click()
    expect(parts.locator("tbody").first.locator("tr td:first-child")).to_have_text(
        ["3 Feb", "27 Jan"]
    )
    expect(parts.locator("tbody").last).to_contain_text("app")
    expect(page.locator("[data-role=typical]").first).to_contain_text("“")
    expect(page.locator("[data-role=blind-spots]")).to_contain_text(SILENT)
    group = page.locator("[data-role=uncovered] [data-key^=to-group]").first
    name = group.inner_text().replace(" ", "_")  # as an intent is named
    group.click()
    expect(page.get_by_role("textbox", name="Name of the group")).to_have_value(name)
    page.keyboard.press("j")  # the keys of the groups are those of the tab that is open
    expect(page.get_by_role("textbox", name="Name of the group")).not_to_have_value(name)


def test_the_texts_of_the_shown_days_are_downloaded_with_their_times(
    visit: Callable[..., Page], talked: Served
) -> None:
    page = visit(talked, "/discover?project=sample&tab=traffic")
    link = page.get_by_role("link", name="Download these texts (CSV)")
    with page.expect_download() as coming:
        link.press("Enter")
    assert coming.value.suggested_filename == "sample-traffic.csv"
    with coming.value.path().open(encoding="utf-8", newline="") as file:
        head, *rows = csv.reader(file)
    assert head == ["time", "source", "text"]
    expected = [one for one in two_weeks() if one.time.startswith(SECOND)]
    assert [(time, source) for time, source, _ in rows] == [(o.time, o.source) for o in expected]


def test_two_sources_that_are_chosen_are_compared(
    visit: Callable[..., Page], talked: Served
) -> None:
    """Each source was compared with all others together, and no pair could be chosen."""
    page = visit(talked, "/discover?project=sample&tab=traffic")
    page.get_by_text("Compare two sources").click()
    told = page.locator("[data-role=compared]")
    expect(told.locator("li")).to_have_count(3, timeout=30_000)
    expect(told).to_contain_text(re.compile(r"Answered surely: app \d+\.\d %.*; phone \d+\.\d %"))
    page.locator("select[data-key=compare-against]").select_option("app")
    expect(told).to_have_text("Choose two different sources.")


def test_a_group_chosen_while_the_list_comes_stays(
    visit: Callable[..., Page], talked: Served
) -> None:
    """The list was asked for with another group, and came back to it behind the key."""
    page = visit(talked, "/discover?project=sample")
    chosen = page.locator("[data-role=groups] button[aria-pressed=true] .what")
    expect(chosen).to_be_visible()
    page.get_by_role("button", name="What people said").click()
    group = page.locator("[data-role=uncovered] [data-key^=to-group]").first
    expect(group).to_be_visible()
    held = hold(page, "**/projects/sample/groups")
    group.click()
    held.arrived()
    before = chosen.inner_text()
    page.keyboard.press("j")
    expect(chosen).not_to_have_text(before)
    newest = chosen.inner_text()
    held.release()
    expect(page.get_by_role("textbox", name="Name of the group")).to_have_value(
        newest.replace(" ", "_")  # as an intent is named
    )
    expect(chosen).to_have_text(newest)


def test_the_tab_has_an_address_and_fits_a_phone(
    visit: Callable[..., Page], talked: Served
) -> None:
    phone = {"width": 390, "height": 844}
    page = visit(talked, "/discover?project=sample&tab=traffic", viewport=phone)
    expect(page.locator("[data-role=answered-chart][data-ready=true]")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.evaluate(AXE)
    assert faults(page) == []
    page.emulate_media(color_scheme="dark")
    page.wait_for_function("document.body.classList.contains('dark')")
    assert faults(page, "color-contrast") == []
    page.get_by_label("What people wrote in").select_option("28")
    expect(page.locator("[data-role=traffic]")).to_contain_text("(days by UTC).")
    expect(page.locator("[data-role=traffic]")).to_contain_text("nothing to compare with")
    # It said above that they are “compared with the 28 days before”.
    expect(page.locator("[data-role=traffic]")).not_to_contain_text("compared with the")


def test_without_traffic_the_page_says_where_to_send_it(
    visit: Callable[..., Page], studio: Served
) -> None:
    page = visit(studio, "/discover?project=sample&tab=traffic")
    lines = "time,text,channel\n2026-02-02 10:00,hello you,app\nsoon,bye,app\n"
    file = {"name": "log.csv", "mimeType": "text/csv", "buffer": lines.encode()}
    page.get_by_label("Log to import").set_input_files([file])  # type: ignore[list-item]
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("1 text with a time, said from 2026-02-02 to 2026-02-02.")
    expect(dialog).to_contain_text("1 row without a time that can be read: left out (“soon”).")
    dialog.get_by_role("button", name="Cancel").click()
    address = page.locator("[data-role=address]")
    expect(address).to_have_text(f"{studio.base}/api/projects/sample/traffic")
    expect(page.locator("[data-role=nothing-sent]")).to_contain_text('"source": "app"')
    page.get_by_label("Log to import").set_input_files([file])  # type: ignore[list-item]
    dialog.get_by_role("button", name="Store 1 text").click()
    expect(page.locator("[data-role=covered]")).to_contain_text("of 1 text got an intent")
    page.keyboard.press("u")  # Undo stands beside it, as on the other pages
    expect(page.locator("[data-role=newest]")).to_contain_text(
        "Taken back: 1 text of “log.csv” stored"
    )
    expect(page.locator("[data-role=nothing-sent]")).to_be_visible()


def test_a_log_is_deleted_as_the_page_is_left(visit: Callable[..., Page], studio: Served) -> None:
    """It stayed in the home for a day, with all personal data, whenever the tab was closed."""
    page = visit(studio, "/discover?project=sample&tab=traffic")
    lines = "time,text\n2026-02-02 10:00,write to anna@example.org\n"
    file = {"name": "log.csv", "mimeType": "text/csv", "buffer": lines.encode()}
    page.get_by_label("Log to import").set_input_files([file])  # type: ignore[list-item]
    expect(page.get_by_role("dialog")).to_contain_text("1 piece of personal data will be masked")
    uploads = studio.home / "uploads"
    assert len(list(uploads.iterdir())) == 1
    page.goto("about:blank")
    wait_until(lambda: not list(uploads.iterdir()), "the log is deleted", 20)


def test_a_log_is_imported_before_the_first_version_answers(
    visit: Callable[..., Page], studio: Served
) -> None:
    """The page said that no version answers, and had no way to bring the texts in."""
    studio.ask("/projects", {"name": "untrained"})
    page = visit(studio, "/discover?project=untrained&tab=traffic")
    empty = page.locator("[data-role=traffic]")
    expect(empty).to_contain_text("No version answers yet")
    lines = "time,text\n2026-02-02 10:00,hello you\n2026-02-02 10:01,bye you\n"
    file = {"name": "log.csv", "mimeType": "text/csv", "buffer": lines.encode()}
    page.get_by_label("Log to import").set_input_files([file])  # type: ignore[list-item]
    page.get_by_role("dialog").get_by_role("button", name="Store 2 texts").click()
    expect(page.locator("[data-role=newest]")).to_contain_text("2 texts of “log.csv” stored")
    expect(empty.locator("[data-role=first-act]")).to_have_text("Label a few texts")
    assert studio.ask("/projects/untrained/overview")["counts"]["unlabelled"] == 2
    page.get_by_role("button", name="Undo").click()
    expect(empty.locator("[data-role=first-act]")).to_have_text("Import texts")


def test_columns_of_a_log_are_chosen_where_their_names_do_not_tell(
    visit: Callable[..., Page], studio: Served
) -> None:
    page = visit(studio, "/discover?project=sample&tab=traffic")
    lines = "stamp,what they wrote,place\n2026-02-02 10:00,is it you,shop\n2026-02-02 10:01\n"
    file = {"name": "odd.csv", "mimeType": "text/csv", "buffer": lines.encode()}
    page.get_by_label("Log to import").set_input_files([file])  # type: ignore[list-item]
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Choose the columns above. odd.csv has no column of texts.")
    dialog.get_by_label("Texts").select_option("what they wrote")
    expect(dialog).to_contain_text("1 text with a time, said from 2026-02-02 to 2026-02-02.")
    expect(dialog).to_contain_text("1 row with too few or too many cells: left out.")
    expect(dialog).to_contain_text("By source: odd.csv 1.")
    unnamed = dialog.locator("[data-role=unnamed]")
    expect(unnamed).to_contain_text("1 text has the file’s name as source.")
    dialog.get_by_label("Source of rows without one").fill("web")
    dialog.get_by_label("Source of rows without one").blur()
    expect(dialog).to_contain_text("By source: web 1.")
    expect(unnamed).to_have_count(0)
    dialog.get_by_label("Source, such as").select_option("place")
    expect(dialog).to_contain_text("By source: shop 1.")
    dialog.get_by_label("Beside it, such as the language").select_option("what they wrote")
    expect(dialog).to_contain_text("By source: shop · is it you 1.")
    dialog.get_by_label("Beside it, such as the language").select_option("")
    expect(dialog).to_contain_text("By source: shop 1.")
    dialog.get_by_role("button", name="Store 1 text").click()
    expect(page.locator("[data-role=covered]")).to_contain_text("of 1 text got an intent")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("[data-role=nothing-sent]")).to_be_visible()


def test_what_a_bot_said_in_a_log_is_left_out_unless_somebody_wants_it(
    visit: Callable[..., Page], studio: Served
) -> None:
    page = visit(studio, "/discover?project=sample&tab=traffic")
    lines = "date,time,role,message\n2026-02-02,10:00,bot,hello\n2026-02-02,10:01,user,is it you\n"
    file = {"name": "turns.csv", "mimeType": "text/csv", "buffer": lines.encode()}
    page.get_by_label("Log to import").set_input_files([file])  # type: ignore[list-item]
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("1 text with a time, said from 2026-02-02 to 2026-02-02.")
    expect(dialog).to_contain_text("Who spoke is told by the column “role”.")
    expect(dialog).to_contain_text("1 row of a bot, an agent or a system: left out.")
    expect(dialog).to_contain_text("Times are those of “date” and “time” together.")
    speaks = dialog.get_by_label("Who speaks")
    expect(speaks).to_have_value("role")
    speaks.select_option("")
    expect(dialog).to_contain_text("2 texts with a time, said from 2026-02-02 to 2026-02-02.")
    dialog.get_by_role("button", name="Cancel").click()


def test_a_transcript_needs_its_day_and_its_customer(
    visit: Callable[..., Page], studio: Served
) -> None:
    page = visit(studio, "/discover?project=sample&tab=traffic")
    lines = "Anna: is it you\nBen: It is.\nAnna: thanks\n"
    file = {"name": "call.txt", "mimeType": "text/plain", "buffer": lines.encode()}
    page.get_by_label("Log to import").set_input_files([file])  # type: ignore[list-item]
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text(
        "call.txt does not say on which day it was said, and who is the customer."
    )
    dialog.get_by_label("The customer").select_option("Anna")
    expect(dialog).to_contain_text("call.txt does not say on which day it was said.")
    dialog.get_by_label("When it began").fill("2026-02-02T10:00")
    dialog.get_by_label("When it began").blur()
    expect(dialog).to_contain_text("2 texts with a time, said from 2026-02-02 to 2026-02-02.")
    dialog.get_by_role("button", name="Cancel").click()


def test_a_sample_is_called_one(visit: Callable[..., Page], talked: Served) -> None:
    """60,000 texts were sent, and the page spoke of 5,000."""

    def sampled(route: Route) -> None:
        found = route.fetch().json()
        route.fulfill(json=found | {"sent": 61_000, "sent_before": 52_000})

    page = visit(talked, "/discover?project=sample")
    page.route("**/projects/sample/traffic?*", sampled)
    page.get_by_role("button", name="What people said").click()
    covered = page.locator("[data-role=covered]")
    words = re.compile(r"% of a fair sample of \d+ texts \(of about 61,000\) got an intent")
    expect(covered).to_contain_text(words)
    expect(covered).to_contain_text("texts (of about 52,000)")
    expect(page.get_by_role("region", name="What is not answered")).to_contain_text(
        re.compile(r"\d+ texts of the sample got no intent")
    )


def test_a_group_of_unlike_texts_is_called_mixed(
    visit: Callable[..., Page], talked: Served
) -> None:
    """The group “you are the best” held “good recipe for lentils”."""

    def mixed(route: Route) -> None:
        found = route.fetch().json()
        found["uncovered"] = [one | {"mixed": bool(one["id"])} for one in found["uncovered"]]
        route.fulfill(json=found)

    page = visit(talked, "/discover?project=sample")
    page.route("**/projects/sample/traffic?*", mixed)
    page.get_by_role("button", name="What people said").click()
    group = page.locator("[data-role=uncovered] tr", has=page.locator("[data-key^=to-group]")).first
    expect(group).to_contain_text("a mixed group")


def test_texts_in_no_group_lead_to_the_button_that_groups_them(
    visit: Callable[..., Page], talked: Served
) -> None:
    """“in no group yet” stood there, and nothing said where texts are grouped."""

    def lacks_groups(route: Route) -> None:
        found = route.fetch().json()
        grouped = [one for one in found["uncovered"] if one["id"]][:1]  # none while it is counted
        alone = [{**one, "id": "", "name": "in no group"} for one in grouped]
        route.fulfill(json={**found, "uncovered": grouped + alone})

    def ungrouped(route: Route) -> None:
        route.fulfill(json={**route.fetch().json(), "ungrouped": 3})

    page = visit(talked, "/")
    page.route("**/projects/sample/traffic?*", lacks_groups)
    page.route("**/projects/sample/groups", ungrouped)
    page.goto(f"{talked.base}/discover?project=sample&tab=traffic")
    row = page.locator("[data-role=uncovered] tr", has_text="in no group yet")
    row.get_by_role("link", name="Sort them in").click()
    expect(page.get_by_role("button", name="Sort them in")).to_be_focused()
    page.unroute_all(behavior="wait")
