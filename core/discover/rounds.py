"""Which groups to show next: in rounds, each of the texts that the labels so far leave in doubt."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.discover.grouping import group_texts
from core.discover.showing import ShownGroup, show
from core.discover.spreading import spread
from core.discover.taking import Taken
from core.types import FloatArray

_FEWEST = 3
"""A smaller group is no group but a few odd texts."""


@dataclass(frozen=True, slots=True)
class Round:
    """How texts are grouped for some time.

    Attributes:
        decisions: After so many decisions the next round begins.
        size: Texts in a group, on average.
        core: Share of a group that is taken with it, in (0, 1].
        doubtful: Share of the unlabelled texts that are grouped, the least sure ones, in (0, 1].
    """

    decisions: int
    size: float
    core: float
    doubtful: float


def rounds_for(n_texts: int, decisions: int) -> tuple[Round, ...]:
    """Return the rounds for a pool of texts and the number of decisions that a person will make."""
    size = max(_FEWEST, n_texts / (0.875 * decisions))
    return (Round(decisions, size, 0.6, 1.0),)


def next_groups(
    embeddings: FloatArray, taken: Taken, plan: Round, seed: int = 0
) -> Iterator[ShownGroup]:
    """Yield groups of texts (n, d) that have no label, the one that brings most texts first."""
    pool = _doubtful(embeddings, taken, plan.doubtful, seed)
    if not len(pool):
        return
    grouping = group_texts(embeddings[pool], plan.size, seed)
    members = grouping.members()
    gain = [float(grouping.closeness[rows].sum()) for rows in members]
    for group in np.argsort(-np.array(gain), kind="stable").tolist():
        rows = members[group]
        if len(rows) >= min(_FEWEST, len(pool)):
            yield show(pool[rows], grouping.closeness[rows], plan.core)


def _doubtful(embeddings: FloatArray, taken: Taken, share: float, seed: int) -> NDArray[np.int64]:
    """Return the unlabelled rows, or the least sure share of them by the votes."""
    open_rows = np.flatnonzero(~taken.labelled)
    if share >= 1.0 or not taken.labelled.any() or not len(open_rows):
        return open_rows
    sureness = spread(embeddings, taken, seed).sureness[open_rows]
    count = int(np.ceil(share * len(open_rows)))
    return np.sort(open_rows[np.argsort(sureness, kind="stable")[:count]])
