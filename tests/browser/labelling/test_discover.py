"""A project of raw texts: groups are found, taken by keys, split and merged; more texts join."""

import csv
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from tests.builders.held_answers import hold
from tests.builders.served_studio import Served, StudioPool, run

_SAMPLE = Path(__file__).parents[3] / "assets" / "sample" / "labelled.csv"


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory, studios: StudioPool) -> Iterator[Served]:
    """The sample's texts without their labels, and without an intent."""
    folder = tmp_path_factory.mktemp("raw")
    home = folder / "home"
    with _SAMPLE.open(encoding="utf-8", newline="") as file:
        texts = [row["text"] for row in csv.DictReader(file)]
    for name, part in (("first", texts[:-20]), ("more", texts[-20:])):
        (folder / f"{name}.txt").write_text("\n".join(part) + "\n", encoding="utf-8")
    run(home, "new", "raw")
    run(home, "import", "raw", str(folder / "first.txt"))
    with studios.serving(home) as served:
        yield served


def shows_what_is_marked(page: Page) -> None:
    """Wait until the group that the list marks is there: keys before that act on none."""
    marked = page.locator("[data-role=groups] button[aria-pressed=true] .what")
    name = page.get_by_role("textbox", name="Name of the group")
    expect(name).to_have_value(marked.inner_text())


def counts(studio: Served) -> dict[str, int]:
    found: dict[str, int] = studio.ask("/projects/raw/overview")["counts"]
    return found


def test_raw_texts_become_intents_by_single_keys(visit: Callable[..., Page], raw: Served) -> None:
    page = visit(raw, "/discover?project=raw")
    page.get_by_role("button", name="Find groups").click()
    expect(page.locator("[data-role=grouping]")).to_contain_text("Finding groups")
    group, newest = page.locator("[data-role=group]"), page.locator("[data-role=newest]")
    expect(group.locator("[data-role=typical] li").first).to_be_visible()
    listed = page.locator("[data-role=groups] button[data-key^=group]")
    expect(listed).to_have_count(18)
    named = listed.evaluate_all("rows => rows.map(row => row.querySelector('.what').textContent)")
    assert len(set(named)) == 18
    first = group.get_by_role("textbox", name="Name of the group").input_value()
    primary = group.locator("[data-key='act I']")
    expect(primary).to_contain_text(f"the new intent “{first}”")
    n = int(primary.inner_text().split()[1])
    page.keyboard.press("i")
    expect(newest).to_contain_text(f"{n} texts: {first}")
    assert counts(raw)["labelled"] == n
    expect(listed).to_have_count(17)
    field = group.get_by_role("textbox", name="Name of the group")
    expect(field).not_to_have_value(first)
    expect(primary).to_contain_text(f"“{field.input_value()}”")  # not that of the group before
    page.keyboard.press("u")
    expect(page.locator("[data-role=newest]")).to_contain_text("Taken back")
    expect(listed).to_have_count(18)
    expect(group.get_by_role("textbox", name="Name of the group")).to_have_value(first)
    assert counts(raw)["labelled"] == 0


def test_a_key_of_the_label_page_does_the_same_here_or_nothing(
    visit: Callable[..., Page], studio: Served
) -> None:
    """S skips a text there, and split a group here; T sets one aside, and here labelled sixty."""
    page = visit(studio, "/discover?project=sample")
    expect(page.locator("[data-role=typical] li").first).to_be_visible()
    listed = page.locator("[data-role=groups] button[data-key^=group]").all_inner_texts()
    takes = page.locator("[data-key='act I']")
    offered = takes.inner_text()
    for key in "stma":
        page.keyboard.press(key)
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_have_count(1)  # that of the keys alone
    here = keys_of(page)
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(page.locator("[data-role=newest]")).to_be_hidden()
    assert takes.inner_text() == offered  # as many texts as before
    shown = page.locator("[data-role=groups] button[data-key^=group]").all_inner_texts()
    assert shown == listed
    on_buttons = page.locator("[data-role=group] kbd").all_inner_texts()
    keys = {key for one in on_buttons for key in one.split() if key != "↵"}
    assert keys <= {*here, "1", "2"}
    page.goto(f"{studio.base}/label?project=sample")
    expect(page.locator(".option .share")).to_have_count(5)
    page.keyboard.press("?")
    there = keys_of(page)
    assert {key: here[key] for key in here.keys() & there.keys() - {"Enter"}} == {
        key: there[key] for key in ("U", "Ctrl Z", "0", "O", "/", "?", "Ctrl K")
    }


def keys_of(page: Page) -> dict[str, str]:
    """Return what each key does, as the page lists it; those of numbers differ by what is shown."""
    lines = page.locator("#keys dt").all_inner_texts(), page.locator("#keys dd").all_inner_texts()
    told = {one: words for keys, words in zip(*lines, strict=True) for one in parted(keys)}
    return {key: words for key, words in told.items() if key not in tuple("12345")}


def parted(keys: str) -> list[str]:
    return re.split(" and | or | to ", keys)


def test_an_older_groups_answer_that_comes_late_is_not_shown(
    visit: Callable[..., Page], raw: Served
) -> None:
    """A key was lost without a sign: the list marked the next group, the one before stood open."""
    page = visit(raw, "/discover?project=raw")
    field = page.get_by_role("textbox", name="Name of the group")
    chosen = page.locator("[data-role=groups] button[aria-pressed=true] .what")
    expect(field).to_be_visible()
    held = hold(page, "**/projects/raw/groups/*")
    for n_asked in (1, 2):
        page.keyboard.press("j")
        held.arrived(n_asked)
    held.release(1)
    expect(field).to_have_value(chosen.inner_text())
    held.release(0)
    expect(field).to_have_value(chosen.inner_text())


def test_what_is_unticked_stays_and_the_name_can_be_changed(
    visit: Callable[..., Page], raw: Served
) -> None:
    page = visit(raw, "/discover?project=raw")
    group, newest = page.locator("[data-role=group]"), page.locator("[data-role=newest]")
    primary = group.locator("[data-key='act I']")
    expect(primary).to_be_enabled()
    n = int(primary.inner_text().split()[1])
    box = group.locator("[data-role=typical] li").first
    left = box.locator("span").inner_text()
    box.get_by_role("checkbox").uncheck()
    expect(primary).to_contain_text(f"Make {n - 1} texts the new intent")
    page.keyboard.press("n")
    page.keyboard.type("my_own_name")
    page.keyboard.press("Enter")
    expect(primary).to_contain_text("“my_own_name”")
    page.keyboard.press("i")
    expect(newest).to_contain_text(f"{n - 1} texts: my_own_name")
    rows = raw.ask("/projects/raw/utterances?state=labelled&size=500")["rows"]
    assert len(rows) == n - 1
    assert left not in {row["text"] for row in rows}
    page.keyboard.press("u")
    expect(page.locator("[data-role=newest]")).to_contain_text("Taken back")
    assert counts(raw)["labelled"] == 0


def test_the_click_that_leaves_the_name_takes_the_group(
    visit: Callable[..., Page], raw: Served
) -> None:
    """The button was made anew as the field was left: the first click after typing did nothing."""
    page = visit(raw, "/discover?project=raw")
    primary = page.locator("[data-key='act I']")
    expect(primary).to_be_enabled()
    n = int(primary.inner_text().split()[1])
    page.keyboard.press("n")
    page.keyboard.type("typed_and_clicked")
    primary.click()
    newest = page.locator("[data-role=newest]")
    expect(newest).to_contain_text(f"{n} texts: typed_and_clicked")
    page.keyboard.press("u")
    expect(page.locator("[data-role=newest]")).to_contain_text("Taken back")
    assert counts(raw)["labelled"] == 0


def test_a_group_that_is_an_intent_already_is_first_offered_to_that(
    visit: Callable[..., Page], studio: Served
) -> None:
    """The blue button made “set_alarm” beside the intent “alarm”."""
    [intent, *_] = studio.ask("/projects/sample/overview")["intents"]

    def of_an_intent(route: Route) -> None:
        found = route.fetch().json()
        known = {"intents": [intent["id"]], "same": intent["id"], "cohesion": 0.9}
        route.fulfill(json={**found, **known})

    page = visit(studio, "/")
    page.route(re.compile(r"/projects/sample/groups/\d+$"), of_an_intent)
    page.goto(f"{studio.base}/discover?project=sample")
    primary = page.locator("[data-role=group] .deeds button.primary")
    expect(primary).to_have_text(re.compile(rf"^Put \d+ texts into “{intent['name']}”\s*1 ↵$"))
    page.keyboard.press("n")
    page.keyboard.type("a_name_of_my_own")
    expect(primary).to_contain_text("the new intent “a_name_of_my_own”")
    page.unroute_all(behavior="wait")


def test_the_beginning_of_a_name_puts_no_group_into_an_intent(
    visit: Callable[..., Page], studio: Served
) -> None:
    """Whoever typed the name of a new intent gave thirty texts a longer one that begins so.

    Then Enter did nothing at all: it marks what the next one takes.
    """
    page = visit(studio, "/discover?project=sample")
    expect(page.locator("[data-role=typical] li").first).to_be_visible()
    group, newest = page.locator("[data-role=group]"), page.locator("[data-role=newest]")
    page.keyboard.press("/")
    page.keyboard.type("lost")
    options = group.get_by_role("option")
    expect(options.first).to_contain_text("lost")
    expect(group.get_by_text("Choose one: arrow keys, then Enter.")).to_be_visible()
    page.keyboard.press("Enter")
    expect(group.get_by_text("Enter again takes what is marked")).to_be_visible()
    expect(options.last).to_have_attribute("aria-selected", "true")
    expect(options.last).to_contain_text("Create “lost”")
    expect(newest).to_be_hidden()
    page.keyboard.press("ArrowDown")
    expect(options.first).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Escape")


def test_a_group_is_split_merged_and_left_for_later(
    visit: Callable[..., Page], raw: Served
) -> None:
    page = visit(raw, "/discover?project=raw")
    newest = page.locator("[data-role=newest]")
    listed = page.locator("[data-role=groups] button[data-key^=group]")
    expect(listed).to_have_count(18)
    expect(page.locator("[data-role=groups] .badge")).to_have_count(0)  # nothing joined by an Undo
    expect(page.locator("[data-role=typical] li").first).to_be_visible()
    page.keyboard.press("d")
    expect(newest).to_contain_text("Split “")
    expect(listed).not_to_have_count(18)
    page.keyboard.press("u")
    expect(listed).to_have_count(18)
    shows_what_is_marked(page)
    page.keyboard.press("c")
    dialog = page.get_by_role("dialog")
    likest = dialog.locator("optgroup[label='Most alike'] option")
    expect(likest.first).to_be_attached()
    expect(dialog.locator("optgroup option")).to_have_count(17)
    target = likest.first.inner_text().rpartition(" (")[0]  # chosen until somebody chooses another
    dialog.get_by_role("button", name="Merge").click()
    expect(newest).to_contain_text(f"into “{target}”")
    expect(listed).to_have_count(17)
    shown = page.get_by_role("textbox", name="Name of the group")
    expect(shown).to_have_value(target)  # the next group was shown, and not what had been made
    page.keyboard.press("u")
    expect(listed).to_have_count(18)
    shows_what_is_marked(page)
    page.keyboard.press("l")
    expect(listed).to_have_count(17)
    page.get_by_role("button", name="For later").click()
    expect(listed).to_have_count(1)
    page.keyboard.press("u")
    expect(listed).to_have_count(18)  # those that are open, since no other group is left
    expect(page.get_by_role("group", name="Which groups").get_by_role("button")).to_have_count(0)


def test_new_texts_join_the_groups_that_are_there(visit: Callable[..., Page], raw: Served) -> None:
    page = visit(raw, "/discover?project=raw")
    listed = page.locator("[data-role=groups] button[data-key^=group]")
    expect(listed).to_have_count(18)
    keys = set(listed.evaluate_all("rows => rows.map(row => row.dataset.key)"))
    run(raw.home, "import", "raw", str(raw.home.parent / "more.txt"))
    note = page.locator("[data-role=grouping]")
    expect(note).to_contain_text("new texts are in no group")
    note.get_by_role("button", name="Sort them in").click()
    expect(note).to_contain_text("groups to look at")
    assert set(listed.evaluate_all("rows => rows.map(row => row.dataset.key)")) >= keys
    assert raw.ask("/projects/raw/groups")["ungrouped"] == 0


def test_long_texts_are_cut_and_their_group_has_a_short_name(
    visit: Callable[..., Page], raw: Served
) -> None:
    """Twelve texts of 5,000 characters were a page of 200 lines, and a name filled the window."""
    said = " ".join(f"the parcel of order {n} is late" for n in range(150))
    long = [f"{said} {number}, {'y' * 300} {number}" for number in range(14)]
    path = raw.home.parent / "long.txt"
    path.write_text("\n".join(long) + "\n", encoding="utf-8")
    run(raw.home, "new", "long")
    run(raw.home, "import", "long", str(path))
    page = visit(raw, "/discover?project=long")
    page.get_by_role("button", name="Find groups").click()
    rows = page.locator("[data-role=group] [data-role=typical] li")
    expect(rows.first).to_be_visible()
    heights = rows.evaluate_all("rows => rows.map(row => row.offsetHeight)")
    assert max(heights) < 130
    words = rows.first.locator("span")
    assert words.get_attribute("title") in long
    rows.first.get_by_role("checkbox").focus()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")  # to the box again, by the keyboard: all of the text is shown
    assert words.evaluate("node => node.scrollHeight - node.clientHeight") <= 1
    for name in page.locator("[data-role=groups] .what").all_inner_texts():
        assert 0 < len(name) <= 80


def open_the_largest(page: Page) -> None:
    """Open the largest group; those that are new stand before it."""
    listed = page.locator("[data-role=groups] button[data-key^=group]")
    largest = listed.filter(has_not=page.locator(".badge")).first
    name = largest.locator(".what").inner_text()
    largest.click()
    expect(page.get_by_role("textbox", name="Name of the group")).to_have_value(name)


def test_whoever_groups_anew_reads_that_groups_that_were_taken_stay(
    visit: Callable[..., Page], raw: Served
) -> None:
    page = visit(raw, "/discover?project=raw")
    note, dialog = page.locator("[data-role=grouping]"), page.get_by_role("dialog")
    open_the_largest(page)
    note.get_by_role("button", name="Group anew").click()
    expect(dialog).to_contain_text(re.compile(r"All \d+ groups and their names go"))
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    held = hold(page, "**/projects/raw/groups")
    page.keyboard.press("i")
    expect(page.locator("[data-role=newest]")).to_contain_text("texts")
    held.arrived()  # the list still lacks the group that was taken, and the dialog went by it
    note.get_by_role("button", name="Group anew").click()
    held.arrived(2)
    held.release(1)
    expect(dialog).to_contain_text("Groups that were taken stay. All others and their names go")
    held.release(0)
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    page.keyboard.press("u")
    expect(page.locator("[data-role=newest]")).to_contain_text("Taken back")


def test_all_texts_that_get_a_label_can_be_seen_and_left_out(
    visit: Callable[..., Page], raw: Served
) -> None:
    """Twelve texts were shown, and the button labelled 21: nobody could look at the other nine."""
    page = visit(raw, "/discover?project=raw")
    group, newest = page.locator("[data-role=group]"), page.locator("[data-role=newest]")
    primary, rows = group.locator("[data-key='act I']"), group.locator("[data-role=typical] li")
    open_the_largest(page)
    expect(rows).to_have_count(12)
    n = int(primary.inner_text().split()[1])
    told = group.locator("[data-role=counts]")
    expect(told).to_have_text(re.compile(rf"^\d+ texts without a label · {n} surest · 12 shown$"))
    size = int(told.inner_text().split()[0])
    # Eight figures stood on one group, most of them without a noun.
    expect(group.get_by_role("button", name=re.compile(r"\d"))).to_have_count(1)
    group.get_by_role("button", name="Show all").click()
    expect(rows).to_have_count(n)
    expect(group.get_by_role("button", name="Show all")).to_have_count(0)
    group.get_by_role("button", name="All", exact=True).click()
    expect(rows).to_have_count(size)
    rows.last.get_by_role("checkbox").uncheck()
    expect(primary).to_contain_text(f"Make {size - 1} ")
    page.keyboard.press("e")  # back to the surest, of which the last is none
    expect(primary).to_contain_text(f"Make {n} ")
    page.keyboard.press("e")
    page.keyboard.press("i")
    expect(newest).to_contain_text(f"{size - 1} texts")
    page.keyboard.press("u")
    expect(page.locator("[data-role=newest]")).to_contain_text("Taken back")


def test_a_loose_group_is_taken_only_after_all_its_texts_were_shown(
    visit: Callable[..., Page], raw: Served
) -> None:
    """One key gave “asdfghjkl” and nine texts that nobody had seen an intent called “which_a”."""

    def loosely(route: Route) -> None:
        if route.request.method != "GET":
            route.fallback()
            return
        found = route.fetch().json()
        route.fulfill(json={**found, "cohesion": 0.3})

    page = visit(raw, "/")
    page.route(re.compile(r"/projects/raw/groups/\d+$"), loosely)
    page.goto(f"{raw.base}/discover?project=raw")
    group, newest = page.locator("[data-role=group]"), page.locator("[data-role=newest]")
    primary, rows = group.locator("[data-key='act I']"), group.locator("[data-role=typical] li")
    open_the_largest(page)
    expect(rows).to_have_count(12)
    n = int(primary.inner_text().split()[1])
    assert n > 12
    every = group.get_by_role("button", name="Show all")
    expect(every).to_be_in_viewport(ratio=1)  # nothing said that the list went on below the fold
    page.keyboard.press("i")
    loose = group.locator("[data-role=loose]")  # a message covered the buttons to press again
    expect(loose).to_contain_text("These texts have little in common.")
    expect(rows).to_have_count(n)
    assert counts(raw)["labelled"] == 0
    page.keyboard.press("Escape")  # out of the first box, where keys would tick
    page.keyboard.press("i")
    expect(newest).to_contain_text(f"{n} texts")
    page.keyboard.press("u")
    expect(page.locator("[data-role=newest]", has_text="Taken back")).to_be_visible()
