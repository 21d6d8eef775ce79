"""Familiarity after a change equals that among the exemplars as they would be."""

import numpy as np

from core.calibration.fence import fit_intent_shapes, signals, with_exemplars
from core.explain.blast_radius import watch
from core.explain.familiarity_after import beside_scores, surround
from tests.builders.toy_votes import random_votes, rows_of
from tests.core.explain.test_blast_radius import random_change, refitted


def test_nearest_and_away_are_those_measured_again() -> None:
    random = np.random.default_rng(0)
    for _ in range(300):
        votes = random_votes(random, int(random.integers(5, 14)), 3)
        head = votes.head
        shapes = fit_intent_shapes(head.exemplars, head.targets)
        watched = watch(votes, rows_of(random, 20))
        around = surround(shapes, watched, head.tau)
        scores = np.zeros((20, 1))
        np.testing.assert_allclose(
            beside_scores(around, None), signals(shapes, watched.unit, scores)[:, 1:], atol=1e-6
        )
        change = random_change(random, votes)
        then = refitted(votes, change)
        moved = with_exemplars(then.exemplars, then.targets, shapes.precision)
        np.testing.assert_allclose(
            beside_scores(around, change), signals(moved, watched.unit, scores)[:, 1:], atol=1e-6
        )
