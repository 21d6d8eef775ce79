"""Texts form groups by meaning."""

import numpy as np

from core.discover.grouping import MOST_GROUPS, group_texts, size_of, usual_groups
from tests.builders.toy_embeddings import cloud, clusters


def test_far_clusters_are_groups_numbered_by_size() -> None:
    toy = clusters(4, 30, 0.1, seed=0)
    rows = np.concatenate([toy.rows, toy.rows[:30] + 0.001])
    grouping = group_texts(rows, 35)
    assert grouping.sizes.tolist() == sorted(grouping.sizes.tolist(), reverse=True)
    assert all(len(set(toy.columns[m[m < 120]])) == 1 for m in grouping.members())
    first = grouping.members()[0]
    assert (np.diff(grouping.closeness[first]) <= 0).all()


def test_one_text_and_equal_texts_are_one_group() -> None:
    one = group_texts(cloud(1), 10)
    assert one.of.tolist() == [0]
    equal = group_texts(np.ones((500, 8), dtype=np.float32), 10)
    assert equal.sizes.tolist() == [500]


def test_equal_texts_among_others_are_one_group_also_where_the_encoder_rounds() -> None:
    """Thousands of equal texts were cut into hundreds of groups of the same name."""
    rows = np.repeat(cloud(1, 16), 9_000, 0) + cloud(9_000, 16, seed=1) * 1e-6
    assert group_texts(rows, 90).sizes.tolist() == [9_000]
    mixed = np.concatenate([rows[:600], clusters(4, 100, 0.1, seed=2, dim=16).rows])
    grouping = group_texts(mixed.astype(np.float32), 50)
    assert len(np.unique(grouping.of[:600])) == 1
    assert (grouping.of[600:] != grouping.of[0]).all()


def test_there_are_never_more_groups_than_a_person_would_look_at() -> None:
    assert len(group_texts(cloud(3_000, 8), 2).centres) <= MOST_GROUPS


def test_beside_labels_more_groups_are_made_but_never_too_many() -> None:
    plain = [usual_groups(n, has_labels=False) for n in (1, 2, 100, 10_000, 1_000_000)]
    assert plain == [1, 1, 10, 100, MOST_GROUPS]
    beside = [usual_groups(n, has_labels=True) for n in (1, 2, 100, 10_000, 50_000, 1_000_000)]
    assert beside == [1, 2, 20, 200, 320, 320]


def test_the_size_for_a_number_of_groups_makes_just_so_many() -> None:
    rows = cloud(500, 8)
    made = [len(group_texts(rows, size_of(500, n_groups)).centres) for n_groups in (1, 2, 7, 22)]
    assert made == [1, 2, 7, 22]
