"""Texts form groups by meaning, and added texts move no old one."""

import numpy as np

from core.discover.grouping import MOST_GROUPS, Grouping, group_texts, join
from tests.builders.toy_embeddings import cloud, clusters


def test_far_clusters_are_groups_numbered_by_size() -> None:
    toy = clusters(4, 30, 0.1, seed=0)
    rows = np.concatenate([toy.rows, toy.rows[:30] + 0.001])
    grouping = group_texts(rows, 35)
    assert grouping.sizes.tolist() == sorted(grouping.sizes.tolist(), reverse=True)
    assert all(len(set(toy.columns[m[m < 120]])) == 1 for m in grouping.members())
    first = grouping.members()[0]
    assert (np.diff(grouping.closeness[first]) <= 0).all()


def test_added_texts_join_the_closest_group_or_found_one_and_no_old_text_moves() -> None:
    old = clusters(6, 40, 0.2, seed=1, dim=24)
    grouping = group_texts(old.rows, 40)
    same = clusters(6, 5, 0.2, seed=2, dim=24)
    strange = np.tile(-old.rows.mean(0), (30, 1)) + cloud(30, 24) * 0.001
    joined = join(grouping, np.concatenate([same.rows, strange.astype(np.float32)]), 20)
    assert joined.of[:240].tolist() == grouping.of.tolist()
    assert np.array_equal(joined.centres[: len(grouping.centres)], grouping.centres)
    assert (joined.of[-30:] >= len(grouping.centres)).all()
    of_same = joined.of[240:270]
    assert (of_same < len(grouping.centres)).mean() > 0.8


def test_one_text_and_equal_texts_are_one_group() -> None:
    one = group_texts(cloud(1), 10)
    assert one.of.tolist() == [0]
    equal = group_texts(np.ones((500, 8), dtype=np.float32), 10)
    assert equal.sizes.tolist() == [500]
    assert isinstance(join(one, cloud(3, seed=4), 10), Grouping)


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


def test_a_text_a_little_farther_than_those_of_a_tight_group_joins_it() -> None:
    """Four texts that said nearly the same as a group of eight founded one of their own."""
    old = clusters(2, 8, 0.001, seed=1, dim=24)
    grouping = group_texts(old.rows, 8)
    added = old.rows[:4] + 0.02 * cloud(4, 24)
    joined = join(grouping, added, size=4)
    assert len(joined.centres) == 2
    assert joined.of[-4:].tolist() == joined.of[:4].tolist()


def test_added_texts_about_something_new_found_a_group_and_others_do_not() -> None:
    """Texts of two new intents joined the groups that were there, as no text alone was odd."""
    toy = clusters(8, 60, 0.5, seed=4, dim=24)
    old = np.flatnonzero((toy.columns < 7) & (np.arange(480) % 2 == 0))
    again = np.flatnonzero((toy.columns < 7) & (np.arange(480) % 2 == 1))
    new = np.flatnonzero(toy.columns == 7)[:30]
    grouping = group_texts(toy.rows[old], 30)
    quiet = join(grouping, toy.rows[again], 30)
    assert len(quiet.centres) == len(grouping.centres)
    told = join(grouping, toy.rows[np.concatenate([again, new])], 30)
    is_new = told.of[len(old) :] >= len(grouping.centres)
    assert len(told.centres) == len(grouping.centres) + 1
    assert is_new[-30:].mean() >= 0.5
    assert is_new[:-30].mean() <= 0.03
