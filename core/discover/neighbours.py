"""The texts nearest to each of many texts, found in blocks."""

import numpy as np
from numpy.typing import NDArray

from core.types import FloatArray
from core.vectors import nearest

NOWHERE = -1
"""In place of a row: the text is not among those that it is compared with."""

_CELLS = 1 << 24
"""Cosines that are held at once."""


def nearest_rows(
    texts: FloatArray, beside: FloatArray, own: NDArray[np.int64], count: int
) -> tuple[NDArray[np.int64], FloatArray]:
    """Return the rows of `beside` nearest to each text, and their cosines, falling; (n, count).

    Both are rows of length 1, (n, d) and (m, d) with m above `count`. `own` has each text's own row
    of `beside`, which is no neighbour of it, or `NOWHERE`, (n,). Equal cosines go by row.
    """
    rows = np.empty((len(texts), count), dtype=np.int64)
    found = np.empty((len(texts), count), dtype=np.float32)
    chunk = max(1, _CELLS // len(beside))
    for start in range(0, len(texts), chunk):
        part = slice(start, start + chunk)
        cosines = texts[part] @ beside.T
        some = np.flatnonzero(own[part] != NOWHERE)
        cosines[some, own[part][some]] = -np.inf
        rows[part] = nearest(cosines, count)
        found[part] = np.take_along_axis(cosines, rows[part], 1)
    return rows, found
