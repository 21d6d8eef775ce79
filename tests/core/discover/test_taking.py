"""A group's sure core is taken, what a person saw stays, and the votes label the rest."""

import numpy as np
import pytest

from core.discover.order import groups_in_order, size_for
from core.discover.showing import SHOWN, show
from core.discover.spreading import spread
from core.discover.taking import NONE, Taken, nothing_taken, take
from tests.builders.toy_embeddings import clusters


def test_shown_texts_are_spread_over_the_core() -> None:
    members, closeness = np.arange(100, 150), np.linspace(0.9, 0.5, 50, dtype=np.float32)
    group = show(members, closeness, 0.6)
    assert group.core.tolist() == list(range(100, 130))
    assert len(group.typical) == SHOWN
    assert (group.typical[0], group.typical[-1]) == (100, 129)
    assert group.border[0] == 149
    assert group.size == 50
    assert group.cohesion == pytest.approx(0.7)


def test_a_small_group_is_shown_and_taken_whole() -> None:
    group = show(np.arange(5), np.ones(5, dtype=np.float32), 0.6)
    assert group.typical.tolist() == group.core.tolist() == [0, 1, 2, 3, 4]
    assert not len(group.border)


def test_taking_labels_the_core_but_not_what_was_removed_or_seen_before() -> None:
    before = Taken(np.array([7, *[NONE] * 19]), np.arange(20) == 0)
    group = show(np.arange(20), np.ones(20, dtype=np.float32), 0.8)
    after = take(before, group, 3, group.typical[-1:])
    assert after.columns[0] == 7
    assert after.columns[group.typical[-1]] == NONE
    assert after.labelled.sum() == 15
    assert after.seen.sum() == len(np.union1d(group.typical[:-1], [0]))
    assert before.labelled.sum() == 1  # the value is frozen


def test_votes_label_the_rest_and_correct_a_core_that_nobody_saw() -> None:
    toy = clusters(4, 40, 0.3, seed=3)
    columns = np.full(160, NONE)
    columns[::4] = toy.columns[::4]
    columns[4] = (toy.columns[4] + 1) % 4  # wrong, and not shown
    seen = columns != NONE
    seen[4] = False
    result = spread(toy.rows, Taken(columns, seen))
    assert (result.columns == toy.columns).mean() > 0.97
    assert result.columns[4] == toy.columns[4]
    assert np.isinf(result.sureness[seen]).all()
    assert set(result.surest(int(seen.sum()))) == set(np.flatnonzero(seen))


def test_groups_are_of_unlabelled_texts_alone_and_the_largest_comes_first() -> None:
    toy = clusters(5, 30, 0.2, seed=4)
    labelled = toy.columns < 2
    taken = Taken(np.where(labelled, toy.columns, NONE), labelled)
    groups = list(groups_in_order(toy.rows, taken, 10))
    rows = np.concatenate([np.concatenate([group.core, group.border]) for group in groups])
    assert not labelled[rows].any()
    gains = [group.size * group.cohesion for group in groups]
    assert gains == sorted(gains, reverse=True)
    everything = Taken(toy.columns, np.ones(150, dtype=bool))
    assert list(groups_in_order(toy.rows, everything, 10)) == []
    assert nothing_taken(3).n_intents == 0


def test_groups_are_as_large_as_the_decisions_ask_for() -> None:
    assert size_for(7_000, 400) == pytest.approx(20)
    assert size_for(10, 400) == 3
