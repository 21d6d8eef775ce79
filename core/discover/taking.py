"""The labels that a person has given by taking groups, and those that follow from them."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from core.discover.showing import ShownGroup

NONE = -1
"""In place of an intent's column: no label."""


@dataclass(frozen=True, slots=True, eq=False)
class Taken:
    """Labels of n texts.

    Attributes:
        columns: Each text's intent, or `NONE`, (n,) int64.
        seen: Whether a person saw the text with its label, (n,) bool.
    """

    columns: NDArray[np.int64] = field(repr=False)
    seen: NDArray[np.bool_] = field(repr=False)

    @property
    def labelled(self) -> NDArray[np.bool_]:
        """Which texts have a label, (n,)."""
        has_label: NDArray[np.bool_] = self.columns != NONE
        return has_label

    @property
    def n_intents(self) -> int:
        """Number of intents that have been used; columns are below it."""
        return int(self.columns.max(initial=NONE)) + 1


def nothing_taken(n_texts: int) -> Taken:
    """Return no labels."""
    return Taken(np.full(n_texts, NONE, dtype=np.int64), np.zeros(n_texts, dtype=np.bool_))


def take(taken: Taken, group: ShownGroup, column: int, without: NDArray[np.int64]) -> Taken:
    """Label a group's core, but not the rows `without`, which were shown and are of other intents.

    A label that a person saw is never replaced.
    """
    columns, seen = taken.columns.copy(), taken.seen.copy()
    core = np.setdiff1d(group.core, without)
    columns[core[~seen[core]]] = column
    seen[np.setdiff1d(group.typical, without)] = True
    return Taken(columns, seen)
