"""What a spot check says about the texts that were not looked at."""

from dataclasses import dataclass

from scipy.special import betainc, betaincinv

_PRIOR_WEIGHT = 20.0
"""The expectation before the check counts as much as so many judged texts."""

_REFUTED = 0.05
"""Chance of at least the errors that were found, below which the expectation is given up."""

_SURE = 0.95


@dataclass(frozen=True, slots=True)
class Verdict:
    """The errors to expect among the texts that were not judged.

    Attributes:
        rest: Number of these texts.
        at_most: Share of errors that is not exceeded with 95 % confidence.
        probably: Share of errors that the true one is as likely below as above.
        expected: Expected number of errors.
    """

    checked: int
    wrong: int
    rest: int
    at_most: float
    probably: float
    expected: float


def judge(checked: int, wrong: int, rest: int, expected_share: float) -> Verdict:
    """Conclude from texts drawn at random how many of the rest are wrong.

    `at_most` is the one-sided bound of Clopper and Pearson (1934), which holds for drawing without
    replacement too. `expected` starts from `expected_share`, what was expected before the check,
    as a Beta prior worth 20 texts; what the check refutes is left out.
    """
    weight = 0.0 if _chance(checked, wrong, expected_share) < _REFUTED else _PRIOR_WEIGHT
    share = (weight * expected_share + wrong) / (weight + checked)
    return Verdict(
        checked,
        wrong,
        rest,
        _bound(checked, wrong, _SURE),
        _bound(checked, wrong, 0.5),
        share * rest,
    )


def _chance(checked: int, wrong: int, share: float) -> float:
    """Return the chance of at least so many errors where a share of all is wrong."""
    return 1.0 if wrong == 0 else float(betainc(wrong, checked - wrong + 1, share))


def _bound(checked: int, wrong: int, confidence: float) -> float:
    if wrong >= checked:
        return 1.0
    return float(betaincinv(wrong + 1, checked - wrong, confidence))
