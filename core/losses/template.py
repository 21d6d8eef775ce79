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

    Args:
        anchors: (B, d).
        others: (B, d); row i belongs to anchor i, all others of it are negatives.
        temperature: Cosines are divided by it.
        twins: True where another row is no negative, (B, B) bool: the very same text. The
            diagonal does not count. None excludes nothing, as in the paper.
    """
    logits = F.normalize(anchors, dim=1) @ F.normalize(others, dim=1).T / temperature
    if twins is not None:
        own = torch.eye(len(logits), dtype=torch.bool, device=logits.device)
        logits = logits.masked_fill(twins & ~own, -torch.inf)
    return F.cross_entropy(logits, torch.arange(len(logits), device=logits.device))


@dataclass(frozen=True, slots=True)
class TemplateWeights:
    """Temperatures and weights of the three parts (Eq. 4); a weight of 0 leaves a part out.

    Attributes:
        template: Of L^t; the paper has 1.
        utterance: Lambda^u.
        pair: Lambda^pair.
        template_temperature: Tau_t.
        utterance_temperature: Tau_u.
        pair_temperature: Tau_pair.
    """

    template: float = 1.0
    utterance: float = 1.0
    pair: float = 1.0
    template_temperature: float = 0.05
    utterance_temperature: float = 0.05
    pair_temperature: float = 0.05


@dataclass(frozen=True, slots=True)
class Views:
    """The embeddings of a batch, seen twice through dropout; each (B, d), row i of utterance i."""

    templates: Tensor
    templates_again: Tensor
    utterances: Tensor
    utterances_again: Tensor


def template_loss(
    views: Views,
    weights: TemplateWeights,
    same_template: Tensor | None = None,
    same_text: Tensor | None = None,
) -> Tensor:
    """L^t + lambda^u L^u + lambda^pair L^pair (TaDSE Eq. 4).

    The negatives of a pair are other utterances, never templates. An utterance of the same
    template is a negative of the paper's; `same_template` leaves it out of L^t, where it would
    be told apart from itself, and of L^pair, where the template fits it as well.
    """
    parts = []
    if weights.template:
        found = in_batch_contrast(
            views.templates, views.templates_again, weights.template_temperature, same_template
        )
        parts.append(weights.template * found)
    if weights.utterance:
        found = in_batch_contrast(
            views.utterances, views.utterances_again, weights.utterance_temperature, same_text
        )
        parts.append(weights.utterance * found)
    if weights.pair:
        found = in_batch_contrast(
            views.templates, views.utterances, weights.pair_temperature, same_template
        )
        parts.append(weights.pair * found)
    return torch.stack(parts).sum()


def compress(templates: Rows, utterances: Rows, strength: float) -> Rows:
    """Move utterances towards their templates (semantic compression, Eq. 5).

    Args:
        templates: (n, d).
        utterances: (n, d).
        strength: Lambda^comp in [0, 1]; 0 leaves utterances as they are.
    """
    return strength * templates + (1 - strength) * utterances
