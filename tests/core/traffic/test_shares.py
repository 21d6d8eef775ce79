"""Shares have intervals that hold, and a change is told only beyond chance."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, fisher_exact

from core.traffic.drift import ALPHA as DRIFT
from core.traffic.shares import (
    ALPHA,
    GroupedTexts,
    Portion,
    compare_groups,
    compare_parts,
    compare_share,
    compare_shares,
)


@given(n=st.integers(1, 5_000), part=st.floats(0, 1))
def test_the_interval_is_that_of_a_library(n: int, part: float) -> None:
    count = round(part * n)
    expected = binomtest(count, n).proportion_ci(0.95, method="wilson")
    assert Portion(count, n).interval() == pytest.approx((expected.low, expected.high), abs=1e-6)


def test_of_no_texts_nothing_is_known() -> None:
    assert Portion(0, 0).interval() == (0.0, 1.0)
    assert Portion(0, 0).value == 0.0


def test_a_rise_is_told_and_comes_first() -> None:
    before = {"cancel": 150, "refund": 500, "": 4_350}
    after = {"cancel": 350, "refund": 505, "": 4_145}
    first, *others = compare_shares(before, after)
    assert (first.name, first.is_real) == ("cancel", True)
    assert (first.before.value, first.after.value) == pytest.approx((0.03, 0.07))
    raw = float(fisher_exact([[150, 4_850], [350, 4_650]]).pvalue)
    assert first.p_value == pytest.approx(3 * raw)  # the first of three is multiplied by three
    assert {one.name for one in others if one.is_real} == {""}


def test_an_intent_that_is_new_or_gone_counts_with_nothing_before_or_after() -> None:
    changes = {one.name: one for one in compare_shares({"a": 100, "b": 100}, {"a": 100, "c": 100})}
    assert (changes["c"].before.count, changes["c"].after.count) == (0, 100)
    assert changes["c"].is_real
    assert changes["b"].is_real
    assert not changes["a"].is_real


def test_texts_of_several_intents_are_shares_of_all_texts() -> None:
    (change,) = compare_shares({"a": 60}, {"a": 60}, totals=(100, 200))
    assert (change.before, change.after) == (Portion(60, 100), Portion(60, 200))


def test_each_part_is_compared_with_all_others() -> None:
    parts = {"app": Portion(90, 100), "mail": Portion(50, 100), "phone": Portion(85, 100)}
    first, *others = compare_parts(parts)
    assert (first.name, first.before, first.after) == ("mail", Portion(175, 200), Portion(50, 100))
    raw = float(fisher_exact([[175, 25], [50, 50]]).pvalue)
    assert first.p_value == pytest.approx(3 * raw)
    assert {one.name for one in others} == {"app", "phone"}
    (pair,) = compare_parts({"a": Portion(3, 30), "b": Portion(9, 30)})
    assert pair.p_value == pytest.approx(float(fisher_exact([[9, 21], [3, 27]]).pvalue))


def test_of_many_equal_sources_one_is_seldom_told_to_stand_apart() -> None:
    """The two extremes of 20 sources were compared as if they had been the only ones."""
    rng = np.random.default_rng(0)
    told = 0
    for _ in range(100):
        counts = rng.binomial(30, 0.6, size=20)
        parts = {str(n): Portion(int(k), 30) for n, k in enumerate(counts)}
        told += compare_parts(parts)[0].is_real
    assert told <= 4  # of 100 about one at most


def test_a_group_changes_only_where_texts_in_no_group_cannot_make_the_difference() -> None:
    """A group was told to be gone, and the same people's new texts were only not sorted in yet."""
    week = GroupedTexts({"lost": 40}, 0, 500)
    (same,) = compare_groups(week, GroupedTexts({}, 40, 500))
    assert (same.before.count, same.after.count, same.loose) == (40, 0, 40)
    assert (same.p_value, same.is_real) == (1.0, False)
    (more,) = compare_groups(week, GroupedTexts({"lost": 10}, 60, 500))  # perhaps it even rose
    assert (more.p_value, more.is_real) == (1.0, False)
    (rise,) = compare_groups(GroupedTexts({}, 5, 500), week)
    assert rise.p_value == pytest.approx(float(fisher_exact([[5, 495], [40, 460]]).pvalue))
    assert rise.is_real
    # What is in no group beside the larger share cannot make a rise smaller.
    (sure,) = compare_groups(GroupedTexts({}, 0, 500), GroupedTexts({"lost": 40}, 90, 500))
    assert sure.p_value == pytest.approx(float(fisher_exact([[0, 500], [40, 460]]).pvalue))
    both = compare_groups(GroupedTexts({"a": 40, "b": 9}, 0, 500), GroupedTexts({"b": 9}, 0, 500))
    assert [(one.name, one.is_real) for one in both] == [("a", True), ("b", False)]
    assert both[0].p_value == pytest.approx(2 * sure.p_value)  # the first of two


def test_no_change_is_told_in_most_pairs_of_equal_weeks() -> None:
    rng = np.random.default_rng(0)
    shares = rng.dirichlet(np.ones(40))
    alarms = 0
    for _ in range(100):
        weeks = [rng.multinomial(2_000, shares) for _ in range(2)]
        counts = [Counter({str(row): int(n) for row, n in enumerate(week)}) for week in weeks]
        alone = compare_share("", *(Portion(int(week[0]), 2_000) for week in weeks))
        alarms += any(one.is_real for one in (alone, *compare_shares(*counts)))
    assert alarms <= 5


def test_all_comparisons_of_a_week_raise_a_false_alarm_in_at_most_5_of_100() -> None:
    families = 4  # no intent, intents, groups, sources
    assert families * ALPHA + DRIFT == pytest.approx(0.05)


def test_corrected_values_never_fall_along_the_order() -> None:
    before = {str(n): 10 + n for n in range(20)}
    after = {str(n): 10 + 3 * (n % 7) for n in range(20)}
    values = [one.p_value for one in compare_shares(before, after)]
    assert values == sorted(values)
    assert max(values) <= 1.0
