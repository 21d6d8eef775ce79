"""Figures of response selection by hand."""

import math

import numpy as np
import pytest

from core.metrics.bm25 import fit_bm25
from core.metrics.retrieval import mean_reciprocal_rank


def test_reciprocal_ranks_are_averaged_and_ties_count_against() -> None:
    scores = np.array([[3.0, 2.0, 1.0], [3.0, 2.0, 1.0], [1.0, 1.0, 0.0]])
    correct = np.array([0, 2, 0])
    assert mean_reciprocal_rank(scores, correct) == pytest.approx((1 + 1 / 3 + 1 / 2) / 3)
    with pytest.raises(ValueError, match="no queries"):
        mean_reciprocal_rank(np.zeros((0, 3)), np.zeros(0, int))


def test_bm25_by_hand() -> None:
    model = fit_bm25(["the cat", "the dog", "the cat and the bird"])
    assert model.mean_length == 3
    assert model.rarity["cat"] == pytest.approx(math.log(1 + 1.5 / 2.5))
    scores = model.scores("Cat, cat?", ["the cat", "cat cat cat", "a dog"])
    short = 2.2 / (1 + 1.2 * (0.25 + 0.75 * 2 / 3))
    thrice = 3 * 2.2 / (3 + 1.2)
    rarity = math.log(1 + 1.5 / 2.5)
    assert scores == pytest.approx([rarity * short, rarity * thrice, 0.0])


def test_bm25_needs_documents() -> None:
    with pytest.raises(ValueError, match="no documents"):
        fit_bm25([])
