"""Fit a layout into the unit box, or onto another layout of the same points."""

import numpy as np
from numpy.typing import NDArray

from core.types import FloatArray


def normalise(layout: FloatArray, frame: FloatArray | None = None) -> FloatArray:
    """Fit a layout (n, 2) into the unit box, centred, one scale for both axes; float32.

    With a frame, (m, 2), scale and shift are those of the frame, and points outside the box are
    moved to its edge.
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
    """Rotate, reflect, scale and shift a layout as near to a reference as possible; (n, 2) float32.

    Weighted orthogonal Procrustes: it minimises the weighted sum of squared distances between the
    rows of `layout` (n, 2) and of `reference` (n, 2). `weights` are (n,); None weighs all points
    alike, and points of weight zero follow the others.
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
    # If nothing agrees, every scale fits equally badly, so the scale is kept.
    scale = fit.sum() / size if size > 0.0 and fit.sum() > 0.0 else 1.0
    aligned: FloatArray = (scale * here @ (left @ right) + target).astype(np.float32)
    return aligned
