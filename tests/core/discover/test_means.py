"""Directions are divided into groups as tight as passes over all of them make them."""

import numpy as np

from core.discover.means import closest, divided
from tests.builders.toy_embeddings import cloud, clusters


def test_most_clusters_have_a_group_of_their_own() -> None:
    toy = clusters(60, 40, 0.35, seed=0, dim=32)
    for seed in range(3):
        of = divided(toy.rows, 90, seed)
        own = {
            np.bincount(toy.columns[of == group]).argmax()
            for group in np.unique(of)
            if np.bincount(toy.columns[of == group]).max() * 2 >= (of == group).sum()
        }
        assert len(own) == 60


def test_a_seed_gives_the_same_groups_and_every_text_the_closest_one() -> None:
    rows = cloud(500, 8)
    of = divided(rows, 20, seed=3)
    np.testing.assert_array_equal(of, divided(rows, 20, seed=3))
    assert len(np.unique(of)) == 20
    means = np.stack([rows[of == group].sum(0) for group in range(20)])
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    assert (closest(rows, means)[0] == of).mean() > 0.9


def test_as_many_groups_as_texts_and_equal_texts() -> None:
    assert len(np.unique(divided(cloud(12, 8), 12))) == 12
    equal = np.repeat(cloud(3, 8), 40, 0)
    of = divided(equal, 9)
    assert all((equal[of == group] == equal[of == group][0]).all() for group in np.unique(of))


def test_rows_beyond_a_chunk_find_their_centre() -> None:
    rows = cloud(9_000, 4)
    of, closeness = closest(rows, rows[:3])
    np.testing.assert_array_equal(of, (rows @ rows[:3].T).argmax(1))
    np.testing.assert_allclose(closeness, (rows @ rows[:3].T).max(1))
