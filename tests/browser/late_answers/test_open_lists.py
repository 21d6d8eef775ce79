"""Lists of choices while an answer comes: the one that is open stays open under the hand."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.builders.held_answers import hold, rest, settle
from tests.builders.served_studio import Served

# What lies open is no part of the page. It closes when the list is taken out, or its choices are.
_WATCH = """list => {
  list.focus();
  window.taken = 0;
  const isOf = ({target, removedNodes}) =>
    target === list ? removedNodes.length > 0 : [...removedNodes].some(node => node.contains(list));
  new MutationObserver(records => (window.taken += records.filter(isOf).length)).observe(document, {
    childList: true,
    subtree: true,
  });
}"""


@pytest.mark.parametrize(
    ("path", "which", "asks"),
    [
        ("review?tab=border", "[data-key=pair]", "**/review/border?*"),
        ("review?tab=fence", "[aria-label=Measure]", "**/fence/what-if"),
        ("review?tab=fence", "[aria-label='Whose limit']", "**/fence/what-if"),
        ("review?tab=add", "[data-key=as]", "**/utterances?split=train*"),
        ("review?tab=reshape", "[data-key=how]", "**/projects/sample/pins"),
        ("review?tab=pins", "[aria-label^=Answer]", "**/pins/history"),
        ("data", "[aria-label=Intent]", "**/projects/sample/overview"),
    ],
)
def test_a_list_outlives_a_change_from_elsewhere(
    visit: Callable[..., Page], studio: Served, path: str, which: str, asks: str
) -> None:
    page = visit(studio, f"/{path}{'&' if '?' in path else '?'}project=sample")
    choices = page.locator(f"select{which}")
    expect(choices.locator("option").nth(1)).to_be_attached()
    rest(page)
    if tab := page.locator("[data-key='fence choices']"):
        tab.evaluate_all("all => all.forEach(one => (one.open = true))")
    watch(choices)
    with page.expect_response(asks):
        somebody_else(studio)
    stays_open(page, choices)


def test_the_label_of_a_text_that_is_tried_stays_when_it_is_answered_again(
    visit: Callable[..., Page], studio: Served
) -> None:
    page = visit(studio, "/try?project=sample&text=no+signal")
    label = page.get_by_label("Expected intent")
    expect(label).to_be_visible()
    rest(page)
    watch(label)
    with page.expect_response("**/projects/sample/predict"):
        somebody_else(studio)
    stays_open(page, label)


def test_both_filters_of_history_stay_when_one_is_chosen(
    visit: Callable[..., Page], studio: Served
) -> None:
    somebody_else(studio)
    page = visit(studio, "/history?project=sample")
    who, what = page.get_by_label("Who"), page.get_by_label("What")
    expect(what.locator("option").nth(1)).to_be_attached()
    acts = hold(page, "**/projects/sample/acts?*")
    what.select_option(label="Flag as unclear")
    acts.arrived()
    watch(who)
    acts.release()
    expect(page.locator("[data-role=acts] tbody .what").first).to_contain_text("Flag as unclear")
    stays_open(page, who)
    expect(what).to_have_value("flag")


def test_the_days_of_the_traffic_stay_while_others_are_read(
    visit: Callable[..., Page], talked: Served
) -> None:
    """The list went with all else, and the next arrow key went nowhere."""
    page = visit(talked, "/discover?project=sample&tab=traffic")
    expect(page.locator("[data-role=covered]")).to_be_visible()
    expect(page.get_by_text("compared with the 7 days before")).to_be_visible()
    days = page.get_by_label("What people wrote in")
    watch(days)
    found = hold(page, "**/projects/sample/traffic?days=28", most=1)
    days.select_option("28")
    found.arrived()
    found.release()
    expect(page.get_by_text("compared with the 7 days before")).to_have_count(0)
    expect(page.locator("[data-role=covered]")).to_be_visible()
    stays_open(page, days)
    expect(days).to_have_value("28")


def watch(choices: Locator) -> None:
    choices.evaluate(_WATCH)


def stays_open(page: Page, choices: Locator) -> None:
    settle(page)
    assert page.evaluate("window.taken") == 0
    expect(choices).to_be_focused()


def somebody_else(studio: Served) -> None:
    """Change the project from elsewhere, and no intent: a flag."""
    [row] = studio.ask("/projects/sample/utterances?state=unlabelled&size=1")["rows"]
    flag = {"filter": {"ids": [row["id"]]}, "kind": "flag", "value": "look", "expected": 1}
    kind = {"kind": "unflag"} if row["flagged"] else {}
    studio.ask("/projects/sample/edits", {**flag, **kind})
