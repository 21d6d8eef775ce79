"""Losses of utterances against intent names, on the matrix of their similarities."""

from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor

Similarity = Literal["cosine", "dot"]
"""Similarity of utterance and name: by direction only, or by length too."""


def similarities(utterances: Tensor, names: Tensor, similarity: Similarity) -> Tensor:
    """Compare every utterance (B, d) with every name (N, d); (B, N)."""
    if similarity == "cosine":
        utterances, names = F.normalize(utterances, dim=1), F.normalize(names, dim=1)
    return utterances @ names.T


def name_cross_entropy(scores: Tensor, right: Tensor, temperature: float) -> Tensor:
    """Rank the right name above the others of the batch (contrastive); a scalar.

    `scores` are similarities (B, N); `right` is the column of each utterance's name, (B,) int64.
    """
    return F.cross_entropy(scores / temperature, right)


def name_squared_error(scores: Tensor, right: Tensor, negatives: float) -> Tensor:
    """Pull similarities to 1 with the right name and to 0 with others (MSE); a scalar.

    `scores` and `right` are as in `name_cross_entropy`. All wrong names of the batch are used,
    weighted down to the number `negatives` (0: right names only), as if drawn.
    """
    own = F.one_hot(right, scores.shape[1]).to(scores.dtype)
    others = scores.shape[1] - 1
    light = min(1.0, negatives / others) if others else 0.0
    weights = torch.where(own > 0, 1.0, light).to(scores.dtype)
    return (weights * (scores - own).square()).sum() / weights.sum()
