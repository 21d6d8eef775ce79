"""Train utterances to be nearest to the names of their intents (Siamese vs Non-Siamese)."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import torch
from torch import Tensor, nn

from core.encoders.base import Encoder, Tuning
from core.encoders.dual.encoder import of_any_length, utterances_side
from core.encoders.dual.static import distil_static
from core.encoders.dual.tuning import DualTuning
from core.encoders.opening import open_tuning
from core.intent_names import label_text
from core.losses.naming import name_cross_entropy, name_squared_error, similarities
from core.recipes.labels import LabelEncoderRecipe, chosen_epochs
from core.training.batches import even_batches
from core.training.checkpoints import Checkpoint, digest_of
from core.training.devices import tuning_options
from core.training.events import Event, StageStarted
from core.training.from_labels.inputs import RunInputs, first_columns
from core.training.loop import Course, FitOptions, Plan, follow

_COPY_RATE, _STATIC_RATE = 3.0, 30.0
"""Factors of the learning rate for an encoder of names only, which sees few texts. A word vector's
numbers are about 0.1 and change only in batches with its word, so its factor is larger."""

STAGE = "naming"


@dataclass(frozen=True, slots=True)
class NamingObjective:
    """A recipe's loss of a batch that mixes utterances and names.

    An utterance of intent k is labelled k, the name of intent k is labelled -1 - k.
    """

    recipe: LabelEncoderRecipe
    weights: nn.ParameterDict = field(default_factory=nn.ParameterDict)

    def __call__(self, embeddings: Tensor, labels: Tensor) -> Tensor:
        """Return the loss of embeddings (B, d) with labels (B,) int64, a scalar."""
        named = labels < 0
        scores = similarities(embeddings[~named], embeddings[named], self.recipe.similarity)
        own = labels[~named][:, None] == -1 - labels[named][None]
        right = own.to(torch.int64).argmax(1)
        if self.recipe.loss == "mse":
            return name_squared_error(scores, right, self.recipe.negatives)
        return name_cross_entropy(scores, right, self.recipe.temperature)


def plan_naming(labels: Sequence[int], n_intents: int, recipe: LabelEncoderRecipe) -> Plan:
    """Return the epoch (from 1) and rows of every batch: utterances, then names.

    Row `len(labels) + k` is the name of intent k. A batch holds each name of its utterances once,
    and as many random other names as the recipe says.
    """
    known = np.asarray(labels, dtype=np.int64)
    plan: Plan = []
    for epoch in range(1, chosen_epochs(len(labels), recipe) + 1):
        generator = np.random.default_rng([recipe.seed, epoch])
        for rows in even_batches(len(known), recipe.batch_size, generator):
            own = np.unique(known[rows])
            others = np.setdiff1d(np.arange(n_intents), own)
            drawn = generator.choice(others, min(recipe.negatives, len(others)), replace=False)
            names = len(known) + np.concatenate([own, np.sort(drawn)])
            plan.append((epoch, np.concatenate([rows, names])))
    return plan


def tune_to_names(
    recipe: LabelEncoderRecipe, inputs: RunInputs, resume: Checkpoint | None = None
) -> Generator[Event, None, Encoder]:
    """Train by the recipe; yields events and returns the encoder.

    It is a `DualEncoder`, unless both sides share their weights. A base that cannot be tuned in
    this way raises InvalidInput.
    """
    labels, n_intents = first_columns(inputs.exemplars, inputs.intents), len(inputs.intents)
    yield StageStarted(STAGE)
    tuning = open_sides(recipe, inputs)
    course = Course(
        plan_naming(labels, n_intents, recipe),
        torch.tensor([*labels, *(-1 - k for k in range(n_intents))]).to(tuning.device),
        NamingObjective(recipe),
        {"names.": names_rate(recipe)},
    )
    texts = [one.text for one in inputs.exemplars] + [label_text(one) for one in inputs.intents]
    rows = digest_of(texts, labels)
    options = FitOptions(STAGE, resume, inputs.checkpoint_every, rows=rows)
    yield from follow(tuning, course, recipe, options)
    return tuning.finish(recipe.interpolation)


def open_sides(recipe: LabelEncoderRecipe, inputs: RunInputs) -> Tuning:
    """Open the encoders of the recipe's variant on the utterances, followed by the names."""
    own = utterances_side(inputs.encoder)
    base = own if recipe.similarity == "cosine" else of_any_length(own)
    utterances = [exemplar.text for exemplar in inputs.exemplars]
    names = [label_text(intent) for intent in inputs.intents]
    options = tuning_options(recipe, inputs.device)
    if recipe.variant == "siamese":
        return open_tuning(base, utterances + names, options)
    normalised = recipe.similarity == "cosine"
    small = recipe.variant == "heterogeneous"
    other = distil_static(base, recipe.width, normalised=normalised) if small else base
    of_names = open_tuning(other, names, replace(options, frozen_layers=0))
    return DualTuning(open_tuning(base, utterances, options), of_names, len(utterances))


def names_rate(recipe: LabelEncoderRecipe) -> float:
    """Return the learning rate's factor for an encoder of names only."""
    if recipe.names_rate is not None:
        return recipe.names_rate
    return _STATIC_RATE if recipe.variant == "heterogeneous" else _COPY_RATE
