"""Layouts of embeddings in two dimensions: PCA, UMAP and t-SNE.

Distances are cosine: embeddings of any length are scaled to length one first.
"""

import io
import re
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, redirect_stdout
from importlib.util import find_spec
from typing import Literal, get_args

import numpy as np
from threadpoolctl import threadpool_limits

from core.errors import InvalidInput
from core.maps.alignment import normalise
from core.maps.neighbours import Progress, neighbours
from core.maps.plane import fit_plane
from core.types import FloatArray
from core.vectors import unit_rows

LayoutMethod = Literal["pca", "umap", "tsne"]
LAYOUT_METHODS: tuple[str, ...] = get_args(LayoutMethod)

MOST_BY_TSNE = 20_000
"""Most texts for t-SNE; more would take many minutes."""

_FEWEST = 4
"""Fewer points than this are laid out by PCA: each is a neighbour of all others."""
_NEIGHBOURS = 15
_SEARCH_SHARE = 0.4
_PERPLEXITY = 30.0
_TSNE_STEPS = 1_000
_JITTER = 1e-4
_WORTH_THREADS = 2_000
"""Fewest points for which threads speed t-SNE up, since they synchronise in every step."""


def require_method(method: str) -> None:
    """Raise InvalidInput for an unknown layout method; the hint names all methods."""
    if method not in LAYOUT_METHODS:
        choices = ", ".join(LAYOUT_METHODS)
        raise InvalidInput(f"There is no map by '{method}'.", f"Choose one of {choices}.")


def check_method(method: str, n: int) -> None:
    """Raise InvalidInput if the method is unknown or not installed, or the points are too many."""
    require_method(method)
    if method == "tsne" and n > MOST_BY_TSNE:
        raise InvalidInput(
            f"t-SNE of {n:,} texts would take too long; it takes up to {MOST_BY_TSNE:,}.",
            "Choose umap or pca.",
        )
    if method == "umap" and find_spec("umap") is None:
        raise InvalidInput(
            "UMAP is not installed.",
            "Install the package umap-learn beside the studio, or choose PCA or t-SNE.",
        )


def pca_layout(embeddings: FloatArray) -> FloatArray:
    """Project on the two directions of greatest variance; (n, d) to (n, 2) float32.

    The largest loading of each axis is positive, so that a map never flips.
    """
    return fit_plane(embeddings).place(embeddings)


def umap_layout(
    embeddings: FloatArray,
    seed: int = 0,
    init: FloatArray | None = None,
    progress: Progress | None = None,
) -> FloatArray:
    """Lay out by UMAP on exact cosine neighbours; equal seeds give equal layouts.

    Args:
        embeddings: (n, d), of any length.
        seed: Seed of all random numbers.
        init: Initial positions, (n, 2); None starts from PCA. A start from an earlier layout
            keeps its arrangement as far as the embeddings allow.
        progress: Called repeatedly with the finished share.

    Returns:
        (n, 2) float32.

    Raises:
        InvalidInput: umap-learn is not installed.
    """
    n = len(embeddings)
    check_method("umap", n)
    if n < _FEWEST:
        return pca_layout(embeddings)
    report = progress or _ignore
    unit = unit_rows(embeddings)
    k = min(_NEIGHBOURS, n - 1)
    others, similarity = neighbours(unit, k - 1, lambda share: report(_SEARCH_SHARE * share))
    near = np.column_stack([np.arange(n), others])
    distances = np.column_stack([np.zeros(n), 1.0 - similarity]).astype(np.float32)
    meter = _PrintedProgress(
        r"(\d+)/(\d+)", lambda share: report(_SEARCH_SHARE + (1 - _SEARCH_SHARE) * share)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # tensorflow is absent, and new texts are not transformed
        from umap import UMAP

        _keep_compiled()
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


def _keep_compiled() -> None:
    """Keep the machine code of UMAP on disk: each process compiled it anew, for nine seconds.

    These functions are no part of umap-learn's interface, and another version may have others.
    """
    from umap import layouts, umap_

    for module, name in (
        (umap_, "smooth_knn_dist"),
        (umap_, "compute_membership_strengths"),
        (layouts, "_nb_optimize_layout_euclidean_single_epoch"),
    ):
        compiled = getattr(module, name, None)
        if compiled is not None:
            compiled.enable_caching()


def tsne_layout(
    embeddings: FloatArray,
    seed: int = 0,
    init: FloatArray | None = None,
    progress: Progress | None = None,
) -> FloatArray:
    """Lay out by t-SNE on cosine neighbours; arguments and result as for `umap_layout`.

    Raises:
        InvalidInput: More than `MOST_BY_TSNE` points.
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
        init=start * np.float32(1e-4 / start[:, 0].std()),  # t-SNE needs a small start
        max_iter=_TSNE_STEPS,
        random_state=seed,
        verbose=0 if progress is None else 2,
    )
    with _printed_steps(progress), threadpool_limits(1 if n < _WORTH_THREADS else None):
        layout: FloatArray = model.fit_transform(unit).astype(np.float32)
    return layout


def _start(unit: FloatArray, init: FloatArray | None, seed: int) -> FloatArray:
    """Return initial positions: no two equal, and no axis without extent."""
    layout = normalise(pca_layout(unit) if init is None else init)
    noise = np.random.default_rng(seed).normal(scale=_JITTER, size=layout.shape)
    moved: FloatArray = (layout + noise).astype(np.float32)
    return moved


def _ignore(share: float) -> None:
    """Ignore progress."""


class _PrintedProgress(io.TextIOBase):
    """Reads progress from printed lines, the only output of UMAP and t-SNE."""

    def __init__(self, pattern: str, progress: Progress, total: int = 1) -> None:
        self._pattern, self._progress, self._total = re.compile(pattern), progress, total

    def write(self, text: str) -> int:
        """Report the share in a line; ignore a line without a number."""
        match = self._pattern.search(text)
        if match is not None:
            numbers = [int(group) for group in match.groups()]
            total = numbers[1] if len(numbers) > 1 else self._total
            self._progress(min(numbers[0] / total, 1.0))
        return len(text)


@contextmanager
def _printed_steps(progress: Progress | None) -> Iterator[None]:
    quiet: AbstractContextManager[object] = nullcontext()
    if progress is not None:
        quiet = redirect_stdout(_PrintedProgress(r"Iteration (\d+)", progress, _TSNE_STEPS))
    with quiet:
        yield
