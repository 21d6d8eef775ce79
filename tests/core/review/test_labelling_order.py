import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from core.review.labelling_order import (
    alike_from,
    asked_worth,
    margins,
    rank,
    rank_many,
    spread,
    worth,
)

SHARES = np.array([[0.9, 0.1, 0.0], [0.4, 0.35, 0.25], [0.5, 0.5, 0.0], [0.34, 0.33, 0.33]])
FAMILIARITY = np.array([0.2, 0.9, 0.5, 0.9])


@pytest.mark.parametrize(
    ("order", "best_first"),
    [("unsure", [3, 1, 2, 0]), ("torn", [2, 3, 1, 0]), ("unlike", [0, 2, 1, 3])],
)
def test_each_order_means_what_it_says(order, best_first: list[int]) -> None:
    """`unsure`: best shares .34 .4 .5 .9. `torn`: margins 0 .01 .05 .8. `unlike`: as given."""
    assert rank(order, SHARES, FAMILIARITY).tolist() == best_first


@pytest.mark.parametrize(
    ("order", "best_first"),
    [("unsure", [2, 0, 1]), ("torn", [1, 2, 0]), ("unlike", [0, 2, 1])],
)
def test_of_several_intents_each_is_an_open_question_of_its_own(order, best_first) -> None:
    """Nearest to a threshold: .1 .2 .05; the second nearest: .8 .25 .3."""
    over = np.array([[0.1, -0.8, -0.9], [0.2, -0.25, 0.9], [-0.05, 0.3, -0.7]])
    assert rank_many(order, over, FAMILIARITY[:3]).tolist() == best_first
    alone = np.array([[0.3], [-0.1]])
    assert rank_many("torn", alone, FAMILIARITY[:2]).tolist() == [1, 0]


def test_margins_are_those_of_the_two_best_and_one_for_a_single_intent() -> None:
    np.testing.assert_allclose(margins(SHARES), [0.8, 0.05, 0.0, 0.01])
    np.testing.assert_allclose(margins(np.ones((2, 1))), [1.0, 1.0])
    assert rank("torn", np.zeros((0, 3)), np.zeros(0)).tolist() == []


def test_near_copies_of_what_was_taken_come_last() -> None:
    rows = np.array([[1, 0], [1, 0], [0.6, 0.8], [0, 1]], dtype=np.float32)
    ranking = np.array([0, 1, 2, 3])
    closest = alike_from(rows)
    assert spread(ranking, rows, 2, closest).tolist() == [0, 2]
    assert spread(ranking, rows, 3, closest).tolist() == [0, 2, 3]
    assert spread(ranking, rows, 4, closest).tolist() == [0, 2, 3, 1]
    assert spread(ranking, rows, 9, closest).tolist() == [0, 2, 3, 1]
    assert spread(ranking[:0], rows, 2, closest).tolist() == []


def test_texts_that_are_alike_stand_apart_also_from_page_to_page() -> None:
    """Eight of twenty cards were of one intent: near means nearer than halfway to any other."""
    turns = np.array([0.0, 0.3, 0.6, 1.5, 1.8, 2.1, 3.0, 3.3, 3.6])  # three groups of three
    rows = np.stack([np.cos(turns), np.sin(turns)], 1).astype(np.float32)
    ranking = np.arange(9)
    closest = alike_from(rows)
    assert spread(ranking, rows, 9, closest).tolist() == [0, 3, 6, 1, 4, 7, 2, 5, 8]
    assert spread(ranking[1:], rows, 2, closest, rows[:1]).tolist() == [3, 6]
    assert spread(ranking[1:], rows, 3, closest, rows[:1]).tolist() == [3, 6, 1]


def test_a_doubtful_text_with_many_alike_is_worth_more_than_a_lonely_one() -> None:
    """Rubbish and texts out of scope are the most doubtful, and filled the first forty cards."""
    crowd = np.array([[np.cos(a), np.sin(a), 0] for a in np.linspace(0, 0.2, 9)], np.float32)
    rows = np.concatenate([crowd, np.array([[0, 0, 1]], np.float32)])
    doubts = np.array([0.5] * 8 + [0.1] + [0.9])
    values = worth(doubts, rows)
    assert values.shape == (10,)
    assert values[:8].min() > values[9] > values[8]
    assert values[4] == values[:8].max()  # in the middle of the crowd
    assert worth(doubts[:0], rows[:0]).shape == (0,)


@settings(deadline=None, max_examples=60)
@given(
    angles=arrays.arrays(np.float64, st.integers(1, 20), elements=st.floats(0, 6)),
    n=st.integers(0, 25),
    random=st.randoms(use_true_random=False),
)
def test_spread_takes_as_many_as_it_can_and_copies_only_at_need(angles, n, random) -> None:
    rows = np.stack([np.cos(angles), np.sin(angles)], 1).astype(np.float32)
    ranking = np.array(random.sample(range(len(rows)), len(rows)), dtype=np.int64)
    limit = alike_from(rows)
    taken = spread(ranking, rows, n, limit).tolist()
    assert len(taken) == len(set(taken)) == min(n, len(rows))
    assert np.isclose(limit, (1 + (rows @ rows.T).mean()) / 2)
    near = [
        bool((rows[taken[:at]] @ rows[row]).max() > limit) for at, row in enumerate(taken) if at
    ]
    first = near.index(True) if True in near else len(near)
    left = [row for row in ranking.tolist() if row not in taken[: first + 1]]
    if first < len(near):  # a copy is taken only where all that are left are copies
        assert all((rows[taken[: first + 1]] @ rows[row]).max() > limit - 1e-6 for row in left)
    if taken:
        assert taken[0] == ranking[0]


def test_a_label_settles_the_doubt_of_what_is_said_like_it() -> None:
    """Two alike texts, said 3 times and once, each half sure; one said 5 times, and one never."""
    unit = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]], dtype=np.float32)
    doubts, times = np.array([0.5, 0.5, 0.2, 1.0]), np.array([3, 1, 5, 0])
    settled = asked_worth(doubts, unit, times)
    assert settled[:3] == pytest.approx([2.0, 2.0, 1.0], abs=0.001)
    assert settled[3] == 0.0
