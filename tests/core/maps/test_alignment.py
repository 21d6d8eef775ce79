import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.maps.alignment import align, normalise
from tests.builders.toy_embeddings import cloud


def test_align_takes_back_a_rotation_a_reflection_a_scale_and_a_shift() -> None:
    layout = cloud(50, 2).astype(np.float64)
    angle = 0.7
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    for mirror in (1.0, -1.0):
        moved = 3.0 * layout @ turn * [mirror, 1.0] + [5.0, -2.0]
        np.testing.assert_allclose(align(moved, layout), layout, atol=1e-5)


def test_points_without_weight_follow_the_others() -> None:
    layout = cloud(30, 2)
    reference = -2.0 * layout + 1.0
    wrong = reference.copy()
    wrong[20:] = 100.0
    weights = (np.arange(30) < 20).astype(np.float64)
    np.testing.assert_allclose(align(layout, wrong, weights), reference, atol=1e-4)


@settings(deadline=None, max_examples=100)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(1, 30),
    size=st.floats(1e-2, 1e2),
    kind=st.sampled_from(["plain", "weighted", "flat"]),
)
def test_align_never_increases_the_squared_distance(
    seed: int, n: int, size: float, kind: str
) -> None:
    generator = np.random.default_rng(seed)
    layout, reference = generator.normal(size=(2, n, 2)) * [[[1.0]], [[size]]]
    if kind == "flat":
        layout[:, 1] = 0.0
    weights = generator.random(n) if kind == "weighted" else None
    share = np.ones(n) if weights is None else weights

    def squared(other: np.ndarray) -> float:
        return float(share @ ((other - reference) ** 2).sum(1))

    assert squared(align(layout, reference, weights)) <= squared(layout) * (1 + 1e-5) + 1e-9


def test_a_layout_of_one_place_is_shifted_onto_its_reference() -> None:
    aligned = align(np.zeros((4, 2)), cloud(4, 2) + 7.0)
    np.testing.assert_allclose(aligned, np.tile((cloud(4, 2) + 7.0).mean(0), (4, 1)), atol=1e-5)


@settings(deadline=None, max_examples=50)
@given(seed=st.integers(0, 10_000), n=st.integers(1, 20), size=st.floats(1e-3, 1e4))
def test_normalise_fills_the_unit_box_and_keeps_the_aspect_ratio(
    seed: int, n: int, size: float
) -> None:
    layout = (np.random.default_rng(seed).normal(size=(n, 2)) * [size, size / 3]).astype(np.float32)
    fitted = normalise(layout)
    assert fitted.min() >= 0.0
    assert fitted.max() <= 1.0
    if n > 1:
        assert np.ptp(fitted, axis=0).max() == pytest.approx(1.0, abs=1e-5)
        ratio = np.ptp(layout, axis=0)
        np.testing.assert_allclose(np.ptp(fitted, axis=0), ratio / ratio.max(), atol=1e-4)
    np.testing.assert_allclose((fitted.min(0) + fitted.max(0)) / 2, 0.5, atol=1e-4)


def test_normalise_of_nothing_is_nothing_and_one_point_is_in_the_middle() -> None:
    assert normalise(np.zeros((0, 2), np.float32)).shape == (0, 2)
    np.testing.assert_array_equal(normalise(np.full((3, 2), 9.0, np.float32)), 0.5)
