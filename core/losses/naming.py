"""Losses of utterances against intent names, on the matrix of their similarities."""

from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor

Similarity = Literal["cosine", "dot"]
"""How near an utterance is to a name: by direction alone, or by length, too."""


def similarities(utterances: Tensor, names: Tensor, similarity: Similarity) -> Tensor:
    """Compare every utterance (B, d) with every name (N, d); (B, N)."""
    if similarity == "cosine":
        utterances, names = F.normalize(utterances, dim=1), F.normalize(names, dim=1)
    return utterances @ names.T


def name_cross_entropy(scores: Tensor, right: Tensor, temperature: float) -> Tensor:
    """Rank the right name above the others of the batch (contrastive); a scalar.

    Args:
        scores: Similarities of utterances and names, (B, N).
        right: Column of each utterance's own name, (B,) int64.
        temperature: Similarities are divided by it.
    """
    return F.cross_entropy(scores / temperature, right)


def name_squared_error(scores: Tensor, right: Tensor, negatives: float) -> Tensor:
    """Bring the similarity to 1 with the right name and to 0 with others (MSE); a scalar.

    Args:
        scores: Similarities of utterances and names, (B, N).
        right: Column of each utterance's own name, (B,) int64.
        negatives: Wrong names that count for each utterance; all of the batch enter, weighted
            down to this number, which equals drawing them in expectation. 0: right names alone.
    """
    own = F.one_hot(right, scores.shape[1]).to(scores.dtype)
    others = scores.shape[1] - 1
    light = min(1.0, negatives / others) if others else 0.0
    weights = torch.where(own > 0, 1.0, light).to(scores.dtype)
    return (weights * (scores - own).square()).sum() / weights.sum()
