"""Coverage of traffic, by values computed by hand."""

from collections.abc import Iterable
from datetime import date, timedelta

import pytest

from app.services.traffic.coverage import (
    RIGHTLY_NONE,
    Period,
    TrafficFacts,
    count_coverage,
    period_days,
)
from app.services.traffic.coverage_views import TrafficShare, TrafficView
from core.errors import InvalidInput
from storage.said.traffic import SaidText

DAYS = date(2026, 11, 9), date(2026, 11, 16)
GROUPS = {4: "lost card", 5: "x"}
ANSWERS = {"a": ["1"], "b": ["2"], "none": [], "both": ["1", "2"], "old": ["gone"]}


def rows(day: str, *ids: str) -> list[SaidText]:
    return [
        SaidText(f"{day}{n}", key, f"{day}T10:00:00Z", ("web", "phone")[n % 2])
        for n, key in enumerate(ids)
    ]


def view(now: list[SaidText], earlier: list[SaidText]) -> TrafficView:
    names = {"1": "cancel", "2": "pay", "3": "move"}
    labels = {"1": 20, "2": 3, "3": 10}
    facts = TrafficFacts(now, earlier, names, {"none": 4, "a": 5}, GROUPS, labels)
    return count_coverage(facts, DAYS, ANSWERS)


def test_rows_are_counted_by_intent_source_week_and_group() -> None:
    found = view(rows("2026-11-10", "a", "b", "none", "old"), rows("2026-11-03", "a"))
    covered = found.covered
    assert (covered.count, covered.n, covered.share) == (2, 4, 0.5)
    # Wilson's middle is 3.92073 of 7.84146, its half width 2.74435 of these.
    assert (covered.low, covered.high) == pytest.approx((0.15004, 0.84996), abs=1e-5)
    told = [(one.name, one.count, one.n) for one in (*found.intents, *found.sources)]
    assert told == [("cancel", 1, 4), ("pay", 1, 4), ("web", 1, 2), ("phone", 1, 2)]
    assert [(one.name, one.count, one.n) for one in (*found.weeks, *found.uncovered)] == [
        ("2026-11-02", 1, 1),
        ("2026-11-09", 2, 4),
        ("lost card", 1, 2),
        ("in no group", 1, 2),
    ]
    assert (found.blind_spots, found.counting) == (("move",), False)
    assert not any(one.is_real for one in found.changes)


def test_a_text_labelled_out_of_scope_is_not_one_that_waits_for_a_group() -> None:
    """“In no group yet: sort them in” was said of it, and grouping left it out."""
    said = rows("2026-11-10", "a", "none", "old", "old", "older")
    facts = TrafficFacts(
        said, [], {"1": "cancel"}, {"none": 4}, GROUPS, {}, set_aside={"old": RIGHTLY_NONE}
    )
    found = count_coverage(facts, DAYS, {**ANSWERS, "older": []})
    assert [(one.name, one.id, one.count, one.n) for one in found.uncovered] == [
        ("labelled out of scope", "", 2, 4),
        ("lost card", "4", 1, 4),
        ("in no group", "", 1, 4),
    ]
    assert [one.typical for one in found.uncovered] == [("old",), ("none",), ("older",)]


def figures(shares: Iterable[TrafficShare]) -> list[tuple[str, int, int]]:
    return [(one.name, one.count, one.n) for one in shares]


def test_each_intent_has_its_share_by_week_and_by_source() -> None:
    """Its share was told of all texts alone: nobody saw when it rose, nor from where."""
    found = view(rows("2026-11-10", "a", "b", "a", "none", "both"), rows("2026-11-03", "a", "b"))
    cancel, pay = found.intents
    # Web has the 1st, 3rd and 5th text of a day, the phone the 2nd and 4th.
    assert (cancel.name, cancel.count, cancel.n) == ("cancel", 3, 5)
    assert figures(cancel.weeks) == [("2026-11-02", 1, 2), ("2026-11-09", 3, 5)]
    assert figures(cancel.sources) == [("web", 3, 3), ("phone", 0, 2)]
    assert (pay.name, pay.count, pay.n) == ("pay", 2, 5)
    assert figures(pay.weeks) == [("2026-11-02", 1, 2), ("2026-11-09", 2, 5)]
    assert figures(pay.sources) == [("web", 1, 3), ("phone", 1, 2)]
    # Wilson's middle is 2.92073 of 5.84146, its half width 2.36853 of these.
    half = pay.sources[1]
    assert half.share == 0.5
    assert (half.low, half.high) == pytest.approx((0.09453, 0.90547), abs=1e-5)


def test_small_sources_beyond_the_twentieth_are_told_together() -> None:
    """A session in place of a source made 10,000 lines, and as many tests at each look."""
    now, old = (
        [
            SaidText(f"{day} {source} {n}", "a", f"{day}T10:00:00Z", f"s{source:02}")
            for source in range(24)
            for n in range(2 if source < 20 else 1)
        ]
        for day in ("2026-11-10", "2026-11-03")
    )
    found = view(now, old)
    largest = [(f"s{source:02}", 2, 2) for source in range(20)]
    assert figures(found.sources) == [("all other sources", 4, 4), *largest]
    assert [one.id for one in found.sources] == ["others", *[""] * 20]
    assert len(found.lines) == len([one for one in found.changes if one.about == "source"]) == 21
    few = view(now[:40], old[:40])
    assert figures(few.sources) == largest
    assert {one.id for one in few.sources} == {""}


def test_an_intent_has_its_last_12_weeks_and_8_largest_sources() -> None:
    """A log of a year from a hundred campaigns would be a hundred rows under each intent."""
    period = date(2026, 8, 17), date(2026, 11, 16)  # 13 weeks
    said = [
        SaidText(f"{n} {source}", "a", f"{period[0] + timedelta(7 * week)}T10:00:00Z", f"s{source}")
        for week in range(13)
        for source in range(10)
        for n in range(2 if (week, source) == (12, 9) else 1)
    ]
    facts = TrafficFacts(said, [], {"1": "cancel"}, {}, {}, {})
    [cancel] = count_coverage(facts, period, ANSWERS).intents
    assert (cancel.count, cancel.n) == (131, 131)
    assert figures(cancel.weeks) == [
        *((str(date(2026, 8, 24) + timedelta(7 * week)), 10, 10) for week in range(11)),
        ("2026-11-09", 11, 11),
    ]
    assert figures(cancel.sources) == [("s9", 14, 14), *((f"s{n}", 13, 13) for n in range(7))]


def test_a_text_counts_as_often_as_it_was_said_and_for_each_intent() -> None:
    found = view(rows("2026-11-10", "both", "both", "none"), [])
    assert [(one.name, one.count, one.n) for one in found.intents] == [
        ("cancel", 2, 3),
        ("pay", 2, 3),
    ]


def test_a_change_beyond_chance_is_told_with_its_evidence() -> None:
    earlier = rows("2026-11-03", *["a"] * 970, *["b"] * 30)
    found = view(rows("2026-11-10", *["a"] * 910, *["b"] * 90), earlier)
    pay, cancel, move = (one for one in found.changes if one.about != "source")
    assert (
        "pay: up from 3.0 % (30 of 1,000) to 9.0 % (90 of 1,000); "
        "by chance alone, less than once in 1,000." in {pay.sentence, cancel.sentence}
    )
    assert {(one.about, one.name) for one in (pay, cancel)} == {
        ("intent", "pay"),
        ("intent", "cancel"),
    }
    assert pay.is_real
    assert cancel.is_real
    assert (move.about, move.after.count, move.is_real) == ("no intent", 0, False)
    alike = view(rows("2026-11-10", *["a"] * 90, *["b"] * 5), earlier)
    assert [one.is_real for one in alike.changes] == [False] * len(alike.changes)


def test_an_intent_that_each_text_keeps_beside_another_is_no_change() -> None:
    """Where each text still had “cancel”, it was told to be down to 50 %, once all had “pay”."""
    earlier = rows("2026-11-03", *["a"] * 100)
    changes = view(rows("2026-11-10", *["both"] * 100), earlier).changes
    cancel, pay = sorted((c for c in changes if c.about == "intent"), key=lambda c: c.name)
    assert (cancel.before.share, cancel.after.share, cancel.is_real) == (1.0, 1.0, False)
    assert (pay.after.count, pay.after.n, pay.is_real) == (100, 100, True)


def test_a_source_that_falls_silent_is_told() -> None:
    """A third of all texts had come by a channel that sent none, and nothing was said of it."""
    earlier = rows("2026-11-03", *["a"] * 100)
    now = [row for row in rows("2026-11-10", *["a"] * 100) if row.source == "web"]
    sources = {one.name: one for one in view(now, earlier).changes if one.about == "source"}
    assert sources.keys() == {"web", "phone"}
    assert sources["phone"].is_real
    assert sources["phone"].sentence == (
        "Texts from “phone”: down from 50.0 % (50 of 100) to 0.0 % (0 of 50); "
        "by chance alone, less than once in 1,000."
    )
    assert not any(one.about == "source" for one in view(now, now).changes)  # one has no other


def test_a_new_group_of_texts_without_an_answer_is_told() -> None:
    earlier = rows("2026-11-03", *["a"] * 100)
    found = view(rows("2026-11-10", *["a"] * 60, *["none"] * 40), earlier)
    [group] = [one for one in found.changes if one.about == "group"]
    assert (group.id, group.name, group.is_real) == ("4", "lost card", True)
    assert (group.before.count, group.after.count, group.after.n) == (0, 40, 100)
    [uncovered] = found.uncovered
    assert (uncovered.id, uncovered.count, uncovered.n) == ("4", 40, 40)
    assert uncovered.typical == ("none",)


def test_each_source_has_its_weeks() -> None:
    found = view(rows("2026-11-10", "a", "none", "a"), rows("2026-11-03", "a"))
    told = [
        (line.source, [(one.name, one.count, one.n) for one in line.weeks]) for line in found.lines
    ]
    assert told == [
        ("web", [("2026-11-02", 1, 1), ("2026-11-09", 2, 2)]),
        ("phone", [("2026-11-09", 0, 1)]),
    ]


@pytest.mark.parametrize("before", [date(1, 1, 1), date(1, 1, 5), date(2000, 1, 7)])
def test_a_week_before_all_times_is_refused(before: date) -> None:
    """The first day of a week that ends in the year 1 is no date, and the request was a 500."""
    with pytest.raises(InvalidInput, match="is no period of 1 to 400 days"):
        period_days(None, None, Period(before=before))  # type: ignore[arg-type]


def test_weeks_end_where_the_period_ends() -> None:
    """3 to 9 February had 479 texts, and the chart showed all of them in the week of 9 February."""
    now, earlier = rows("2026-11-05", "a", "b") + rows("2026-11-11", "a"), rows("2026-11-04", "a")
    facts = TrafficFacts(now, earlier, {"1": "cancel", "2": "pay"}, {}, {}, {})
    found = count_coverage(facts, (date(2026, 11, 5), date(2026, 11, 12)), ANSWERS)
    assert [(one.name, one.n) for one in found.weeks] == [("2026-10-29", 1), ("2026-11-05", 3)]
    assert found.weeks[-1].n == found.covered.n


def test_it_is_told_how_many_texts_came_where_a_sample_is_counted() -> None:
    """60,000 texts were sent, and the page spoke of 5,000."""
    now, earlier = rows("2026-11-10", "a", "b"), rows("2026-11-03", "a")
    sampled = TrafficFacts(now, earlier, {}, {}, {}, {}, sent=61_234, sent_before=1)
    found = count_coverage(sampled, DAYS, ANSWERS)
    assert (found.covered.n, found.sent, found.sent_before) == (2, 61_000, 0)


def test_nothing_is_said_while_answers_are_counted() -> None:
    facts = TrafficFacts(rows("2026-11-10", "a"), [], {}, {}, {}, {})
    found = count_coverage(facts, DAYS, None)
    assert (found.counting, found.covered.n, found.intents) == (True, 0, ())
    assert not count_coverage(facts, DAYS, None, "damaged").counting
