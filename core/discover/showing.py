"""What a person sees of a group: its typical and border texts, its cohesion and its sure core."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from core.types import FloatArray

SHOWN = 12
"""Typical texts that a group shows."""

_MIXED = 0.2
"""Mean cosine of two texts of a group below which they have little in common.

Of 34 groups of the sample seven lie below it.
"""


@dataclass(frozen=True, slots=True, eq=False)
class ShownGroup:
    """A group as a person sees it; rows are of the whole pool.

    Attributes:
        typical: Rows shown, at most `SHOWN`.
        core: Rows labelled with the typical ones if the group is taken, those among them.
        border: Rows that fit least, the least fitting first, at most `SHOWN`.
        size: Number of texts.
        cohesion: Mean cosine of texts and the group's centre, in [-1, 1].
    """

    typical: NDArray[np.int64] = field(repr=False)
    core: NDArray[np.int64] = field(repr=False)
    border: NDArray[np.int64] = field(repr=False)
    size: int
    cohesion: float


def core_size(n_texts: int, core_share: float) -> int:
    """Return how many texts the core of a group has: a share of them, and all that are shown."""
    return max(min(SHOWN, n_texts), int(np.ceil(core_share * n_texts)))


def is_mixed(cohesion: float, size: int) -> bool:
    """Return whether the texts of a group have little in common.

    `cohesion` is the mean cosine c of n texts and their mean direction. Of few texts it is large
    whatever they say, so the mean cosine of pairs is taken: (n c^2 - 1) / (n - 1).
    """
    return size > 1 and (size * cohesion**2 - 1) / (size - 1) < _MIXED


def show(members: NDArray[np.int64], closeness: FloatArray, core_share: float) -> ShownGroup:
    """Show a group of rows, the closest first, with their cosines to its centre, both (m,).

    The core is the closest `core_share` of the texts, and all that are shown. Those shown are
    spread evenly over the core, from the centre to its rim: they vouch for all of it.
    """
    n_core = core_size(len(members), core_share)
    core = members[:n_core]
    places = np.unique(np.linspace(0, n_core - 1, min(SHOWN, n_core)).round().astype(np.int64))
    return ShownGroup(
        typical=core[places],
        core=core,
        border=members[n_core:][::-1][:SHOWN],
        size=len(members),
        cohesion=float(closeness.mean()),
    )
