"""Arithmetic on rows of embeddings that every part agrees upon."""

import numpy as np

from core.types import FloatArray


def unit_rows(embeddings: FloatArray) -> FloatArray:
    """Scale rows to length one; (n, d) float32. A zero row stays zero."""
    norms = np.linalg.norm(embeddings, axis=1, keepdims=True)
    unit: FloatArray = (embeddings / np.maximum(norms, 1e-12)).astype(np.float32)
    return unit
