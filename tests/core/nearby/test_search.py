"""The nearest texts come in one order, whatever the number of texts that are searched at once."""

import numpy as np
import pytest

from core.nearby import search
from core.nearby.search import NOWHERE, nearby, nearby_among, nearby_but_own
from tests.builders.toy_embeddings import cloud

TWO_WAYS = np.tile(np.eye(2, dtype=np.float32), (200, 1))


@pytest.mark.parametrize("chunk", [1, 512])
def test_equally_near_texts_come_by_row(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "_CHUNK", chunk)
    assert nearby(TWO_WAYS, 4).rows[:3].tolist() == [[2, 4, 6, 8], [3, 5, 7, 9], [0, 4, 6, 8]]
    among = nearby_among(TWO_WAYS[:2], TWO_WAYS, 3)
    assert among.rows.tolist() == [[0, 2, 4], [1, 3, 5]]


@pytest.mark.parametrize("cells", [1, 1 << 24])
def test_a_text_is_no_neighbour_of_itself(cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 200 equal texts some eight were returned, in an order that said nothing."""
    monkeypatch.setattr(search, "_CELLS", cells)
    found = nearby_but_own(TWO_WAYS[:3], TWO_WAYS, np.array([0, NOWHERE, 2]), 4)
    assert found.rows.tolist() == [[2, 4, 6, 8], [1, 3, 5, 7], [0, 4, 6, 8]]
    assert (found.cosines == 1.0).all()


def test_where_nobody_is_near_nothing_is_found() -> None:
    rows = cloud(3)
    assert nearby(rows[:1], 4).rows.shape == (1, 0)
    assert nearby(rows[:0], 4).rows.shape == (0, 0)
    assert nearby_among(rows, rows[:0], 4).cosines.shape == (3, 0)
    assert nearby(rows, 4).rows.shape == (3, 2)


def test_each_block_waits_for_a_pause() -> None:
    pauses = list[int]()
    nearby(cloud(1_025), 1, lambda: pauses.append(1))
    assert len(pauses) == 3
