"""One learned point per intent; the nearest should be the right one."""

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
