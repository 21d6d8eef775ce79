"""The nearest texts come in one order, whatever the number of texts that are searched at once."""

import numpy as np
import pytest

from core.discover import neighbours
from core.discover.neighbours import NOWHERE, nearest_rows


@pytest.mark.parametrize("cells", [1, 1 << 24])
def test_equally_near_texts_come_by_row(cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 200 equal texts some eight were returned, in an order that said nothing."""
    monkeypatch.setattr(neighbours, "_CELLS", cells)
    beside = np.tile(np.eye(2, dtype=np.float32), (200, 1))
    rows, cosines = nearest_rows(beside[:3], beside, np.array([0, NOWHERE, 2]), 4)
    assert rows.tolist() == [[2, 4, 6, 8], [1, 3, 5, 7], [0, 4, 6, 8]]
    assert (cosines == 1.0).all()
