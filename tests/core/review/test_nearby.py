"""The neighbours of the review come in one order."""

import numpy as np

from core.review.nearby import nearby


def test_equally_near_texts_come_by_row() -> None:
    unit = np.tile(np.eye(2, dtype=np.float32), (200, 1))
    assert nearby(unit, 4).rows[:3].tolist() == [[2, 4, 6, 8], [3, 5, 7, 9], [0, 4, 6, 8]]
