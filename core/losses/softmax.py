"""SMAX: predict from two embeddings and their difference whether the intents agree."""

import torch
import torch.nn.functional as F
from torch import Tensor

from core.losses.overlap import NEGATIVES_PER_POSITIVE, shares_intent


def pair_softmax(
    embeddings: Tensor,
    labels: Tensor,
    weight: Tensor,
    negatives_per_positive: float = NEGATIVES_PER_POSITIVE,
) -> Tensor:
    """Cross-entropy of softmax(W (u, v, |u - v|)) over pairs (ConvFiT Section 2.2, SMAX).

    Each unordered pair enters once, with the lower row of the batch as u. Negatives are weighted
    down to `negatives_per_positive`, as in `cosine_targets`. Embeddings are (B, d), labels intent
    numbers (B,) int64 or multi-hot rows (B, intents) float, and `weight` is (3d, 2) with column 1
    for "same intent".
    """
    size = embeddings.shape[1]
    first, second = torch.triu_indices(
        len(embeddings), len(embeddings), 1, device=embeddings.device
    )
    if not len(first):
        return 0.0 * embeddings.sum()
    # u W1 and v W2 need one product for each row; only |u - v| needs one for each pair.
    left, right = embeddings @ weight[:size], embeddings @ weight[size : 2 * size]
    gap = (embeddings[first] - embeddings[second]).abs() @ weight[2 * size :]
    same = shares_intent(labels)[first, second]
    n_positive, n_negative = int(same.sum()), int((~same).sum())
    light = 1.0
    if n_positive and n_negative:
        light = min(1.0, negatives_per_positive * n_positive / n_negative)
    weights = torch.where(same, 1.0, light)
    losses = F.cross_entropy(left[first] + right[second] + gap, same.long(), reduction="none")
    return (losses * weights).sum() / weights.sum()
