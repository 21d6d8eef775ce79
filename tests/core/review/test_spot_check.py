"""What twenty judged texts say about hundreds that nobody looked at."""

import numpy as np
import pytest
from scipy.stats import beta, binom

from core.review.spot_check import judge
from core.review.sure import TOLERANCES, sure_limit


def test_none_of_twenty_wrong_is_no_proof_of_none() -> None:
    verdict = judge(20, 0, 280, 0.02)
    assert verdict.at_most == pytest.approx(0.139, abs=1e-3)
    assert verdict.probably == pytest.approx(0.034, abs=1e-3)
    assert verdict.expected == pytest.approx(2.8)


@pytest.mark.parametrize(("checked", "wrong"), [(20, 1), (20, 7), (8, 3), (3, 0)])
def test_the_bound_is_that_of_clopper_and_pearson(checked: int, wrong: int) -> None:
    verdict = judge(checked, wrong, 100, 0.1)
    assert binom.cdf(wrong, checked, verdict.at_most) == pytest.approx(0.05)
    assert verdict.probably == pytest.approx(beta(wrong + 1, checked - wrong).median())
    assert verdict.probably < verdict.at_most


def test_more_wrong_texts_raise_every_figure_and_all_wrong_leave_no_hope() -> None:
    figures = [judge(20, wrong, 100, 0.02) for wrong in range(21)]
    for name in ("at_most", "probably", "expected"):
        assert np.all(np.diff([getattr(figure, name) for figure in figures]) >= 0)
    assert figures[-1].at_most == 1.0


def test_the_limit_is_the_lowest_whose_errors_are_few() -> None:
    shares = np.concatenate([np.full(150, 0.99), np.full(50, 0.9), np.full(50, 0.5)])
    right = np.ones(250, bool)
    assert sure_limit(shares, right) == (0.5, 1 / 251)
    right[200:] = False
    assert sure_limit(shares, right) == (0.9, 1 / 201)
    right[[0, 150, 151]] = False
    assert sure_limit(shares, right) == (0.9, 4 / 201)
    right[152] = False
    limit, expected = sure_limit(shares, right)
    assert (limit, expected) == (0.99, 2 / 151)
    assert expected <= TOLERANCES[0]


def test_wrong_labels_raise_the_errors_to_expect_and_leave_something_sure() -> None:
    shares, right = np.linspace(1, 0.5, 400), np.ones(400, bool)
    right[::25] = False  # 4 % in every part
    limit, expected = sure_limit(shares, right)
    assert limit < 0.52
    assert TOLERANCES[0] < expected <= TOLERANCES[1]


def test_a_few_right_answers_make_no_model_sure() -> None:
    assert sure_limit(np.full(8, 0.99), np.ones(8, bool))[0] > 1
    assert sure_limit(np.full(9, 0.99), np.ones(9, bool)) == (0.99, 0.1)
    assert sure_limit(np.full(49, 0.99), np.ones(49, bool)) == (0.99, 0.02)
    assert sure_limit(np.zeros(0), np.zeros(0, bool))[0] > 1


def test_an_expectation_that_the_check_refutes_counts_nothing() -> None:
    """1 % was expected, 3 of 20 were wrong, and of 1,598 others 128 were to be wrong, not 240."""
    refuted = judge(20, 3, 1_598, 0.01)
    assert refuted.expected == pytest.approx(1_598 * 3 / 20)
    borne_out = judge(20, 1, 1_598, 0.01)  # at least one of 20 is wrong in 18 of 100 such checks
    assert borne_out.expected == pytest.approx(1_598 * (20 * 0.01 + 1) / 40)
