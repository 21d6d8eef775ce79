"""Familiarity after a change equals that among the exemplars as they would be."""

import numpy as np

from core.explain.blast import watch
from core.explain.surroundings import beside_scores, surround
from core.heads.fence import landscape, peopled, signals
from tests.core.explain.test_blast import random_change, refitted
from tests.core.explain.toys import random_standing, rows_of


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
