"""Divide labelled rows: stratified folds, and the few-shot draw of the literature."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from core.errors import InvalidInput

Rows = NDArray[np.int64]


def stratified_folds(labels: Sequence[str], n_folds: int, seed: int) -> list[Rows]:
    """Deal the rows of each label evenly over folds, each row into one fold.

    Returns the rows of each fold, ascending. Equal seeds give equal folds.

    Raises:
        InvalidInput: Fewer than two folds, or fewer rows than folds.
    """
    if n_folds < 2 or len(labels) < n_folds:
        raise InvalidInput(
            f"{len(labels)} labelled utterances cannot be divided into {n_folds} folds.",
            "Label more utterances, or ask for fewer folds.",
        )
    generator = np.random.default_rng(seed)
    names = np.asarray(labels)
    fold_of = np.empty(len(labels), dtype=np.int64)
    dealt = (
        0  # dealing continues after the last label's fold, so that fold sizes differ by at most one
    )
    for name in np.unique(names):
        rows = generator.permutation(np.flatnonzero(names == name))
        fold_of[rows] = (dealt + np.arange(len(rows))) % n_folds
        dealt += len(rows)
    return [np.flatnonzero(fold_of == fold).astype(np.int64) for fold in range(n_folds)]


def drawn_rows(n_rows: int, most: int | None, seed: int) -> Rows:
    """Draw at most as many rows, each alike likely; ascending. None, or enough for all: all."""
    if most is None or most >= n_rows:
        return np.arange(n_rows)
    return np.sort(np.random.default_rng(seed).choice(n_rows, most, replace=False))


def few_shot(labels: Sequence[str], n: int, seed: int = 0) -> Rows:
    """Draw n rows of each label as DialoGLUE does (Mehri et al. 2020), labels in sorted order.

    Raises:
        InvalidInput: A label has fewer than n rows.
    """
    generator = np.random.RandomState(seed)
    names = np.asarray(labels)
    picks: list[Rows] = []
    for name in np.unique(names):
        rows = np.flatnonzero(names == name)
        if len(rows) < n:
            raise InvalidInput(
                f"Intent '{name}' has {len(rows)} utterances; a {n}-shot draw needs {n}.",
                "Ask for fewer per intent.",
            )
        picks.append(generator.choice(rows, n, replace=False))
    return np.concatenate(picks).astype(np.int64)
