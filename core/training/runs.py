"""The one way through a training run: exemplars and a recipe in, events and a pipeline out."""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field, replace
from typing import assert_never

import numpy as np

from core.encoders.base import Encoder, TuningOptions
from core.encoders.tuning import open_tuning
from core.errors import InvalidInput
from core.heads.base import Head
from core.heads.build import fit_head
from core.heads.decision import fit_calibration
from core.heads.honest import fixed_config, honest_scores
from core.heads.selection import settle
from core.heads.votes import VoteHead
from core.pipeline import IntentPipeline, exact_answers
from core.recipes import ConvfitRecipe, HeadConfig, InstantRecipe, chosen_epochs
from core.splits import Rows, stratified_folds
from core.training.checkpoints import Checkpoint
from core.training.devices import device_of_process
from core.training.events import Event, StageStarted
from core.training.loop import FitOptions, fit
from core.types import Exemplar, FloatArray, Intent, ScoreArray
from core.vectors import unit_rows

Embed = Callable[[Encoder, Sequence[str]], FloatArray]
"""Encodes texts with an encoder, perhaps from a cache; (n, d) float32."""


def embed_directly(encoder: Encoder, texts: Sequence[str]) -> FloatArray:
    """Encode without a cache."""
    return encoder.encode(texts)


@dataclass(frozen=True, slots=True)
class RunInputs:
    """Everything a run depends on; equal inputs give an equal pipeline.

    Attributes:
        exemplars: The labelled utterances of the training split.
        intents: All intents that may be answered, described where a person did so.
        encoder: The base encoder, left untouched.
        device: Where tuning computes: `cpu`, `cuda` or `cuda:1`.
        embed: How texts of the base encoder are embedded.
        checkpoint_every: Steps of tuning between checkpoints; 0 makes none.
    """

    exemplars: tuple[Exemplar, ...]
    intents: tuple[Intent, ...]
    encoder: Encoder
    device: str = "cpu"
    embed: Embed = embed_directly
    checkpoint_every: int = 0


@dataclass(frozen=True, slots=True)
class RunResult:
    """What a run produced.

    Attributes:
        pipeline: Ready to predict.
        honest: Scores of exemplars by a pipeline that had not seen them, (m, intents) float64.
        honest_rows: Which exemplars those are, (m,) int64.
        name_embeddings: Intent names under the final encoder, (intents, d) float32.
    """

    pipeline: IntentPipeline
    honest: ScoreArray
    honest_rows: Rows = field(repr=False)
    name_embeddings: FloatArray = field(repr=False)


def run_recipe(
    recipe: InstantRecipe | ConvfitRecipe, inputs: RunInputs, resume: Checkpoint | None = None
) -> Generator[Event, None, RunResult]:
    """Train by a recipe; the events come as they happen, the result is the generator's value.

    Raises:
        InvalidInput: Fewer than two intents carry labels.
    """
    _require_two_intents(inputs.exemplars)
    match recipe:
        case InstantRecipe():
            return (yield from _run_instant(recipe, inputs))
        case ConvfitRecipe():
            return (yield from _run_convfit(recipe, inputs, resume))
        case _:
            assert_never(recipe)


def _run_instant(recipe: InstantRecipe, inputs: RunInputs) -> Generator[Event, None, RunResult]:
    yield StageStarted("encoding")
    embeddings = inputs.embed(inputs.encoder, [e.text for e in inputs.exemplars])
    yield StageStarted("deciding")
    fitted = _fit_head_on(recipe.head, inputs, inputs.encoder, embeddings)
    honest = honest_scores(fitted.head, recipe.head, embeddings, fitted.targets)
    rows = np.arange(len(inputs.exemplars))
    return _result(recipe, inputs, inputs.encoder, fitted, _Honest(honest, rows))


def _run_convfit(
    recipe: ConvfitRecipe, inputs: RunInputs, resume: Checkpoint | None
) -> Generator[Event, None, RunResult]:
    yield StageStarted("tuning")
    encoder = yield from _tune(recipe, inputs, resume)
    yield StageStarted("encoding")
    embeddings = inputs.embed(encoder, [e.text for e in inputs.exemplars])
    fitted = _fit_head_on(settle(recipe.head), inputs, encoder, embeddings)
    if recipe.calibration == "leave-one-out":
        honest = _Honest(
            honest_scores(fitted.head, recipe.head, embeddings, fitted.targets),
            np.arange(len(inputs.exemplars)),
        )
    else:
        yield StageStarted("calibrating")
        honest = yield from _held_out_scores(recipe, inputs, fitted)
    return _result(recipe, inputs, encoder, fitted, honest)


@dataclass(frozen=True, slots=True)
class _Fitted:
    head: Head
    embeddings: FloatArray
    targets: ScoreArray
    name_embeddings: FloatArray


@dataclass(frozen=True, slots=True)
class _Honest:
    scores: ScoreArray
    rows: Rows


def _fit_head_on(
    config: HeadConfig, inputs: RunInputs, encoder: Encoder, embeddings: FloatArray
) -> _Fitted:
    names = encoder.encode([name_text(intent) for intent in inputs.intents])
    targets = target_matrix(inputs.exemplars, inputs.intents)
    labels = [intent.name for intent in inputs.intents]
    head = fit_head(config, embeddings, targets, labels, names)
    return _Fitted(head, embeddings, targets, names)


def _tune(
    recipe: ConvfitRecipe, inputs: RunInputs, resume: Checkpoint | None
) -> Generator[Event, None, Encoder]:
    """Stage 2 of ConvFiT: tune a copy of the encoder on the exemplars (and intent names)."""
    texts, labels = tuning_rows(recipe, inputs)
    tuning = open_tuning(
        inputs.encoder,
        texts,
        TuningOptions(
            frozen_layers=recipe.frozen_layers,
            max_tokens=recipe.max_tokens,
            projection=recipe.projection,
            projection_size=recipe.projection_size,
            device=device_of_process(inputs.device),
            seed=recipe.seed,
        ),
    )
    options = FitOptions(resume=resume, checkpoint_every=inputs.checkpoint_every)
    yield from fit(tuning, labels, recipe, options)
    return tuning.finish(recipe.interpolation)


def _held_out_scores(
    recipe: ConvfitRecipe, inputs: RunInputs, fitted: _Fitted
) -> Generator[Event, None, _Honest]:
    """Score a fifth of the exemplars by an encoder and a head that never saw them.

    A tuned encoder has pulled its own training texts together, so even leave-one-out scores of
    them are too good; thresholds taken from those would send real texts out of scope.
    """
    labels = [_first_intent(e) for e in inputs.exemplars]
    held_out = stratified_folds(labels, 5, recipe.seed)[0]
    kept = np.setdiff1d(np.arange(len(labels)), held_out)
    part = replace(
        inputs, exemplars=tuple(inputs.exemplars[row] for row in kept), checkpoint_every=0
    )
    # Half the epochs place held-out texts nearly as the whole run does, at half its price.
    epochs = max(1, chosen_epochs(len(labels), recipe) // 2)
    encoder = yield from _tune(recipe.model_copy(update={"epochs": epochs}), part, None)
    seen = encoder.encode([e.text for e in part.exemplars])
    unseen = encoder.encode([inputs.exemplars[row].text for row in held_out])
    head = _fit_head_on(fixed_config(fitted.head, recipe.head), part, encoder, seen).head
    return _Honest(head.scores(unseen), held_out)


def _result(
    recipe: InstantRecipe | ConvfitRecipe,
    inputs: RunInputs,
    encoder: Encoder,
    fitted: _Fitted,
    honest: _Honest,
) -> RunResult:
    calibration = fit_calibration(
        honest.scores, fitted.targets[honest.rows], recipe.out_of_scope_rejection
    )
    voters = _voters(fitted.head, len(inputs.exemplars))
    pipeline = IntentPipeline(
        encoder=encoder,
        head=fitted.head,
        calibration=calibration,
        exemplars=tuple(inputs.exemplars[row] for row in voters),
        embeddings=unit_rows(fitted.embeddings[voters]),
        n_neighbours=recipe.neighbours,
        exact=exact_answers(inputs.exemplars),
    )
    return RunResult(pipeline, honest.scores, honest.rows, fitted.name_embeddings)


def _voters(head: Head, n_exemplars: int) -> Rows:
    """The exemplars that can be shown as evidence: those that vote."""
    if isinstance(head, VoteHead) and head.carriers is not None:
        return head.carriers
    return np.arange(n_exemplars)


def name_text(intent: Intent) -> str:
    """Write an intent's name as words, for an encoder to read."""
    return intent.name.replace("_", " ").replace("-", " ").strip(" ?.!").lower()


def target_matrix(exemplars: Sequence[Exemplar], intents: Sequence[Intent]) -> ScoreArray:
    """One row per exemplar with a 1 for each of its intents; (m, intents) float64."""
    column = {intent.name: place for place, intent in enumerate(intents)}
    targets = np.zeros((len(exemplars), len(intents)))
    for row, exemplar in enumerate(exemplars):
        targets[row, [column[name] for name in exemplar.intents]] = 1.0
    return targets


def tuning_rows(recipe: ConvfitRecipe, inputs: RunInputs) -> tuple[list[str], list[int]]:
    """The texts to tune on and their intent's number; names enter as further examples."""
    column = {intent.name: place for place, intent in enumerate(inputs.intents)}
    texts = [e.text for e in inputs.exemplars]
    labels = [column[_first_intent(e)] for e in inputs.exemplars]
    if recipe.names:
        texts += [name_text(intent) for intent in inputs.intents]
        labels += list(range(len(inputs.intents)))
    return texts, labels


def _first_intent(exemplar: Exemplar) -> str:
    return exemplar.intents[0]


def _require_two_intents(exemplars: Sequence[Exemplar]) -> None:
    seen = sorted({name for e in exemplars for name in e.intents})
    if len(seen) < 2:
        raise InvalidInput(
            f"Training needs labels of at least two intents; found {len(seen)}"
            + (f" ('{seen[0]}')." if seen else "."),
            "Label a few utterances of another intent, or import a labelled file.",
        )
