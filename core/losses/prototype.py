"""One learned point per intent; the nearest should be the right one, or each that is near."""

import torch.nn.functional as F
from torch import Tensor


def prototype_cross_entropy(
    embeddings: Tensor, labels: Tensor, prototypes: Tensor, temperature: float
) -> Tensor:
    """Normalised cross-entropy to one prototype per intent.

    Args:
        embeddings: (B, d).
        labels: (B,) int64, rows of `prototypes`.
        prototypes: (intents, d).
        temperature: Cosines are divided by it.
    """
    cosines = F.normalize(embeddings, dim=1) @ F.normalize(prototypes, dim=1).T
    return F.cross_entropy(cosines / temperature, labels)


def prototype_binary_cross_entropy(
    embeddings: Tensor, targets: Tensor, prototypes: Tensor, offsets: Tensor, temperature: float
) -> Tensor:
    """Binary cross-entropy of sigmoid((cosine to a prototype - its offset) / temperature).

    The mean over utterances of the sum over intents, so that more intents weigh no less each.

    Args:
        embeddings: (B, d).
        targets: Multi-hot rows, (B, intents) float.
        prototypes: (intents, d).
        offsets: Cosine of an even chance, (intents,).
        temperature: Cosines are divided by it.
    """
    cosines = F.normalize(embeddings, dim=1) @ F.normalize(prototypes, dim=1).T
    logits = (cosines - offsets) / temperature
    losses = F.binary_cross_entropy_with_logits(logits, targets.to(logits.dtype), reduction="none")
    return losses.sum(1).mean()
