"""Votes among compressed utterances, on cases worked out by hand."""

import numpy as np
import pytest

from core.heads.votes.compression import (
    Paired,
    choose_strength,
    compressed_votes,
    held_out_accuracies,
)
from core.heads.votes.fit import fit_votes, votes
from core.vectors import unit_rows
from tests.builders.toy_embeddings import clusters


def paired(spread: float = 0.9) -> tuple[Paired, np.ndarray, tuple[str, ...]]:
    """Utterances around the centres of three intents, which are their templates."""
    toy = clusters(3, 12, spread, seed=1)
    centres = np.stack([toy.rows[toy.columns == one].mean(0) for one in range(3)])
    return Paired(unit_rows(centres[toy.columns]), toy.rows), toy.targets, toy.intents


def test_strength_nought_is_the_head_itself_and_one_leaves_templates_alone() -> None:
    pair, targets, intents = paired()
    head = fit_votes(pair.utterances, targets, intents, 0.4, 0.1)
    same = compressed_votes(head, pair, 0.0)
    np.testing.assert_array_equal(same.weights, head.weights)
    np.testing.assert_array_equal(same.exemplars, head.exemplars)
    whole = compressed_votes(head, pair, 1.0)
    assert len(np.unique(whole.exemplars, axis=0)) == 3
    np.testing.assert_allclose(whole.exemplars, pair.templates, atol=1e-6)
    assert (whole.root, whole.tau, whole.ridge) == (None, head.tau, head.ridge)


def test_compressed_votes_and_prior_add_up_to_the_score() -> None:
    pair, targets, intents = paired()
    head = compressed_votes(fit_votes(pair.utterances, targets, intents, 0.4, 0.1), pair, 0.3)
    asked = unit_rows(pair.utterances[:1] + 0.2)
    total = votes(head, asked[0]).sum(0) + head.prior
    np.testing.assert_allclose(total, head.scores(asked)[0], atol=1e-12)


def test_halfway_lies_halfway_between_unit_rows() -> None:
    pair = Paired(np.array([[0.0, 1.0]], np.float32), np.array([[1.0, 0.0]], np.float32))
    np.testing.assert_allclose(pair.at(0.5), [[0.5**0.5, 0.5**0.5]], atol=1e-6)
    np.testing.assert_allclose(pair.at(0.2), np.array([[0.8, 0.2]]) / 0.68**0.5, atol=1e-6)


def test_held_out_texts_are_asked_with_what_was_proposed_for_them() -> None:
    pair, targets, intents = paired(spread=2.5)
    head = fit_votes(pair.utterances, targets, intents, 0.4, 0.1)
    folds = [np.arange(start, 36, 3) for start in range(3)]
    steps = (0.0, 0.5, 1.0)
    helped = held_out_accuracies(head, pair, pair, folds, steps)
    assert helped[0.0] < helped[0.5] <= helped[1.0] == 1.0  # their templates are their intents
    unproposed = Paired(pair.utterances, pair.utterances)
    alone = held_out_accuracies(head, pair, unproposed, folds, steps)
    assert alone[0.0] == helped[0.0]
    assert alone[1.0] < 1.0
    expected = []
    for fold in folds:
        seen = np.setdiff1d(np.arange(36), fold)
        part = fit_votes(pair.utterances[seen], targets[seen], intents, 0.4, 0.1)
        right = part.scores(pair.utterances[fold]).argmax(1) == targets[fold].argmax(1)
        expected += right.tolist()
    assert helped[0.0] == pytest.approx(np.mean(expected))


def test_the_weakest_of_the_best_strengths_is_chosen() -> None:
    assert choose_strength({0.0: 0.8, 0.3: 0.9, 0.5: 0.9, 1.0: 0.1}) == 0.3
