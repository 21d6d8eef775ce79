"""What every index asks of its input, so that all refuse the same."""

from collections.abc import Container, Sequence

import numpy as np

from core.errors import NotFound
from core.types import FloatArray
from core.vectors import unit_rows


def checked_rows(ids: Sequence[str], vectors: FloatArray, dim: int) -> dict[str, FloatArray]:
    """Return unit vectors by id, the last of each id.

    Raises:
        ValueError: Ids and vectors are not equally many, or the width differs.
    """
    if np.shape(vectors) != (len(ids), dim):
        message = f"{len(ids)} ids of width {dim} came with vectors {np.shape(vectors)}"
        raise ValueError(message)
    return dict(zip(ids, unit_rows(vectors), strict=True))


def checked_queries(queries: FloatArray, dim: int) -> FloatArray:
    """Return unit queries, (n, dim) float32.

    Raises:
        ValueError: The width differs.
    """
    if queries.ndim != 2 or queries.shape[1] != dim:
        message = f"queries {queries.shape} do not have the width {dim}"
        raise ValueError(message)
    return unit_rows(queries)


def require_held(ids: Sequence[str], held: Container[str]) -> None:
    """Refuse an id that is not held.

    Raises:
        NotFound: Naming the first such id.
    """
    for name in ids:
        if name not in held:
            raise NotFound(
                f"The index holds no '{name}'.", "Add it first, or build the index anew."
            )
