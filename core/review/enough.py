"""When the labels of an intent are enough: its newest ones told the model nothing."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

JUDGED = 15
"""Newest labels of an intent that are looked at."""

MOST_MISSED = 1
"""So many of these the model may answer otherwise."""


@dataclass(frozen=True, slots=True)
class NewestKnown:
    """How many of an intent's newest labels the model gives without having seen them.

    Attributes:
        column: The intent's column.
        judged: Number of its newest labels that were looked at, at most `JUDGED`.
        known: How many of these the model answers with the intent by all other labels.
    """

    column: int
    judged: int
    known: int

    @property
    def is_enough(self) -> bool:
        """Whether more labels of the intent would hardly teach anything."""
        return self.judged == JUDGED and self.known >= JUDGED - MOST_MISSED


def newest_known(
    answers: NDArray[np.int64], given: NDArray[np.int64], order: NDArray[np.int64], n_intents: int
) -> list[NewestKnown]:
    """Judge each intent, in column order, by its newest labels.

    `answers` are columns by leave-one-out scores, `given` those of the labels, and `order` rises
    with the time at which a label was given, all (m,). A negative `order` is not judged, such as
    that of a label that the model itself proposed for a whole group.
    """
    found = list[NewestKnown]()
    for column in range(n_intents):
        newest = newest_rows(given == column, order)
        known = int((answers[newest] == column).sum())
        found.append(NewestKnown(column, len(newest), known))
    return found


def newest_rows(own: NDArray[np.bool_], order: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the rows of an intent's newest labels that are judged, the oldest first."""
    rows = np.flatnonzero(own & (order >= 0))
    return rows[np.argsort(order[rows], kind="stable")][-JUDGED:]
