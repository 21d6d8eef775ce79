"""Coverage of traffic, by values computed by hand."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import date, timedelta

import pytest

from app.services.traffic.coverage import Period, count_coverage, period_days
from app.services.traffic.coverage_views import TrafficShare, TrafficView
from app.services.traffic.facts import DECIDED, RIGHTLY_NONE, TrafficFacts
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


def test_texts_of_a_group_that_are_settled_are_nothing_to_look_through() -> None:
    """A group that was taken as out of scope stayed the first thing to do, for ever."""
    said = rows("2026-11-10", *["none"] * 6, *["lost"] * 3, "later")
    groups = dict.fromkeys(("none", "lost", "later"), 4)
    settled = {"none": RIGHTLY_NONE, "lost": DECIDED}
    facts = TrafficFacts(said, [], {}, groups, GROUPS, {}, set_aside=settled)
    found = count_coverage(facts, DAYS, {"none": [], "lost": [], "later": []})
    assert [(one.name, one.id, one.count, one.n) for one in found.uncovered] == [
        ("labelled out of scope", "", 6, 10),
        ("labelled, skipped or in the test set", "", 3, 10),
        ("lost card", "4", 1, 10),
    ]


def test_a_group_does_not_rise_where_its_texts_of_before_are_settled() -> None:
    """What people write is compared, not what is still to do."""
    earlier = rows("2026-11-03", *["a"] * 60, *["none"] * 40)
    now = rows("2026-11-10", *["a"] * 60, *["later"] * 40)
    groups = {"none": 4, "later": 4}
    facts = TrafficFacts(now, earlier, {"1": "cancel"}, groups, GROUPS, {})
    settled = replace(facts, set_aside={"none": RIGHTLY_NONE})
    changes = count_coverage(settled, DAYS, {**ANSWERS, "later": []}).changes
    [group] = [one for one in changes if one.about == "group"]
    assert (group.before.count, group.after.count, group.is_real) == (40, 40, False)


def test_an_intent_that_texts_are_labelled_with_is_no_blind_spot() -> None:
    """“Nobody asked for refund” was said of a week with 40 texts that a person labelled so."""
    labels, names = {"2": 12, "3": 12}, {"1": "cancel", "2": "refund", "3": "move"}
    facts = TrafficFacts(rows("2026-11-10", "a", "none"), [], names, {}, {}, labels, meant={"2"})
    assert count_coverage(facts, DAYS, ANSWERS).blind_spots == ("move",)


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


def test_a_group_is_not_gone_while_texts_of_the_week_are_in_no_group() -> None:
    """“Down from 8.0 % to 0.0 %” was said of a group whose 40 new texts were not sorted in yet."""
    earlier = rows("2026-11-03", *["a"] * 460, *["none"] * 40)
    now = rows("2026-11-10", *["a"] * 460, *["odd"] * 40)
    facts = TrafficFacts(now, earlier, {"1": "cancel"}, {"none": 4}, GROUPS, {})
    [group] = [
        one
        for one in count_coverage(facts, DAYS, {**ANSWERS, "odd": []}).changes
        if one.about == "group"
    ]
    assert (group.is_real, group.before.count, group.after.count) == (False, 40, 0)
    assert group.sentence == (
        "Texts without an intent about “lost card”: down from 8.0 % (40 of 500) to 0.0 % "
        "(0 of 500); 40 texts in no group may make the difference."
    )
    assert group.verdict == "40 texts in no group may make the difference"


def apart(**texts: tuple[int, int]) -> str:
    """What is said of sources with so many answered texts of so many."""
    said = [
        SaidText(f"{source}{n}", "a" if n < count else "odd", "2026-11-10T10:00:00Z", source)
        for source, (count, size) in texts.items()
        for n in range(size)
    ]
    facts = TrafficFacts(said, [], {"1": "cancel"}, {}, {}, {})
    return count_coverage(facts, DAYS, {**ANSWERS, "odd": []}).apart


def test_a_source_stands_apart_only_by_more_than_chance() -> None:
    """“Answered least: mail (0 % of 4 texts); most: app (100 % of 4 texts)” was said of chance."""
    extremes = {f"s{n}": (2 if n > 2 else 4 * (n % 2), 4) for n in range(20)}
    assert apart(**extremes) == "Fewer than two sources have 30 texts: too few to compare them."
    assert apart(web=(20, 40), phone=(25, 40), mail=(0, 4)) == (
        "The differences between sources may be chance."
    )
    assert apart(web=(50, 100), phone=(90, 100), mail=(0, 4)) == (
        "Texts from “web” are answered less often than those from other sources: 50.0 % of "
        "100 texts against 90.0 % of 100. This is more than chance."
    )
    assert apart(web=(1, 40)) == ""


def test_a_source_does_not_stand_apart_by_what_the_version_has_learned() -> None:
    """The source with whose log a version was tuned was told to be answered more often."""
    said = [
        SaidText(f"{source}{n}", key, "2026-11-10T10:00:00Z", source)
        for source, known, new in (("web", 80, 20), ("phone", 0, 50))
        for n, key in enumerate(["known"] * known + ["a"] * new + ["odd"] * new)
    ]
    answers = {**ANSWERS, "odd": [], "known": ["1"]}
    facts = TrafficFacts(said, [], {"1": "cancel"}, {}, {}, {}, learned={"known"})
    assert count_coverage(facts, DAYS, answers).apart == (
        "The differences between sources may be chance."
    )
    less = replace(facts, learned={"known", "a"})  # 20 are left of one of them
    assert count_coverage(less, DAYS, answers).apart == (
        "Fewer than two sources have 30 texts that are new to the version: too few to compare them."
    )


def test_small_sources_that_stand_apart_together_are_no_source_of_that_name() -> None:
    """“Texts from “all other sources”” were compared with “those from other sources”."""
    large = {f"s{n:02}": (60, 60) for n in range(20)}
    small = {f"session {n:02}": (0, 2) for n in range(20)}
    assert apart(**large, **small) == (
        "Texts from the smaller sources together are answered less often than those from other "
        "sources: 0.0 % of 40 texts against 100.0 % of 1,200. This is more than chance."
    )


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


def test_a_week_across_the_border_of_two_periods_is_cut_there() -> None:
    """Rows of a period of 60,000 texts and of one of 6,000 were counted in one week alike."""
    days = date(2026, 10, 17), date(2026, 11, 16)  # 30 days
    now = rows("2026-10-17", "none") + rows("2026-10-20", "a")
    earlier = rows("2026-10-16", "a") + rows("2026-09-17", "a")
    facts = TrafficFacts(now, earlier, {"1": "cancel"}, {}, {}, {})
    found = count_coverage(facts, days, ANSWERS)
    assert [(one.name, one.count, one.n) for one in found.weeks] == [
        ("2026-09-17", 1, 1),
        ("2026-10-10", 1, 1),
        ("2026-10-17", 0, 1),
        ("2026-10-19", 1, 1),
    ]


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
