"""Examples that say nearly the same share one vote, and the nearest of them stands for all."""

import numpy as np

from core.explain.twins import told_together
from core.vectors import unit_rows

UNIT = unit_rows(np.array([[1, 0, 0], [0.99, 0.05, 0], [0.98, 0, 0.05], [1, 1, 0], [0, 0, 1]]))
LABELS = [("refund",), ("refund",), ("parcel",), ("refund",), ("parcel",)]


def test_votes_of_twins_are_joined_and_their_sum_decides_the_order() -> None:
    """Two equal texts had 0.2 each, and another example with 0.3 stood before both."""
    cosines = np.array([0.95, 0.96, 0.94, 0.5, 0.1])
    votes = np.array([0.2, 0.2, -0.1, 0.3, 0.0])
    found = told_together(UNIT, LABELS, cosines, votes)
    # The third has another label; the last has no vote.
    assert [one.rows for one in found] == [(1, 0), (3,), (2,)]
    assert [one.vote for one in found] == [0.4, 0.3, -0.1]


def test_every_vote_is_in_one_group_at_most_and_the_nearest_text_is_named() -> None:
    rng = np.random.default_rng(3)
    unit = unit_rows(rng.normal(size=(300, 4)))
    cosines, votes = unit @ unit[7], rng.normal(size=300)
    found = told_together(unit, [("one",)] * 300, cosines, votes)
    rows = [row for one in found for row in one.rows]
    assert len(rows) == len(set(rows))
    assert 7 in [one.row for one in found]
    for one in found:
        assert abs(one.vote - votes[list(one.rows)].sum()) < 1e-12
        assert (unit[list(one.others)] @ unit[one.row] >= 0.97).all()
