"""TaDSE: templates, utterances and their pairs, each contrasted within the batch (Section 3.2)."""

from dataclasses import dataclass
from typing import TypeVar

import torch
import torch.nn.functional as F
from torch import Tensor

from core.types import FloatArray

Rows = TypeVar("Rows", Tensor, FloatArray)


def in_batch_contrast(
    anchors: Tensor, others: Tensor, temperature: float, twins: Tensor | None = None
) -> Tensor:
    """Cross-entropy of finding each anchor's own row among the others (Eqs. 1 to 3).

    Anchors and others are (B, d); row i belongs to anchor i, and the other rows are its negatives.
    `twins`, (B, B) bool, is True where a row has the anchor's text and so is no negative; its
    diagonal is ignored. None excludes nothing, as in the paper.
    """
    logits = F.normalize(anchors, dim=1) @ F.normalize(others, dim=1).T / temperature
    if twins is not None:
        own = torch.eye(len(logits), dtype=torch.bool, device=logits.device)
        logits = logits.masked_fill(twins & ~own, -torch.inf)
    return F.cross_entropy(logits, torch.arange(len(logits), device=logits.device))


@dataclass(frozen=True, slots=True)
class TemplateWeights:
    """Weights of L^t (1 in the paper), L^u and L^pair, and their temperatures (Eq. 4).

    A part of weight 0 is not computed.
    """

    template: float = 1.0
    utterance: float = 1.0
    pair: float = 1.0
    template_temperature: float = 0.05
    utterance_temperature: float = 0.05
    pair_temperature: float = 0.05


@dataclass(frozen=True, slots=True)
class Views:
    """Embeddings of a batch under two dropout masks; each (B, d), row i of utterance i."""

    templates: Tensor
    templates_again: Tensor
    utterances: Tensor
    utterances_again: Tensor


def template_loss(
    views: Views, weights: TemplateWeights, same_template: Tensor | None = None
) -> Tensor:
    """L^t + lambda^u L^u + lambda^pair L^pair (TaDSE Eq. 4).

    The negatives of a pair are other utterances, never templates. In the paper, utterances of the
    same template are negatives. `same_template` excludes them from L^t, which would tell the
    template from itself, and from L^pair, where the template fits both utterances.
    """
    parts = []
    if weights.template:
        found = in_batch_contrast(
            views.templates, views.templates_again, weights.template_temperature, same_template
        )
        parts.append(weights.template * found)
    if weights.utterance:
        found = in_batch_contrast(
            views.utterances, views.utterances_again, weights.utterance_temperature
        )
        parts.append(weights.utterance * found)
    if weights.pair:
        found = in_batch_contrast(
            views.templates, views.utterances, weights.pair_temperature, same_template
        )
        parts.append(weights.pair * found)
    return torch.stack(parts).sum()


def compress(templates: Rows, utterances: Rows, strength: float) -> Rows:
    """Move utterances (n, d) towards their templates (n, d) (semantic compression, Eq. 5).

    `strength` is lambda^comp in [0, 1]; 0 changes nothing.
    """
    return strength * templates + (1 - strength) * utterances
