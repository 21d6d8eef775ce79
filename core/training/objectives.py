"""Losses of recipes that learn from labels, with the weights that belong to a loss."""

from dataclasses import dataclass
from typing import assert_never

import torch
from torch import Tensor, nn

from core.losses.contrastive import cosine_targets, online_contrastive, supervised_contrastive
from core.losses.overlap import overlap_targets
from core.losses.prototype import prototype_binary_cross_entropy, prototype_cross_entropy
from core.losses.softmax import pair_softmax
from core.recipes.labels import TunedRecipe

_EVEN_CHANCE = 0.4
"""Before tuning, cosine to an intent's mean at which a text has the intent with chance 1/2."""


@dataclass(frozen=True, slots=True)
class Objective:
    """A recipe's loss; its own weights are `prototypes`, `offsets` and `pairs`."""

    recipe: TunedRecipe
    weights: nn.ParameterDict

    def __call__(self, embeddings: Tensor, labels: Tensor) -> Tensor:
        """Return the loss, a scalar, of (B, d) with (B,) int64 or multi-hot (B, intents) labels."""
        loss = self._pairs(embeddings, labels)
        weight = self._prototype_weight()
        if weight:
            loss = loss + weight * self._prototypes(embeddings, labels)
        return loss

    def _prototypes(self, embeddings: Tensor, labels: Tensor) -> Tensor:
        points, temperature = self.weights["prototypes"], self.recipe.temperature
        if labels.ndim == 1:
            return prototype_cross_entropy(embeddings, labels, points, temperature)
        offsets = self.weights["offsets"]
        return prototype_binary_cross_entropy(embeddings, labels, points, offsets, temperature)

    def _prototype_weight(self) -> float:
        return 1.0 if self.recipe.objective == "prototype" else self.recipe.prototype_weight

    def _pairs(self, embeddings: Tensor, labels: Tensor) -> Tensor:
        match self.recipe.objective:
            case "ocl":
                return online_contrastive(embeddings, labels)
            case "cos":
                return cosine_targets(embeddings, labels)
            case "smax":
                return pair_softmax(embeddings, labels, self.weights["pairs"])
            case "supcon":
                return supervised_contrastive(embeddings, labels, self.recipe.temperature)
            case "overlap":
                return overlap_targets(embeddings, labels)
            case "prototype":
                return embeddings.new_zeros(())
            case _:
                assert_never(self.recipe.objective)


def build_objective(recipe: TunedRecipe, embeddings: Tensor, labels: Tensor) -> Objective:
    """Build a recipe's objective; prototypes start as means of untuned embeddings (rows, d).

    Labels are intent numbers (rows,) int64, or multi-hot rows (rows, intents) float. The prototype
    of an intent without a row starts at the mean of all rows.
    """
    weights = nn.ParameterDict()
    if recipe.objective == "prototype" or recipe.prototype_weight:
        means = _means(nn.functional.normalize(embeddings, dim=1), labels)
        weights["prototypes"] = nn.Parameter(means)
        if labels.ndim == 2:
            weights["offsets"] = nn.Parameter(means.new_full((len(means),), _EVEN_CHANCE))
    if recipe.objective == "smax":
        size = embeddings.shape[1]
        generator = torch.Generator().manual_seed(recipe.seed)
        start = torch.randn(3 * size, 2, generator=generator) * (3 * size) ** -0.5
        weights["pairs"] = nn.Parameter(start.to(embeddings.device))
    return Objective(recipe, weights)


def _means(unit: Tensor, labels: Tensor) -> Tensor:
    """Average the rows of each intent; (intents, d)."""
    if labels.ndim == 1:
        n_intents = int(labels.max()) + 1
        sums = unit.new_zeros(n_intents, unit.shape[1]).index_add(0, labels, unit)
        counts = torch.bincount(labels, minlength=n_intents)[:, None]
    else:
        sums, counts = labels.T @ unit, labels.sum(0)[:, None]
    return torch.where(counts > 0, sums / counts.clamp(min=1), unit.mean(0))
