"""Embeddings as points on a page: layouts, how two of them compare, and which texts moved.

All distances are cosine: embeddings of any length are scaled to length one first.
"""

import io
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, redirect_stdout
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from core.errors import InvalidInput
from core.maps.plane import fit_plane
from core.types import FloatArray
from core.vectors import unit_rows

Method = Literal["pca", "umap", "tsne"]
METHODS: tuple[str, ...] = get_args(Method)
Progress = Callable[[float], None]
"""Called with the share that is done, in [0, 1]; may raise to stop."""

TSNE_LIMIT = 20_000
"""t-SNE takes many minutes above it, and its maps of so many points say little."""

_BLOCK = 4_096
_FEWEST = 4
"""Of fewer points, a neighbourhood is everything, and PCA says all there is to say."""
_NEIGHBOURS = 15
_SEARCH_SHARE = 0.4
_PERPLEXITY = 30.0
_TSNE_STEPS = 1_000
_JITTER = 1e-4
_WORTH_THREADS = 2_000
"""Threads of t-SNE wait for each other in every step; for few points they mostly wait."""


def require_method(method: str) -> None:
    """Refuse what is no method.

    Raises:
        InvalidInput: Naming those that there are.
    """
    if method not in METHODS:
        choices = ", ".join(METHODS)
        raise InvalidInput(f"There is no map by '{method}'.", f"Choose one of {choices}.")


def check_method(method: str, n: int) -> None:
    """Refuse a layout of n points that could not be computed.

    Raises:
        InvalidInput: No such method, too many points for it, or what it needs is not installed.
    """
    require_method(method)
    if method == "tsne" and n > TSNE_LIMIT:
        raise InvalidInput(
            f"t-SNE of {n:,} texts would take too long; it takes up to {TSNE_LIMIT:,}.",
            "Choose umap or pca.",
        )
    if method == "umap" and find_spec("umap") is None:
        raise InvalidInput(
            "UMAP is not installed.",
            "Run `pip install 'intent-studio[maps]'`, or choose pca or tsne.",
        )


def pca_layout(embeddings: FloatArray) -> FloatArray:
    """Project on the two directions of greatest variance; (n, d) to (n, 2) float32.

    Each axis points to where its largest loading is positive, so that a map never flips.
    """
    return fit_plane(embeddings).place(embeddings)


def umap_layout(
    embeddings: FloatArray,
    seed: int = 0,
    init: FloatArray | None = None,
    progress: Progress | None = None,
) -> FloatArray:
    """Lay out by UMAP on exact cosine neighbours; the same for the same seed.

    Args:
        embeddings: (n, d), of any length.
        seed: Of everything random.
        init: Where the points start, (n, 2); None starts from PCA. From an earlier layout, the
            new one keeps its arrangement as far as the embeddings allow.
        progress: Told now and then.

    Returns:
        (n, 2) float32.

    Raises:
        InvalidInput: umap-learn is not installed.
    """
    n = len(embeddings)
    check_method("umap", n)
    if n < _FEWEST:
        return pca_layout(embeddings)
    tell = progress or _tell_nobody
    unit = unit_rows(embeddings)
    k = min(_NEIGHBOURS, n - 1)
    others, similarity = neighbours(unit, k - 1, lambda share: tell(_SEARCH_SHARE * share))
    near = np.column_stack([np.arange(n), others])
    distances = np.column_stack([np.zeros(n), 1.0 - similarity]).astype(np.float32)
    meter = _Meter(r"(\d+)/(\d+)", lambda share: tell(_SEARCH_SHARE + (1 - _SEARCH_SHARE) * share))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # tensorflow is absent, and new texts are not transformed
        from umap import UMAP

        model = UMAP(
            n_neighbors=k,
            metric="cosine",
            init=_start(unit, init, seed),
            random_state=seed,
            n_jobs=1,
            precomputed_knn=(near, distances, None),
            tqdm_kwds={"disable": False, "file": meter, "bar_format": "{n_fmt}/{total_fmt}\n"},
        )
        layout: FloatArray = model.fit_transform(unit).astype(np.float32)
    return layout


def tsne_layout(
    embeddings: FloatArray,
    seed: int = 0,
    init: FloatArray | None = None,
    progress: Progress | None = None,
) -> FloatArray:
    """Lay out by t-SNE on cosine neighbours; arguments as for `umap_layout`.

    Returns:
        (n, 2) float32.

    Raises:
        InvalidInput: More than `TSNE_LIMIT` points.
    """
    n = len(embeddings)
    check_method("tsne", n)
    if n < _FEWEST:
        return pca_layout(embeddings)
    from sklearn.manifold import TSNE

    unit = unit_rows(embeddings)
    start = _start(unit, init, seed)
    model = TSNE(
        perplexity=min(_PERPLEXITY, (n - 1) / 3),
        metric="cosine",
        init=start * np.float32(1e-4 / start[:, 0].std()),  # small, as the method wants it
        max_iter=_TSNE_STEPS,
        random_state=seed,
        verbose=0 if progress is None else 2,
    )
    with _steps_told(progress), threadpool_limits(1 if n < _WORTH_THREADS else None):
        layout: FloatArray = model.fit_transform(unit).astype(np.float32)
    return layout


def normalise(layout: FloatArray, frame: FloatArray | None = None) -> FloatArray:
    """Fit a layout (n, 2) into the unit box, centred, one scale for both axes; float32.

    With a frame, (m, 2), it is put where that one would be; what lies beyond comes to the edge.
    """
    if not len(layout):
        return np.zeros((0, 2), dtype=np.float32)
    box = layout if frame is None else frame
    low, high = box.min(0).astype(np.float64), box.max(0).astype(np.float64)
    span = float((high - low).max())
    centred = layout - (low + high) / 2
    fitted: FloatArray = (centred / (span or 1.0) + 0.5).astype(np.float32)
    return np.clip(fitted, 0.0, 1.0, out=fitted)


def align(
    layout: FloatArray, reference: FloatArray, weights: NDArray[np.float64] | None = None
) -> FloatArray:
    """Rotate, reflect, scale and shift a layout onto a reference as near as it goes.

    Weighted orthogonal Procrustes: no other such change brings the rows, squared distances
    summed, nearer to their partners.

    Args:
        layout: (n, 2).
        reference: (n, 2), row by row the same points.
        weights: How much each point counts, (n,); None counts all alike. Points of weight zero
            follow the others.

    Returns:
        (n, 2) float32.
    """
    share = np.ones(len(layout)) if weights is None else weights.astype(np.float64)
    if share.sum() <= 0.0:
        return layout.astype(np.float32)
    share = share / share.sum()
    here, there = layout.astype(np.float64), reference.astype(np.float64)
    target = share @ there
    here, there = here - share @ here, there - target
    left, fit, right = np.linalg.svd((here * share[:, None]).T @ there)
    size = float(share @ (here**2).sum(1))
    # Where nothing agrees, every scale fits equally badly: the layout keeps its own.
    scale = fit.sum() / size if size > 0.0 and fit.sum() > 0.0 else 1.0
    aligned: FloatArray = (scale * here @ (left @ right) + target).astype(np.float32)
    return aligned


def neighbours(
    embeddings: FloatArray, k: int, progress: Progress | None = None
) -> tuple[NDArray[np.int64], FloatArray]:
    """Find the k nearest other rows of every row, exactly, block by block.

    Returns:
        Rows, nearest first, (n, min(k, n - 1)) int64, and their cosines, float32.
    """
    everyone = np.arange(len(embeddings))
    return _neighbours_of(everyone, unit_rows(embeddings), k, progress)


def carry_over(
    embeddings: FloatArray, layout: FloatArray, known: NDArray[np.bool_], k: int = 5
) -> FloatArray:
    """Give rows without a place the mean place of their k nearest rows that have one.

    Args:
        embeddings: (n, d), of any length.
        layout: (n, 2); rows that are not `known` are ignored.
        known: Which rows have a place, (n,).
        k: How many neighbours vote.

    Returns:
        (n, 2) float32; all zero where nothing is known.
    """
    placed = np.where(known[:, None], layout, 0.0).astype(np.float32)
    if known.all() or not known.any():
        return placed
    unit = unit_rows(embeddings)
    index = _index(unit[known])
    for part in _blocks(len(unit)):
        rows = np.flatnonzero(~known[part]) + part.start
        if len(rows):
            _, near = index.search(unit[rows], min(k, int(known.sum())))
            placed[rows] = layout[known][near].mean(1)
    return placed


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """Texts in one embedding space and on its map: (n, d) and (n, 2), row by row the same."""

    embeddings: FloatArray
    layout: FloatArray


@dataclass(frozen=True, slots=True)
class Move:
    """How far a row moved.

    Attributes:
        row: Which.
        change: Share of its neighbourhood that changed, 1 - Jaccard, in [0, 1].
        distance: Between its two places on the maps.
    """

    row: int
    change: float
    distance: float


def moved_most(
    before: Placed, after: Placed, n: int, rows: NDArray[np.int64] | None = None, k: int = 10
) -> list[Move]:
    """Return the n rows whose k nearest neighbours changed most, the farthest moved first on ties.

    Neighbourhoods are those of the embeddings; a map shows only part of them.

    Args:
        before: The texts as they were.
        after: The same texts, on a map aligned with the first.
        n: How many.
        rows: Look at these rows alone, against all the others; None looks at every row.
        k: Size of a neighbourhood.
    """
    asked = np.arange(len(before.layout)) if rows is None else rows
    old, _ = _neighbours_of(asked, unit_rows(before.embeddings), k)
    new, _ = _neighbours_of(asked, unit_rows(after.embeddings), k)
    change = _set_change(old, new)
    distance = np.linalg.norm(after.layout[asked] - before.layout[asked], axis=1)
    order = np.lexsort((asked, -distance, -change))[:n]
    return [Move(int(asked[at]), float(change[at]), float(distance[at])) for at in order]


def _set_change(old: NDArray[np.int64], new: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return 1 - Jaccard of rows read as sets, (m, k) each without repetition; (m,)."""
    if not old.shape[1]:
        return np.zeros(len(old))
    both = np.zeros(len(old))
    for column in range(old.shape[1]):
        both += (new == old[:, column : column + 1]).any(1)
    changed: NDArray[np.float64] = 1.0 - both / (2 * old.shape[1] - both)
    return changed


def _neighbours_of(
    rows: NDArray[np.int64], unit: FloatArray, k: int, progress: Progress | None = None
) -> tuple[NDArray[np.int64], FloatArray]:
    k = min(k, len(unit) - 1)
    if k <= 0 or not len(rows):
        return np.zeros((len(rows), 0), np.int64), np.zeros((len(rows), 0), np.float32)
    index = _index(unit)
    found, values = np.empty((len(rows), k), np.int64), np.empty((len(rows), k), np.float32)
    for part in _blocks(len(rows)):
        asked = rows[part]
        cosines, near = index.search(unit[asked], k + 1)
        others = near != asked[:, None]
        others[others.all(1), -1] = False  # equal texts pushed the row itself out of its own list
        found[part] = near[others].reshape(-1, k)
        values[part] = cosines[others].reshape(-1, k)
        if progress:
            progress(part.stop / len(rows))
    return found, np.clip(values, -1.0, 1.0, out=values)


def _index(unit: FloatArray) -> Any:
    import faiss  # a map by PCA needs no search

    index = faiss.IndexFlatIP(unit.shape[1])
    index.add(unit)
    return index


def _blocks(n: int) -> Iterator[slice]:
    for start in range(0, n, _BLOCK):
        yield slice(start, min(start + _BLOCK, n))


def _start(unit: FloatArray, init: FloatArray | None, seed: int) -> FloatArray:
    """Return where points start: no two at the same place, and no axis without extent."""
    layout = normalise(pca_layout(unit) if init is None else init)
    noise = np.random.default_rng(seed).normal(scale=_JITTER, size=layout.shape)
    moved: FloatArray = (layout + noise).astype(np.float32)
    return moved


def _tell_nobody(share: float) -> None:
    """Ignore progress."""


class _Meter(io.TextIOBase):
    """Reads progress from what a library prints: the only way in which these tell it."""

    def __init__(self, pattern: str, tell: Progress, total: int = 1) -> None:
        self._pattern, self._tell, self._total = re.compile(pattern), tell, total

    def write(self, text: str) -> int:
        """Take a line apart; a line without a number says nothing."""
        found = self._pattern.search(text)
        if found is not None:
            numbers = [int(group) for group in found.groups()]
            total = numbers[1] if len(numbers) > 1 else self._total
            self._tell(min(numbers[0] / total, 1.0))
        return len(text)


@contextmanager
def _steps_told(progress: Progress | None) -> Iterator[None]:
    """Tell how many steps t-SNE has printed meanwhile."""
    quiet: AbstractContextManager[object] = nullcontext()
    if progress is not None:
        quiet = redirect_stdout(_Meter(r"Iteration (\d+)", progress, _TSNE_STEPS))
    with quiet:
        yield
