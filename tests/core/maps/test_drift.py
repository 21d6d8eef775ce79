"""Where points go when their embeddings move, on maps small enough to check."""

import numpy as np

from core.maps.drift import carry_over, drift_by_neighbours, drift_on_plane
from core.maps.layouts import pca_layout
from core.maps.plane import fit_plane
from core.vectors import unit_rows
from tests.builders.toy_embeddings import groups

ROWS = unit_rows(np.random.default_rng(0).normal(size=(60, 8)).astype(np.float32))


def test_on_a_plane_the_drift_leads_to_the_projection_of_what_moved() -> None:
    moved = unit_rows(0.5 * ROWS[:5] + 0.5 * ROWS[5:10])
    drift = drift_on_plane(fit_plane(ROWS), ROWS[:5], moved)
    expected = fit_plane(ROWS).place(moved)
    np.testing.assert_allclose(pca_layout(ROWS)[:5] + drift, expected, atol=1e-5)


def test_by_neighbours_what_stays_stays_and_what_moves_goes_to_them() -> None:
    left, right = np.eye(8, dtype=np.float32)[:2]
    noise = np.random.default_rng(1).normal(size=(40, 8)).astype(np.float32) * 0.02
    rows = np.concatenate([left + noise[:20], right + noise[20:]])
    layout = np.repeat(np.array([[0.0, 0.0], [4.0, 2.0]], np.float32), 20, axis=0)
    asked = rows[:3]
    np.testing.assert_array_equal(drift_by_neighbours(rows, layout, asked, asked), np.zeros((3, 2)))
    across = drift_by_neighbours(rows, layout, asked, rows[20:23])
    np.testing.assert_allclose(across, [[4.0, 2.0]] * 3, atol=1e-5)
    alone = drift_by_neighbours(rows[:1], layout[:1], rows[:1], rows[30:31])
    np.testing.assert_array_equal(alone, [[0.0, 0.0]])


def test_a_text_without_a_place_appears_among_its_neighbours() -> None:
    rows, which = groups(60)
    layout = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]], np.float32)[which]
    known = np.arange(60) < 50
    placed = carry_over(rows, np.where(known[:, None], layout, np.nan), known)
    np.testing.assert_allclose(placed, layout, atol=1e-6)
    np.testing.assert_array_equal(carry_over(rows, layout, np.zeros(60, bool)), 0.0)
