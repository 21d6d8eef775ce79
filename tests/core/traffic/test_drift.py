"""Drift is told of samples that differ, and seldom of those that do not."""

import numpy as np

from core.traffic.drift import ALPHA, corrected, mean_drift, meaning_drift
from tests.builders.toy_embeddings import clusters

TOY = clusters(4, 200, 0.4, seed=0, dim=16)


def drawn(columns: set[int], n: int, seed: int) -> np.ndarray:
    rows = np.flatnonzero(np.isin(TOY.columns, list(columns)))
    return TOY.rows[np.random.default_rng(seed).choice(rows, n)]


def test_a_new_subject_is_told_and_its_texts_are_the_most_typical() -> None:
    before = drawn({0, 1, 2}, 300, 1)
    after = np.concatenate([drawn({0, 1, 2}, 240, 2), drawn({3}, 60, 3)])
    found = meaning_drift(before, after)
    assert found.p_value <= ALPHA / 2
    assert set(found.typical[:20]) <= set(range(240, 300))


def test_equal_samples_are_seldom_told_apart() -> None:
    told = [
        meaning_drift(drawn({0, 1, 2, 3}, 100, n), drawn({0, 1, 2, 3}, 120, 100 + n), n).p_value
        for n in range(40)
    ]
    assert sum(p <= 0.05 for p in told) <= 6  # of a fair test 2 on average
    assert 0.3 < float(np.mean(told)) < 0.7


def test_shares_are_compared_by_their_means() -> None:
    first, second = np.zeros(200), np.zeros(200)
    first[:20], second[:60] = 1.0, 1.0
    assert mean_drift(first, second).p_value <= 0.001
    assert mean_drift(first, np.roll(first, 7)).p_value == 1.0


def test_many_comparisons_need_less_chance_each() -> None:
    assert corrected([0.01, 0.5, 0.02]) == [0.03, 0.5, 0.04]
    assert corrected([]) == []
