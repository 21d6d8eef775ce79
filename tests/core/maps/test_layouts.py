import importlib.util
import subprocess
import sys
from functools import partial

import numpy as np
import pytest
from sklearn.decomposition import PCA

from core.errors import InvalidInput
from core.maps import layouts
from core.maps.alignment import normalise
from core.maps.layouts import pca_layout
from core.vectors import unit_rows
from tests.builders.toy_embeddings import cloud, groups

needs_umap = pytest.mark.skipif(
    importlib.util.find_spec("umap") is None, reason="the extra `maps` is not installed"
)


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
def test_umap_keeps_its_machine_code_on_disk() -> None:
    """Each map compiled UMAP anew: nine seconds of processor before half a second of work."""
    layouts.umap_layout(np.random.default_rng(0).normal(size=(60, 8)).astype(np.float32))
    from umap import umap_

    kept = umap_.smooth_knn_dist.stats
    assert sum(kept.cache_hits.values()) + sum(kept.cache_misses.values()) > 0


def test_umap_from_an_earlier_layout_stays_comparable(monkeypatch: pytest.MonkeyPatch) -> None:
    """After the 500 epochs of so few points it shows where they started no more.

    Groups that share no neighbours have pushed one another to wherever chance, and how a processor
    rounds, would have them.
    """
    import umap

    monkeypatch.setattr(umap, "UMAP", partial(umap.UMAP, n_epochs=20))
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
    assert "umap-learn" in caught.value.hint


def test_importing_maps_loads_neither_umap_nor_sklearn() -> None:
    modules = "core.maps.layouts, core.maps.moves, core.maps.drift"
    script = f"import sys, {modules}; print({{'umap', 'sklearn', 'faiss'}} & set(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "set()"
