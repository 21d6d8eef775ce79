"""The report about traffic: what it says of changes, what it draws, and what it asks to do."""

import re
from datetime import date
from pathlib import Path

import pytest

from app.services.reports.pdf import find_browser, print_pdf
from app.services.reports.traffic_report import report_of, report_page, waiting_page
from app.services.studio import Studio
from app.services.traffic.coverage import count_coverage
from app.services.traffic.facts import RIGHTLY_NONE, TrafficFacts
from core.errors import InvalidInput
from storage.said.traffic import SaidText
from tests.builders.traffic.printed_letters import printed_letters

DAYS = date(2026, 2, 9), date(2026, 2, 16)
ANSWERS = {"a": ["1"], "b": ["2"], "lost": [], "odd": []}
NAMES = {"1": "cancel", "2": "pay <now>", "3": "move"}


def rows(day: str, **said: int) -> list[SaidText]:
    ids = [key for key, times in said.items() for _ in range(times)]
    return [SaidText(f"{day}{n}", key, f"{day}T10:00:00Z", "app") for n, key in enumerate(ids)]


def page_of(now: list[SaidText], earlier: list[SaidText]) -> str:
    facts = TrafficFacts(now, earlier, NAMES, {"lost": 4}, {4: "lost card"}, {"3": 10})
    view = count_coverage(facts, DAYS, ANSWERS)
    return report_page(report_of("shop", view, 7), {})


def test_a_report_says_what_changed_and_what_to_do() -> None:
    now = rows("2026-02-10", a=100, b=60, lost=39, odd=1)
    page = page_of(now, rows("2026-02-03", a=190, b=10))
    assert "80.0 % of 200 texts got an intent" in page
    # A team in Sydney took them for days of its own.
    assert "9 Feb 2026 to 15 Feb 2026, days by UTC" in page
    assert "In the 7 days before it was 100.0 % of 200: the difference is more than chance." in page
    assert "pay &lt;now&gt;: up from 5.0 % (10 of 200) to 30.0 % (60 of 200)" in page
    assert "39 texts about “lost card” got no intent. For the team: look through them." in page
    assert "1 text without an intent is in no group yet, such as “odd”. For the team: have" in page
    assert "Discover" not in page  # whoever reads a report has no studio
    assert "The newest text is " in page
    # The subjects had no name but “in no group”: what people said stood nowhere.
    assert '<bdi>lost card</bdi><div class="soft small"><bdi>“lost”</bdi></div>' in page
    assert '<bdi>in no group yet</bdi><div class="soft small"><bdi>“odd”</bdi></div>' in page
    assert "No text of these days got move, and none is labelled so: if that stays so" in page
    assert "<td><bdi>9 Feb 2026</bdi></td>" in page
    assert '50.0 % <span class="soft small">(43.1 to 56.9)</span>' in page  # how sure it is
    # “They got no intent” was said of texts that the version answers by their own label.
    assert '<b>40</b><span class="soft small">no intent without a label of their own</span>' in page
    assert "A labelled text counts with the answer that it would get without its own" in page


def test_a_report_on_one_text_says_so() -> None:
    """“100.0 % of 1 texts got an intent” was the first line of it."""
    page = page_of(rows("2026-02-10", a=1), [])
    assert "100.0 % of 1 text got an intent" in page
    assert "of 1 text</span>" in page


def test_a_report_on_a_sample_says_so() -> None:
    """It spoke of 5,000 texts, and a manager knew that 60,000 had been written."""
    now, earlier = rows("2026-02-10", a=100, lost=100), rows("2026-02-03", a=200)
    facts = TrafficFacts(now, earlier, NAMES, {}, {}, {}, sent=61_234)
    page = report_page(report_of("shop", count_coverage(facts, DAYS, ANSWERS), 7), {})
    assert "50.0 % of a fair sample of 200 texts got an intent" in page
    assert "About 61,000 texts came in these days." in page
    assert "of the sample of 200 texts" in page
    assert "it was 100.0 % of 200: the difference is more than chance." in page


def test_a_sample_does_not_tell_that_nobody_asked() -> None:
    """“Nobody asked for move in these days” was said of 200 texts of 61,234."""
    facts = TrafficFacts(
        rows("2026-02-10", a=100, lost=100), [], NAMES, {}, {}, {"3": 10}, sent=61_234
    )
    found = report_of("shop", count_coverage(facts, DAYS, ANSWERS), 7)
    assert found.steps[-1] == (
        "None of the 200 texts of the sample got move. Whether others of these days did is "
        "not known. For the team: count fewer days, so that more of their texts are counted."
    )


def test_what_to_do_begins_with_the_most_texts_and_names_no_mixed_group() -> None:
    """6 times “lol” stood above 20 texts that somebody meant."""
    facts = TrafficFacts(
        rows("2026-02-10", a=50, lost=6, odd=20, lentils=30),
        [],
        NAMES,
        {"lost": 4, "lentils": 5},
        {4: "lol", 5: "you are the best"},
        {},
        mixed={5},
    )
    view = count_coverage(facts, DAYS, {**ANSWERS, "lentils": []})
    found = report_of("shop", view, 7, "Of the test texts 91.8 % are answered right.")
    assert [step.split()[0] for step in found.steps] == ["20", "6"]
    page = report_page(found, {})
    assert "<bdi>a mixed group</bdi>" in page
    assert "you are the best" not in page
    # “Answered” never said whether rightly.
    assert "<p>Of the test texts 91.8 % are answered right.</p>" in page


def test_texts_labelled_out_of_scope_are_nothing_to_do() -> None:
    """“Have the studio group them” was said of 4 texts that no grouping takes."""
    said = rows("2026-02-10", a=50, odd=4, lost=1)
    facts = TrafficFacts(said, [], NAMES, {}, {}, {}, set_aside={"odd": RIGHTLY_NONE})
    found = report_of("shop", count_coverage(facts, DAYS, ANSWERS), 7)
    assert [step.split(" is ")[0] for step in found.steps] == ["1 text without an intent"]
    page = report_page(found, {})
    such = '<div class="soft small"><bdi>“odd”</bdi></div>'
    assert f'<bdi>labelled out of scope</bdi>{such}</td><td class="n">4</td>' in page
    assert "<bdi>in no group yet</bdi>" in page


def test_a_small_difference_is_told_plainly() -> None:
    """“May be chance, as many figures are compared” was a riddle to whoever counts nothing."""
    page = page_of(rows("2026-02-10", a=20, lost=3), rows("2026-02-03", a=20, lost=2))
    assert "of 22: such a difference can come by chance alone, in 100 of 100 cases." in page


def test_a_doubtful_difference_tells_the_chance_that_a_reader_finds() -> None:
    """A rise from 6.7 to 12.1 % “can come by chance alone”: by itself, it does so once in 100."""
    now = rows("2026-02-10", a=421, lost=58)
    page = page_of(now, rows("2026-02-03", a=307, lost=22))
    assert "perhaps a real change, but not sure: chance alone does as much in 1.2 of 100" in page
    assert "Texts without an intent: up" not in page


def test_a_report_on_what_the_version_has_learned_says_that_it_is_not_compared() -> None:
    """“Nothing is known of the days before” would be said of a week that is told beside it."""
    now, earlier = rows("2026-02-10", b=60), rows("2026-02-03", a=60)
    facts = TrafficFacts(now, earlier, NAMES, {}, {}, {}, learned={"a"})
    found = report_of("shop", count_coverage(facts, DAYS, ANSWERS), 7)
    assert found.overall is None
    page = report_page(found, {})
    assert "In the 7 days before it was 100.0 % of 60." in page
    assert "learned 0 of the 60 texts of these days, and 60 of the 60 texts of the days" in page
    assert '<b>0</b><span class="soft small">by more than chance</span>' in page
    assert "Nothing that is compared changed by more than chance" in page


def test_a_report_without_a_week_before_compares_nothing() -> None:
    page = page_of(rows("2026-02-10", a=20), [])
    assert "Nothing is known of the days before." in page
    assert "there is nothing to compare with" in page
    assert "may be chance" not in page
    # “Changes: 0 by more than chance” stood there, too.
    assert '</b><span class="soft small">nothing to compare with yet</span>' in page
    assert '<span class="soft small">by more than chance</span>' not in page


def test_a_report_tells_a_sample_without_a_text_from_days_without_one() -> None:
    """“Nothing was sent for the days before” was said of 60 texts, none of them in the sample."""
    facts = TrafficFacts(rows("2026-02-10", a=20), [], NAMES, {}, {}, {}, sent_before=60)
    page = report_page(report_of("shop", count_coverage(facts, DAYS, ANSWERS), 7), {})
    assert "None of the about 60 texts of the days before is in the sample, so there is" in page
    assert "Nothing was sent for" not in page


def test_a_report_that_is_being_counted_says_so_and_leads_back() -> None:
    """Raw JSON stood in the browser where somebody opened the report a second too soon."""
    page = waiting_page("a & b", "/discover?project=a")
    assert "<bdi>a &amp; b</bdi>: what people said" in page
    assert "The report opens here by itself" in page
    assert 'href="/discover?project=a"' in page


def charts_of(page: str) -> list[str]:
    return re.findall(r"<svg.*?</svg>", page, re.DOTALL)


def test_a_report_draws_what_is_answered_over_time_and_what_is_asked_most() -> None:
    """A report for managers was tables alone."""
    now = rows("2026-02-10", a=100, b=60, lost=39, odd=1)
    page = page_of(now, rows("2026-02-03", a=190, b=10))
    over_time, asked = charts_of(page)
    assert '<polyline class="course" points="58.0,10.0 306.0,44.0 "/>' in over_time  # 100 and 80 %
    assert over_time.count('class="likely"') == over_time.count("<circle") == 2
    assert "Week from 9 Feb 2026: 80.0 %, likely between 73.9 % and 85.0 %." in over_time
    assert asked.count("<rect") == asked.count('class="likely"') == 2
    assert "cancel: 50.0 %, likely between 43.1 % and 56.9 %." in asked
    assert "pay &lt;now&gt;: 30.0 %" in asked
    for chart in (over_time, asked):
        assert 'role="img" aria-label="' in chart
        assert "#" not in chart  # colours are those of the theme
    assert "<script" not in page


def test_a_week_without_traffic_leaves_a_gap_in_the_chart() -> None:
    """Drawn side by side, the weeks before and behind it looked as if nothing had been missing."""
    said = [row for day in ("02-10", "02-03", "01-20") for row in rows(f"2026-{day}", a=5)]
    days = date(2026, 1, 19), date(2026, 2, 16)
    view = count_coverage(TrafficFacts(said, [], NAMES, {}, {}, {}), days, ANSWERS)
    points = report_of("shop", view, 7).weeks
    assert [(one.week.name, round(one.at, 3)) for one in points] == [
        ("2026-01-19", 0.0),
        ("2026-02-02", 0.667),
        ("2026-02-09", 1.0),
    ]


def test_a_report_draws_the_eight_largest_intents_and_cuts_long_names() -> None:
    names = {str(n): f"intent_{n}_{'x' * 60}" for n in range(10)}
    said = rows("2026-02-10", **{f"t{n}": 20 - n for n in range(10)})
    facts = TrafficFacts(said, [], names, {}, {}, {})
    view = count_coverage(facts, DAYS, {f"t{n}": [str(n)] for n in range(10)})
    page = report_page(report_of("shop", view, 7), {})
    over_time, asked = charts_of(page)
    assert over_time.count("<circle") == 1
    assert '<circle class="bin" cx="182.0"' in over_time  # one week alone stands in the middle
    assert asked.count("<rect") == 8
    assert re.search(r">intent_0_x{38}…</text>", asked)
    assert "The 8 largest of 10 intents." in page


def test_a_report_without_an_answer_draws_no_intents() -> None:
    page = page_of(rows("2026-02-10", lost=5), [])
    assert len(charts_of(page)) == 1


def test_the_report_on_paper_says_what_the_page_says(studio: Studio, tmp_path: Path) -> None:
    """That there was a file was all that was known of it: nobody had read a word of it."""
    try:
        find_browser(studio.settings)
    except InvalidInput as error:
        pytest.skip(str(error))
    now = rows("2026-02-10", a=100, b=60, lost=39, odd=1)
    page = page_of(now, rows("2026-02-03", a=190, b=10))
    print_pdf(studio.settings, page, tmp_path / "report.pdf")
    said = printed_letters(tmp_path / "report.pdf")
    for words in (
        "shop: what people said",
        "80.0 % of 200 texts got an intent",
        "pay <now>: up from 5.0 % (10 of 200) to 30.0 % (60 of 200)",
        "39 texts about “lost card” got no intent. For the team: look through them.",
        "No text of these days got move",
        "week from",  # below the chart of the weeks
        "The line on each bar shows where the share likely lies.",
        "Made by Intent Studio",
    ):
        assert "".join(words.split()) in said
