import pytest

from core.metrics.paired import (
    PairedAnswer,
    paired_difference,
    paired_report,
    unpaired_difference,
)


def test_five_fixed_and_two_broken_of_a_hundred_are_within_chance() -> None:
    found = paired_difference(5, 2, 100)
    error = (8 - 9 / 102) ** 0.5 / 102  # 5 + 2 + 1 - 3 * 3 / 102
    assert found.value == pytest.approx(0.03)
    assert found.low == pytest.approx(3 / 102 - 1.959964 * error)
    assert (found.low, found.high) == pytest.approx((-0.0246369, 0.0834604), abs=1e-6)
    assert not found.beyond_chance


@pytest.mark.parametrize(
    ("fixed", "broken", "n", "low", "high"),
    [
        (0, 0, 50, -0.0376916, 0.0376916),
        (0, 10, 10, -1.0, -0.566616),
        (10, 0, 100, 0.0372155, 0.158863),
        (0, 4, 100, -0.0815031, 0.0030717),  # 4 of 4 by a fair coin: once in eight times
        (0, 5, 100, -0.095116, -0.0029232),
        (1, 0, 1, -0.510101, 1.0),
    ],
)
def test_the_interval_of_a_difference(fixed, broken, n, low, high) -> None:
    """Four lost of 100, and one gained of one, were “real, not luck”."""
    found = paired_difference(fixed, broken, n)
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-6)
    assert found.beyond_chance == (low > 0 or high < 0)
    back = paired_difference(broken, fixed, n)
    assert (-back.high, -back.low) == pytest.approx((found.low, found.high))


@pytest.mark.parametrize(("fixed", "broken", "n"), [(0, 0, 0), (3, 3, 5)])
def test_impossible_counts_are_refused(fixed, broken, n) -> None:
    with pytest.raises(ValueError, match="fixed"):
        paired_difference(fixed, broken, n)


def test_unpaired_accuracies_have_the_errors_of_both() -> None:
    found = unpaired_difference(0.8, 0.9, 20)
    error = ((19 * 3 + 17 * 5) / 22**2 / 22) ** 0.5  # 18 + 1 and 16 + 1 right of 20 + 2
    assert found.value == pytest.approx(0.1)
    assert (found.low, found.high) == pytest.approx((2 / 22 - 1.959964 * error, 0.3172475))


def test_a_loss_of_three_of_forty_may_be_luck() -> None:
    """It was “real, not luck”: an accuracy of 1 was taken to have no error."""
    found = unpaired_difference(39 / 40, 36 / 40, 40)
    error = ((40 * 2 + 37 * 5) / 42**2 / 42) ** 0.5  # 0.0598 of 40 and 37 of 42
    assert found.value == pytest.approx(-0.075)
    assert (found.low, found.high) == pytest.approx((-3 / 42 - 1.959964 * error, 0.0457902))
    assert not found.beyond_chance
    assert unpaired_difference(1.0, 1.0, 40).high == pytest.approx(1.959964 * (82 / 42**3) ** 0.5)


def test_a_report_counts_what_was_fixed_and_broken_by_intent() -> None:
    rows = [
        ("same", ("a",), ("a",), ("a",)),
        ("fixed", ("a",), ("b",), ("a",)),
        ("other", ("b",), ("c",), ("a",)),
        ("broken", ("b",), ("b",), ("a",)),
        ("both right", ("a", "b"), ("a",), ("b",)),
    ]
    report = paired_report([PairedAnswer(*row) for row in rows])
    assert (report.n, report.before, report.after) == (5, 0.6, 0.6)
    assert report.difference.value == 0
    changed = [(answer.text, answer.verdict) for answer in report.changed]
    assert changed == [
        ("broken", "broken"),
        ("fixed", "fixed"),
        ("other", "other"),
        ("both right", "other"),
    ]
    recalls = [(r.intent, r.support, r.before, r.after) for r in report.intents]
    assert recalls == [
        ("b", 3, pytest.approx(2 / 3), pytest.approx(1 / 3)),
        ("a", 3, pytest.approx(2 / 3), 1.0),
    ]
    assert report.intents[1].change == pytest.approx(1 / 3)


def test_of_several_intents_all_must_be_named_and_no_other() -> None:
    rows = [
        ("same in another order", ("a", "b"), ("a", "b"), ("b", "a")),
        ("fixed", ("a", "b"), ("a",), ("a", "b")),
        ("broken by one too many", ("b",), ("b",), ("a", "b")),
        ("none is found", (), ("a",), ()),
        ("wrong both times", ("c",), ("a",), ("b",)),
    ]
    report = paired_report([PairedAnswer(*row, "multi-label") for row in rows])
    assert (report.before, report.after) == (0.4, 0.6)
    assert [(one.text, one.verdict) for one in report.changed] == [
        ("broken by one too many", "broken"),
        ("fixed", "fixed"),
        ("none is found", "fixed"),
        ("wrong both times", "other"),
    ]
    recalls = {one.intent: (one.support, one.before, one.after) for one in report.intents}
    assert recalls == {"a": (2, 1.0, 1.0), "b": (3, pytest.approx(2 / 3), 1.0), "c": (1, 0.0, 0.0)}
