"""Multi-ConvFiT's classifier: one hidden layer, a sigmoid for each intent (Section 2.2)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.recipes.heads import MlpConfig
from core.types import FloatArray, ScoreArray
from core.vectors import unit_rows

_WARMUP = 0.1


@dataclass(frozen=True, slots=True, eq=False)
class MlpHead:
    """A fitted network; scores are probabilities, independent for each intent.

    Weights are `inner` (d, hidden) and `outer` (hidden, intents), offsets (hidden,) and (intents,);
    all float32.
    """

    intents: tuple[str, ...]
    inner: FloatArray
    inner_offsets: FloatArray
    outer: FloatArray
    outer_offsets: FloatArray

    @property
    def kind(self) -> str:
        """Name in the recipe."""
        return "mlp"

    @property
    def consistent(self) -> bool:
        """Whether the shapes of the arrays fit together."""
        hidden, c = self.inner_offsets.shape, len(self.intents)
        inner, outer = self.inner.shape[1:] == hidden, self.outer.shape == (*hidden, c)
        return inner and outer and self.outer_offsets.shape == (c,)

    def scores(self, embeddings: FloatArray) -> ScoreArray:
        """Score embeddings (n, d), of any length; (n, intents) float64 in (0, 1)."""
        # In float64, so that a text scores the same alone and in a batch.
        rows = unit_rows(embeddings).astype(np.float64)
        hidden = np.maximum(rows @ self.inner.astype(np.float64) + self.inner_offsets, 0.0)
        logits = hidden @ self.outer.astype(np.float64) + self.outer_offsets
        scores: ScoreArray = 0.5 * (1.0 + np.tanh(0.5 * logits))
        return scores


def smoothed(targets: ScoreArray, smoothing: float) -> ScoreArray:
    """Smooth multi-hot labels (m, intents) as the paper does for several intents (Eq. 1).

    A 1 becomes `smoothing`; a 0 of a row with M ones becomes (1 - smoothing) M / intents; a row
    without intent keeps its zeros. A smoothing of 1 changes nothing.
    """
    share = (1.0 - smoothing) * targets.sum(1, keepdims=True) / targets.shape[1]
    result: ScoreArray = np.where(targets > 0, smoothing * targets, share)
    return result


def fit_mlp(
    embeddings: FloatArray, targets: ScoreArray, intents: Sequence[str], config: MlpConfig
) -> MlpHead:
    """Fit the network by AdamW on binary cross-entropy; the same rows give the same network.

    `embeddings` (m, d) may have any length; `targets` (m, intents) are one-hot or multi-hot.
    """
    import torch  # takes half a second, which only training needs
    from torch.nn import functional

    rows = torch.from_numpy(unit_rows(embeddings))
    labels = torch.from_numpy(smoothed(targets, config.smoothing).astype(np.float32))
    generator = np.random.default_rng(config.seed)
    n_batches = -(-len(rows) // config.batch_size)
    total = config.epochs * n_batches
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config.seed)
        inner = torch.nn.Linear(rows.shape[1], config.hidden)
        outer = torch.nn.Linear(config.hidden, labels.shape[1])
        optimizer = torch.optim.AdamW(
            [*inner.parameters(), *outer.parameters()],
            lr=config.learning_rate,
            weight_decay=config.weight_decay,
            foreach=True,
        )
        for step in range(total):
            if step % n_batches == 0:
                batches = np.array_split(generator.permutation(len(rows)), n_batches)
            batch = torch.from_numpy(batches[step % n_batches])
            for group in optimizer.param_groups:
                group["lr"] = config.learning_rate * _rate(step + 1, total + 1)
            hidden = functional.dropout(functional.relu(inner(rows[batch])), config.dropout)
            loss = functional.binary_cross_entropy_with_logits(outer(hidden), labels[batch])
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
    arrays = (inner.weight.T, inner.bias, outer.weight.T, outer.bias)
    return MlpHead(tuple(intents), *(a.detach().contiguous().numpy().copy() for a in arrays))


def _rate(step: int, total: int) -> float:
    """Return the share of the peak rate: a linear rise over 10 % of the steps, then a fall."""
    rising = total * _WARMUP
    return step / rising if step < rising else (total - step) / (total - rising)
