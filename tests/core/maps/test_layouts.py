import importlib.util
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.decomposition import PCA

from core.errors import InvalidInput
from core.maps import layouts
from core.maps.layouts import (
    Placed,
    align,
    carry_over,
    moved_most,
    neighbours,
    normalise,
    pca_layout,
)
from core.vectors import cosines, nearest, unit_rows

needs_umap = pytest.mark.skipif(
    importlib.util.find_spec("umap") is None, reason="the extra `maps` is not installed"
)


def cloud(n: int, dim: int = 24, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, dim)).astype(np.float32)


def groups(n: int = 90, seed: int = 0, spread: float = 0.15) -> tuple[np.ndarray, np.ndarray]:
    """Three far groups of directions, and which row is of which."""
    generator = np.random.default_rng(seed)
    which = np.arange(n) % 3
    rows = np.eye(3, 12)[which] + generator.normal(scale=spread / 3, size=(n, 12))
    return rows.astype(np.float32), which


def purity(layout: np.ndarray, which: np.ndarray) -> float:
    """Share of points whose nearest point on the map is of their group."""
    gaps = np.linalg.norm(layout[:, None] - layout[None, :], axis=2)
    np.fill_diagonal(gaps, np.inf)
    return float((which[gaps.argmin(1)] == which).mean())


@pytest.mark.parametrize(("n", "dim"), [(300, 24), (10, 64), (9_000, 8)])
def test_pca_is_the_reference_up_to_sign_and_never_flips(n: int, dim: int) -> None:
    rows = cloud(n, dim) * np.linspace(3, 1, dim, dtype=np.float32)
    ours = pca_layout(rows)
    reference = PCA(2, svd_solver="full").fit_transform(unit_rows(rows).astype(np.float64))
    signs = np.sign((ours * reference).sum(0))
    np.testing.assert_allclose(ours * signs, reference, atol=2e-4)
    shuffled = np.random.default_rng(1).permutation(n)
    np.testing.assert_allclose(pca_layout(rows[shuffled]), ours[shuffled], atol=2e-4)
    np.testing.assert_array_equal(pca_layout(rows), ours)
    assert ours.dtype == np.float32


@pytest.mark.parametrize("shape", [(0, 5), (1, 5), (2, 5), (4, 1), (3, 0)])
def test_pca_of_hardly_anything_is_a_layout(shape: tuple[int, int]) -> None:
    layout = pca_layout(np.ones(shape, dtype=np.float32))
    assert layout.shape == (shape[0], 2)
    np.testing.assert_allclose(layout, 0.0, atol=1e-6)


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


def test_neighbours_are_the_nearest_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layouts, "_BLOCK", 64)
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


def test_moved_most_finds_the_texts_that_changed_sides() -> None:
    before, which = groups(120)
    planted = [7, 44, 100]
    after = before.copy()
    for row in planted:
        other = (which[row] + 1) % 3
        after[row] = before[which == other].mean(0)
    reference = pca_layout(before)
    old, new = Placed(before, reference), Placed(after, align(pca_layout(after), reference))
    found = moved_most(old, new, 3)
    assert {move.row for move in found} == set(planted)
    assert {move.change for move in found} == {1.0}
    assert found[0].distance >= found[1].distance >= found[2].distance > 0.5
    among = moved_most(old, new, 5, rows=np.array([3, 44, 5]))
    assert among[0].row == 44
    assert {move.row for move in among} == {3, 44, 5}


def test_nothing_moved_between_a_map_and_itself() -> None:
    rows = cloud(60)
    same = Placed(rows, pca_layout(rows))
    assert {(m.change, m.distance) for m in moved_most(same, same, 60)} == {(0.0, 0.0)}


def test_a_text_without_a_place_appears_among_its_neighbours() -> None:
    rows, which = groups(60)
    layout = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]], np.float32)[which]
    known = np.arange(60) < 50
    placed = carry_over(rows, np.where(known[:, None], layout, np.nan), known)
    np.testing.assert_allclose(placed, layout, atol=1e-6)
    np.testing.assert_array_equal(carry_over(rows, layout, np.zeros(60, bool)), 0.0)


@needs_umap
def test_umap_keeps_groups_together_and_repeats_itself() -> None:
    rows, which = groups()
    shares: list[float] = []
    layout = layouts.umap_layout(rows, seed=3, progress=shares.append)
    assert layout.shape == (90, 2)
    assert layout.dtype == np.float32
    assert purity(layout, which) == 1.0
    np.testing.assert_array_equal(layouts.umap_layout(rows, seed=3), layout)
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1.0)


@needs_umap
def test_umap_from_an_earlier_layout_stays_comparable() -> None:
    before, which = groups()
    after = before + cloud(90, 12, seed=5) * 0.02
    for places in ([[0, 0], [9, 0], [0, 9]], [[0, 9], [0, 0], [9, 0]]):
        arranged = (np.array(places)[which] + cloud(90, 2)).astype(np.float32)
        second = normalise(layouts.umap_layout(after, init=arranged))
        reference = normalise(arranged)
        for group in range(3):
            now = second[which == group].mean(0)
            gaps = [np.linalg.norm(now - reference[which == other].mean(0)) for other in range(3)]
            assert int(np.argmin(gaps)) == group


@needs_umap
def test_umap_heeds_a_wish_to_stop() -> None:
    class Stopped(Exception):
        pass

    def stop(share: float) -> None:
        raise Stopped

    with pytest.raises(Stopped):
        layouts.umap_layout(cloud(50), progress=stop)


def test_tsne_keeps_groups_together_and_repeats_itself(capsys) -> None:
    rows, which = groups()
    shares: list[float] = []
    layout = layouts.tsne_layout(rows, seed=3, progress=shares.append)
    assert purity(layout, which) == 1.0
    np.testing.assert_array_equal(layouts.tsne_layout(rows, seed=3), layout)
    assert shares == sorted(shares)
    assert shares[-1] > 0.2
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("method", ["umap_layout", "tsne_layout"])
@pytest.mark.parametrize("n", [0, 1, 3, 5])
def test_hardly_any_points_have_a_layout_all_the_same(method: str, n: int) -> None:
    if method == "umap_layout":
        pytest.importorskip("umap")
    layout = getattr(layouts, method)(np.ones((n, 6), np.float32))
    assert layout.shape == (n, 2)
    assert np.isfinite(layout).all()


def test_what_cannot_be_laid_out_is_said_with_the_next_step(monkeypatch) -> None:
    with pytest.raises(InvalidInput, match=r"t-SNE of 20,001 texts.*up to 20,000") as caught:
        layouts.tsne_layout(np.zeros((20_001, 2), np.float32))
    assert "umap or pca" in caught.value.hint
    with pytest.raises(InvalidInput, match="no map by 'mds'"):
        layouts.check_method("mds", 3)
    monkeypatch.setattr(layouts, "find_spec", lambda name: None)
    with pytest.raises(InvalidInput, match="UMAP is not installed") as caught:
        layouts.umap_layout(cloud(10))
    assert "pip install 'intent-studio[maps]'" in caught.value.hint


def test_importing_maps_loads_neither_umap_nor_sklearn() -> None:
    script = "import sys, core.maps; print({'umap', 'sklearn', 'faiss'} & set(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "set()"
