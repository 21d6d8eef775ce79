"""Added texts join the closest group or found one, and no old text moves."""

import numpy as np

from core.discover.grouping import group_texts
from core.discover.joining import join
from tests.builders.toy_embeddings import cloud, clusters


def test_added_texts_join_the_closest_group_or_found_one_and_no_old_text_moves() -> None:
    old = clusters(6, 40, 0.2, seed=1, dim=24)
    grouping = group_texts(old.rows, 40)
    same = clusters(6, 5, 0.2, seed=2, dim=24)
    strange = np.tile(-old.rows.mean(0), (30, 1)) + cloud(30, 24) * 0.001
    joined = join(grouping, old.rows, np.concatenate([same.rows, strange.astype(np.float32)]), 20)
    assert joined.of[:240].tolist() == grouping.of.tolist()
    assert np.array_equal(joined.centres[: len(grouping.centres)], grouping.centres)
    assert (joined.of[-30:] >= len(grouping.centres)).all()
    of_same = joined.of[240:270]
    assert (of_same < len(grouping.centres)).mean() > 0.8


def test_a_text_a_little_farther_than_those_of_a_tight_group_joins_it() -> None:
    """Four texts that said nearly the same as a group of eight founded one of their own."""
    old = clusters(2, 8, 0.001, seed=1, dim=24)
    grouping = group_texts(old.rows, 8)
    added = old.rows[:4] + 0.02 * cloud(4, 24)
    joined = join(grouping, old.rows, added, size=4)
    assert len(joined.centres) == 2
    assert joined.of[-4:].tolist() == joined.of[:4].tolist()


def test_added_texts_about_something_new_found_a_group_and_others_do_not() -> None:
    """Texts of two new intents joined the groups that were there, as no text alone was odd."""
    toy = clusters(8, 60, 0.5, seed=4, dim=24)
    old = np.flatnonzero((toy.columns < 7) & (np.arange(480) % 2 == 0))
    again = np.flatnonzero((toy.columns < 7) & (np.arange(480) % 2 == 1))
    new = np.flatnonzero(toy.columns == 7)[:30]
    grouping = group_texts(toy.rows[old], 30)
    quiet = join(grouping, toy.rows[old], toy.rows[again], 30)
    assert len(quiet.centres) == len(grouping.centres)
    told = join(grouping, toy.rows[old], toy.rows[np.concatenate([again, new])], 30)
    is_new = told.of[len(old) :] >= len(grouping.centres)
    assert len(told.centres) == len(grouping.centres) + 1
    assert is_new[-30:].mean() >= 0.5
    assert is_new[:-30].mean() <= 0.03


def test_one_text_is_joined_by_others() -> None:
    one = group_texts(cloud(1), 10)
    joined = join(one, cloud(1), cloud(3, seed=4), 10)
    assert joined.of.tolist() == [0, 0, 0, 0]
    none = join(one, cloud(1), cloud(0), 10)
    assert none.of.tolist() == [0]


def test_many_texts_beside_few_found_groups_where_they_are_far_from_these() -> None:
    """Two texts cannot tell by chance that 200 others are about something new."""
    few = clusters(1, 2, 0.1, seed=1, dim=24).rows
    many = clusters(4, 50, 0.1, seed=2, dim=24).rows
    joined = join(group_texts(few, 2), few, many, 50)
    assert len(joined.centres) > 1
    assert (joined.of[2:] > 0).mean() > 0.5
