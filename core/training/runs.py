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
from core.heads.decision import Calibration, fit_calibration
from core.heads.honest import fixed_config, fold_scores, honest_scores
from core.heads.selection import settle, vote_settings
from core.heads.thresholds import fit_multi_label_calibration
from core.heads.votes import VoteHead
from core.pipeline import IntentPipeline, exact_answers
from core.recipes import ConvfitRecipe, HeadConfig, InstantRecipe, chosen_epochs
from core.splits import Rows, stratified_folds
from core.training.checkpoints import Checkpoint
from core.training.devices import device_of_process
from core.training.events import EpochScored, Event, StageStarted, StepDone
from core.training.loop import FitOptions, Labels, fit, plan_batches
from core.training.watching import Watch, unseen_sample
from core.types import Exemplar, FloatArray, Intent, ScoreArray, Task
from core.vectors import unit_rows

Embed = Callable[[Encoder, Sequence[str]], FloatArray]
"""Encodes texts with an encoder, perhaps from a cache; (n, d) float32."""

_FIFTHS = 5


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
        watched: Labelled texts kept apart, some of which are answered after each epoch, for
            somebody to look at; nothing is chosen by them.
        task: Whether an utterance has one intent, or any number of them and perhaps none.
    """

    exemplars: tuple[Exemplar, ...]
    intents: tuple[Intent, ...]
    encoder: Encoder
    device: str = "cpu"
    embed: Embed = embed_directly
    checkpoint_every: int = 0
    watched: tuple[Exemplar, ...] = ()
    task: Task = "single-label"


@dataclass(frozen=True, slots=True)
class RunResult:
    """What a run produced.

    Attributes:
        pipeline: Ready to predict.
        honest: Scores of exemplars by a pipeline that had not seen them, (m, intents) float64.
        honest_rows: Which exemplars those are, (m,) int64.
        judged_on: How those scores came about, in words.
        name_embeddings: Intent names under the final encoder, (intents, d) float32.
    """

    pipeline: IntentPipeline
    honest: ScoreArray
    honest_rows: Rows = field(repr=False)
    judged_on: str
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
    if recipe.folds == 1:
        honest = _leave_one_out(recipe.head, fitted)
    else:
        folds = _folds(inputs.exemplars, recipe.folds, recipe.seed)
        scores = fold_scores(fitted.head, recipe.head, embeddings, fitted.targets, folds)
        honest = _Honest(scores, np.arange(len(scores)), _in_words(folds))
    return _result(recipe, inputs, inputs.encoder, fitted, honest)


def _run_convfit(
    recipe: ConvfitRecipe, inputs: RunInputs, resume: Checkpoint | None
) -> Generator[Event, None, RunResult]:
    parts = _held_out_parts(recipe, inputs)
    sizes = [_n_steps(recipe, inputs), *(_n_steps(part.recipe, part.inputs) for part in parts)]
    yield StageStarted("tuning")
    encoder = yield from _tune(recipe, inputs, _Place(0, sum(sizes)), resume)
    yield StageStarted("encoding")
    embeddings = inputs.embed(encoder, [e.text for e in inputs.exemplars])
    fitted = _fit_head_on(settle(recipe.head, inputs.task), inputs, encoder, embeddings)
    if not parts:
        return _result(recipe, inputs, encoder, fitted, _leave_one_out(recipe.head, fitted))
    places = [_Place(sum(sizes[:at]), sum(sizes)) for at in range(1, len(sizes))]
    honest = yield from _held_out_scores(parts, places, fitted, recipe.head)
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
    judged_on: str


@dataclass(frozen=True, slots=True)
class _Part:
    """A tuning that is made only to score the exemplars held out of it."""

    recipe: ConvfitRecipe
    inputs: RunInputs
    held_out: Rows


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a tuning's steps lie among those of the run."""

    before: int
    total: int


def _fit_head_on(
    config: HeadConfig, inputs: RunInputs, encoder: Encoder, embeddings: FloatArray
) -> _Fitted:
    names = encoder.encode([name_text(intent) for intent in inputs.intents])
    targets = target_matrix(inputs.exemplars, inputs.intents)
    labels = [intent.name for intent in inputs.intents]
    head = fit_head(config, embeddings, targets, labels, names)
    return _Fitted(head, embeddings, targets, names)


def _tune(
    recipe: ConvfitRecipe, inputs: RunInputs, place: _Place, resume: Checkpoint | None = None
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
    watch = _watch(recipe, inputs, texts)
    options = FitOptions(resume=resume, checkpoint_every=inputs.checkpoint_every, watch=watch)
    for event in fit(tuning, labels, recipe, options):
        if isinstance(event, StepDone | EpochScored):
            yield replace(event, step=place.before + event.step, total=place.total)
        else:
            yield event
    return tuning.finish(recipe.interpolation)


def _watch(recipe: ConvfitRecipe, inputs: RunInputs, tuned_on: Sequence[str]) -> Watch | None:
    unseen = unseen_sample(inputs.watched, tuned_on, recipe.seed)
    if not unseen:
        return None
    names = tuple(intent.name for intent in inputs.intents)
    targets = target_matrix(_tuned_exemplars(recipe, inputs), inputs.intents)
    return Watch(unseen, names, targets, vote_settings(recipe.head, inputs.task), recipe.seed)


def _n_steps(recipe: ConvfitRecipe, inputs: RunInputs) -> int:
    return len(plan_batches(tuning_rows(recipe, inputs)[1], recipe))


def _leave_one_out(config: HeadConfig, fitted: _Fitted) -> _Honest:
    scores = honest_scores(fitted.head, config, fitted.embeddings, fitted.targets)
    return _Honest(scores, np.arange(len(scores)), f"leave-one-out over {len(scores)} texts")


def _folds(exemplars: Sequence[Exemplar], n_folds: int, seed: int) -> list[Rows]:
    """Divide exemplars evenly for each (first) intent; a handful gives fewer folds."""
    labels = [e.intents[0] if e.intents else "" for e in exemplars]
    return stratified_folds(labels, min(n_folds, len(labels)), seed)


def _in_words(folds: Sequence[Rows]) -> str:
    n_texts = sum(len(fold) for fold in folds)
    return f"{len(folds)}-fold cross-validation over {n_texts} texts"


def _held_out_parts(recipe: ConvfitRecipe, inputs: RunInputs) -> list[_Part]:
    """Plan the tunings that score exemplars they never saw.

    A tuned encoder has pulled its own training texts together, so even leave-one-out scores of
    them are too good; thresholds taken from those would send real texts out of scope.
    """
    if recipe.calibration == "leave-one-out":
        return []
    epochs = chosen_epochs(len(tuning_rows(recipe, inputs)[0]), recipe, inputs.task)
    if recipe.folds > 1:
        folds = _folds(inputs.exemplars, recipe.folds, recipe.seed)
    else:
        folds = _folds(inputs.exemplars, _FIFTHS, recipe.seed)[:1]
        # Half the epochs place held-out texts nearly as the whole run does, at half its price.
        epochs = max(1, epochs // 2)
    settled = recipe.model_copy(update={"epochs": epochs})  # not chosen anew by a part's size
    parts = [_part(settled, inputs, fold) for fold in folds]
    # From a handful of labels nothing can be held out: the rest would know a single intent.
    return parts if all(_n_intents(part.inputs.exemplars) > 1 for part in parts) else []


def _part(recipe: ConvfitRecipe, inputs: RunInputs, held_out: Rows) -> _Part:
    kept = np.setdiff1d(np.arange(len(inputs.exemplars)), held_out)
    seen = tuple(inputs.exemplars[row] for row in kept)
    unseen = tuple(inputs.exemplars[row] for row in held_out)
    own = replace(inputs, exemplars=seen, watched=unseen, checkpoint_every=0)
    return _Part(recipe, own, held_out)


def _held_out_scores(
    parts: Sequence[_Part], places: Sequence[_Place], fitted: _Fitted, config: HeadConfig
) -> Generator[Event, None, _Honest]:
    """Score held-out exemplars, each by an encoder and a head that never saw it."""
    scores = np.zeros_like(fitted.targets)
    for number, (part, place) in enumerate(zip(parts, places, strict=True), 1):
        yield StageStarted("calibrating", number, len(parts))
        encoder = yield from _tune(part.recipe, part.inputs, place)
        seen = encoder.encode([e.text for e in part.inputs.exemplars])
        head = _fit_head_on(fixed_config(fitted.head, config), part.inputs, encoder, seen).head
        scores[part.held_out] = head.scores(encoder.encode([e.text for e in part.inputs.watched]))
    rows = np.sort(np.concatenate([part.held_out for part in parts]))
    if len(parts) > 1:
        words = _in_words([part.held_out for part in parts])
    else:
        words = f"{len(rows)} of {len(scores)} texts, held out"
    return _Honest(scores[rows], rows, words)


def _result(
    recipe: InstantRecipe | ConvfitRecipe,
    inputs: RunInputs,
    encoder: Encoder,
    fitted: _Fitted,
    honest: _Honest,
) -> RunResult:
    voters = _voters(fitted.head, len(inputs.exemplars))
    pipeline = IntentPipeline(
        encoder=encoder,
        head=fitted.head,
        calibration=_calibration(recipe, inputs.task, honest.scores, fitted.targets[honest.rows]),
        exemplars=tuple(inputs.exemplars[row] for row in voters),
        embeddings=unit_rows(fitted.embeddings[voters]),
        n_neighbours=recipe.neighbours,
        exact=exact_answers(inputs.exemplars),
    )
    return RunResult(pipeline, honest.scores, honest.rows, honest.judged_on, fitted.name_embeddings)


def _calibration(
    recipe: InstantRecipe | ConvfitRecipe, task: Task, scores: ScoreArray, targets: ScoreArray
) -> Calibration:
    if task == "multi-label":
        return fit_multi_label_calibration(scores, targets, recipe.theta)
    return fit_calibration(scores, targets, recipe.out_of_scope_rejection)


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


def tuning_rows(recipe: ConvfitRecipe, inputs: RunInputs) -> tuple[list[str], Labels]:
    """The texts to tune on and their labels; names enter as further examples.

    Returns:
        Texts, and for each its intent's number, or where it may have several a multi-hot row.
    """
    exemplars = _tuned_exemplars(recipe, inputs)
    texts = [e.text for e in exemplars]
    targets = target_matrix(exemplars, inputs.intents)
    if recipe.names:
        texts += [name_text(intent) for intent in inputs.intents]
        targets = np.concatenate([targets, np.eye(len(inputs.intents))])
    if inputs.task == "multi-label":
        return texts, targets
    return texts, _first_columns(exemplars, inputs.intents) + list(
        range(len(texts) - len(exemplars))
    )


def _first_columns(exemplars: Sequence[Exemplar], intents: Sequence[Intent]) -> list[int]:
    column = {intent.name: place for place, intent in enumerate(intents)}
    return [column[e.intents[0]] for e in exemplars]


def _tuned_exemplars(recipe: ConvfitRecipe, inputs: RunInputs) -> tuple[Exemplar, ...]:
    """The exemplars that are tuned on: all, or as many as the recipe says, drawn by chance."""
    exemplars = inputs.exemplars
    if recipe.tuned_on is None or recipe.tuned_on >= len(exemplars):
        return exemplars
    generator = np.random.default_rng(recipe.seed)
    rows = np.sort(generator.choice(len(exemplars), recipe.tuned_on, replace=False))
    return tuple(exemplars[row] for row in rows)


def _n_intents(exemplars: Sequence[Exemplar]) -> int:
    return len({name for e in exemplars for name in e.intents})


def _require_two_intents(exemplars: Sequence[Exemplar]) -> None:
    seen = sorted({name for e in exemplars for name in e.intents})
    if len(seen) < 2:
        raise InvalidInput(
            f"Training needs labels of at least two intents; found {len(seen)}"
            + (f" ('{seen[0]}')." if seen else "."),
            "Label a few utterances of another intent, or import a labelled file.",
        )
