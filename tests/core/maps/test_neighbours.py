import numpy as np
import pytest

from core.maps.neighbours import neighbours
from core.vectors import cosines, nearest, unit_rows
from tests.builders.toy_embeddings import cloud


def test_neighbours_are_the_nearest_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.maps.neighbours._BLOCK", 64)
    rows = cloud(200)
    similarity = cosines(unit_rows(rows), unit_rows(rows))
    np.fill_diagonal(similarity, -2.0)
    expected = nearest(similarity, 7)
    shares: list[float] = []
    found, values = neighbours(rows, 7, shares.append)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_allclose(values, np.take_along_axis(similarity, expected, 1), atol=1e-6)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_equal_texts_are_neighbours_and_nobody_is_their_own() -> None:
    rows = np.concatenate([np.ones((20, 4)), cloud(5, 4)]).astype(np.float32)
    found, _ = neighbours(rows, 3)
    assert not (found == np.arange(25)[:, None]).any()
    assert neighbours(rows[:2], 9)[0].tolist() == [[1], [0]]
    assert neighbours(rows[:1], 9)[0].shape == (1, 0)
