"""Losses on all pairs of a batch, read from its similarity matrix.

Every function takes embeddings (B, d) and labels, intent numbers (B,) int64 or multi-hot rows
(B, intents) float, and returns a scalar. A pair is positive when it shares at least one intent
(Multi-ConvFiT Section 2.1). Without the pairs that a loss needs, loss and gradient are 0.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

from core.losses.overlap import NEGATIVES_PER_POSITIVE, shares_intent


def pair_cosines(embeddings: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    """Return the cosine of each unordered pair and whether it is positive; both (B(B-1)/2,)."""
    unit = F.normalize(embeddings, dim=1)
    first, second = torch.triu_indices(len(unit), len(unit), 1, device=unit.device)
    cosines = (unit @ unit.T)[first, second]
    return cosines, shares_intent(labels)[first, second]


def online_contrastive(embeddings: Tensor, labels: Tensor, margin: float = 0.5) -> Tensor:
    """Pull far positives together, push near negatives apart (ConvFiT Eq. 2, OCL).

    Distances are 1 - cosine. Only negatives nearer than the farthest positive count, and positives
    farther than the nearest negative, as in sentence-transformers (with one pair or none of a
    kind, the mean of the other kind replaces it). The sum is divided by the number of these
    pairs, so that the learning rate does not depend on the batch size.
    """
    cosines, same = pair_cosines(embeddings, labels)
    distances = 1 - cosines
    positives, negatives = distances[same], distances[~same]
    far = positives[positives > _limit(negatives, positives, torch.min)]
    near = negatives[negatives < _limit(positives, negatives, torch.max)]
    total = far.square().sum() + F.relu(margin - near).square().sum()
    return total / max(1, len(far) + len(near)) + 0.0 * embeddings.sum()


def _limit(others: Tensor, own: Tensor, extreme: object) -> Tensor:
    """Return the hardest distance of the other kind, or this kind's mean when there are too few."""
    if len(others) > 1:
        return others.min() if extreme is torch.min else others.max()
    return own.mean() if len(own) else torch.zeros((), device=own.device)


_SAME, _OTHER = 0.8, 0.3
"""Target cosines of two texts of one intent, and of two intents (ConvFiT Section 2.2)."""


def cosine_targets(
    embeddings: Tensor, labels: Tensor, negatives_per_positive: float = NEGATIVES_PER_POSITIVE
) -> Tensor:
    """Pull cosines to 0.8 for one intent and 0.3 for two (ConvFiT Section 2.2, COS).

    All pairs of the batch are used; negatives are weighted down to `negatives_per_positive`, which
    equals drawing so many in expectation, as the paper does.
    """
    cosines, same = pair_cosines(embeddings, labels)
    if not len(cosines):
        return 0.0 * embeddings.sum()
    errors = (cosines - torch.where(same, _SAME, _OTHER)).square()
    n_positive, n_negative = int(same.sum()), int((~same).sum())
    weight = min(1.0, negatives_per_positive * n_positive / n_negative) if n_negative else 1.0
    weights = torch.where(same, 1.0, weight if n_positive else 1.0)
    return (errors * weights).sum() / weights.sum()


def supervised_contrastive(embeddings: Tensor, labels: Tensor, temperature: float) -> Tensor:
    """SupCon (Khosla et al. 2020, Eq. 2); rows without a positive are left out."""
    unit = F.normalize(embeddings, dim=1)
    own = torch.eye(len(unit), dtype=torch.bool, device=unit.device)
    logits = (unit @ unit.T / temperature).masked_fill(own, -torch.inf)
    same = shares_intent(labels) & ~own
    counted = same.any(1)
    if not bool(counted.any()):
        return 0.0 * embeddings.sum()
    log_share = logits - logits.logsumexp(1, keepdim=True)
    per_row = log_share.masked_fill(~same, 0.0).sum(1) / same.sum(1).clamp(min=1)
    return -per_row[counted].mean()
