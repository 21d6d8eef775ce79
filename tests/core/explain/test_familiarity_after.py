"""Familiarity after a change equals that among the exemplars as they would be."""

import numpy as np

from core.calibration.fence import landscape, peopled, signals
from core.explain.blast_radius import watch
from core.explain.familiarity_after import beside_scores, surround
from tests.builders.toy_votes import random_standing, rows_of
from tests.core.explain.test_blast_radius import random_change, refitted


def test_nearest_and_away_are_those_measured_again() -> None:
    random = np.random.default_rng(0)
    for _ in range(300):
        standing = random_standing(random, int(random.integers(5, 14)), 3)
        head = standing.head
        where = landscape(head.exemplars, head.targets)
        watched = watch(standing, rows_of(random, 20))
        around = surround(where, watched, head.tau)
        scores = np.zeros((20, 1))
        np.testing.assert_allclose(
            beside_scores(around, None), signals(where, watched.unit, scores)[:, 1:], atol=1e-6
        )
        change = random_change(random, standing)
        then = refitted(standing, change)
        moved = peopled(then.exemplars, then.targets, where.precision)
        np.testing.assert_allclose(
            beside_scores(around, change), signals(moved, watched.unit, scores)[:, 1:], atol=1e-6
        )
