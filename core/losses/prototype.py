"""One learned point for each intent; a text should be nearest to those of its intents."""

import torch.nn.functional as F
from torch import Tensor


def prototype_cross_entropy(
    embeddings: Tensor, labels: Tensor, prototypes: Tensor, temperature: float
) -> Tensor:
    """Cross-entropy of cosines / temperature to one prototype for each intent.

    Embeddings (B, d), labels (B,) int64 as rows of `prototypes`, prototypes (intents, d).
    """
    cosines = F.normalize(embeddings, dim=1) @ F.normalize(prototypes, dim=1).T
    return F.cross_entropy(cosines / temperature, labels)


def prototype_binary_cross_entropy(
    embeddings: Tensor, targets: Tensor, prototypes: Tensor, offsets: Tensor, temperature: float
) -> Tensor:
    """Binary cross-entropy of sigmoid((cosine to a prototype - its offset) / temperature).

    Embeddings (B, d), multi-hot targets (B, intents) float, prototypes (intents, d), offsets
    (intents,): the cosines at which the chance is even. Losses are summed over intents and
    averaged over utterances, so that the weight of an intent does not depend on their number.
    """
    cosines = F.normalize(embeddings, dim=1) @ F.normalize(prototypes, dim=1).T
    logits = (cosines - offsets) / temperature
    losses = F.binary_cross_entropy_with_logits(logits, targets.to(logits.dtype), reduction="none")
    return losses.sum(1).mean()
