"""The overlap of two labels, for single-label and multi-label utterances.

Labels are intent numbers (B,) int64, or multi-hot rows (B, intents) float.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

NEGATIVES_PER_POSITIVE = 6.0
"""More negatives are weighted down to so many: 2n with n = 3 (ConvFiT Section 2.2)."""

_EQUAL, _NOTHING = 0.9, 0.0
"""Target cosines of equal labels, and of labels that share nothing."""


def shares_intent(labels: Tensor) -> Tensor:
    """Return whether two rows of a batch share an intent; (B, B) bool.

    Utterances without intent share none, even with each other (Multi-ConvFiT Section 2.1).
    """
    if labels.ndim == 1:
        return labels[:, None] == labels[None]
    return labels @ labels.T > 0


def jaccard(labels: Tensor) -> Tensor:
    """Return the Jaccard index of two rows' intents; (B, B) float.

    Two utterances without intent have index 1.
    """
    if labels.ndim == 1:
        return shares_intent(labels).to(torch.get_default_dtype())
    shared = labels @ labels.T
    sizes = labels.sum(1)
    either = sizes[:, None] + sizes[None] - shared
    return torch.where(either > 0, shared / either.clamp(min=1.0), 1.0)


def overlap_targets(embeddings: Tensor, labels: Tensor) -> Tensor:
    """Pull the cosine of each pair to a target that grows with the overlap of its labels.

    The target rises with the Jaccard index from that of labels that share nothing to that of equal
    ones; with one intent each, this is COS with other targets. Pairs that share nothing are
    weighted down to `NEGATIVES_PER_POSITIVE`. Embeddings are (B, d).
    """
    unit = F.normalize(embeddings, dim=1)
    first, second = torch.triu_indices(len(unit), len(unit), 1, device=unit.device)
    if not len(first):
        return 0.0 * embeddings.sum()
    overlap = jaccard(labels)[first, second].to(unit.dtype)
    errors = ((unit @ unit.T)[first, second] - _NOTHING - (_EQUAL - _NOTHING) * overlap).square()
    same = overlap > 0
    n_positive, n_negative = int(same.sum()), int((~same).sum())
    light = 1.0
    if n_positive and n_negative:
        light = min(1.0, NEGATIVES_PER_POSITIVE * n_positive / n_negative)
    weights = torch.where(same, 1.0, light)
    return (errors * weights).sum() / weights.sum()
