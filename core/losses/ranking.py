"""Response ranking over the pairs of a batch: each response is a negative of the other contexts."""

import math
from collections.abc import Sequence
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor

Denominator = Literal["all", "others"]
"""Responses that a context is ranked against: all of the batch, or without its own (ConvFiT)."""


def scaled_cosines(contexts: Tensor, responses: Tensor, scale: float) -> Tensor:
    """Return D cos(c, r) of every context with every response; (B, d) and (B, d) to (B, B)."""
    return scale * F.normalize(contexts, dim=1) @ F.normalize(responses, dim=1).T


def ranking_loss(
    scores: Tensor,
    denominator: Denominator = "all",
    smoothing: float = 0.0,
    excluded: Tensor | None = None,
) -> Tensor:
    """Rank the own response above those of the batch (MNEG); the mean over contexts.

    Args:
        scores: S(c_i, r_j), (B, B); the right response of a context is on the diagonal.
        denominator: `all` is the usual softmax (ConveRT Section 2.1); `others` omits j = i from
            the sum, as ConvFiT Eq. 1 does, and has no lower bound.
        smoothing: Probability spread evenly over a context's negatives (0.2 in ConveRT); the
            right response has the rest. For `all` only.
        excluded: True where a response has the wording of the right one and so is no negative,
            (B, B). The diagonal is ignored.

    Raises:
        ValueError: Smoothing without the own response in the denominator.
    """
    if smoothing and denominator == "others":
        message = "label smoothing needs the own response in the denominator"
        raise ValueError(message)
    own = torch.eye(len(scores), dtype=torch.bool, device=scores.device)
    negatives = ~own if excluded is None else ~(own | excluded)
    counted = negatives.any(1)
    if not bool(counted.any()):
        return 0.0 * scores.sum()
    scores, own, negatives = scores[counted], own[counted], negatives[counted]
    right = scores[own]
    among = negatives if denominator == "others" else negatives | own
    total = scores.masked_fill(~among, -torch.inf).logsumexp(1)
    wrong = scores.masked_fill(~negatives, 0.0).sum(1) / negatives.sum(1)
    return (total - (1 - smoothing) * right - smoothing * wrong).mean()


def annealed_scale(step: int, steps: int, width: int) -> float:
    """Return the cosine's scale: from 1 to the root of the width (512 in ConveRT), linearly.

    `step` counts finished steps; `steps` is the length of the rise (10,000 in ConveRT).
    """
    done = min(1.0, step / steps) if steps else 1.0
    return 1.0 + done * (math.sqrt(width) - 1.0)


def same_responses(texts: Sequence[str]) -> Tensor:
    """Mark pairs of rows whose responses have the same wording; (B, B) bool."""
    numbers: dict[str, int] = {}
    codes = [numbers.setdefault(text.casefold().strip(), len(numbers)) for text in texts]
    rows = torch.tensor(codes)
    return rows[:, None] == rows[None]
