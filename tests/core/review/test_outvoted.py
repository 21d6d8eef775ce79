"""Whose label is doubted: examples that stand alone among neighbours of another label."""

import numpy as np

from core.review.outvoted import outvoted
from core.vectors import unit_rows


def test_only_an_example_alone_among_neighbours_that_agree_is_outvoted() -> None:
    rng = np.random.default_rng(0)
    centres = np.eye(8)[:2]
    rows = [centres[place // 12] + 0.05 * rng.standard_normal(8) for place in range(24)]
    unit = unit_rows(np.array(rows, np.float32))
    labels = [("refund",)] * 12 + [("parcel",)] * 12
    labels[3] = ("parcel",)
    assert outvoted(unit, labels, range(24)) == {3: ("refund",)}
    assert outvoted(unit, labels, [4]) == {}
    labels[4] = labels[5] = ("parcel",)  # no longer alone
    assert outvoted(unit, labels, range(24)) == {}
    assert outvoted(unit[:8], labels[:8], [3]) == {}  # too few to agree
