"""Tune an encoder on labels, by Stage 2 of ConvFiT or to the names of intents."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from core.encoders.base import AdapterOptions, Encoder, TuningOptions
from core.encoders.opening import open_tuning
from core.heads.votes.settings import vote_settings
from core.recipes.labels import (
    AdapterRecipe,
    ConvfitRecipe,
    LabelEncoderRecipe,
    TunedRecipe,
    chosen_epochs,
)
from core.splits import drawn_rows
from core.text import name_words
from core.training.checkpoints import Checkpoint, digest_of
from core.training.devices import tuning_options
from core.training.events import CheckpointReady, EpochScored, Event, StageStarted, StepDone
from core.training.from_labels.inputs import RunInputs, exemplar_targets, first_columns
from core.training.from_labels.names import plan_naming, tune_to_names
from core.training.loop import FitOptions, Labels, fit, plan_batches
from core.training.unseen import Watch, unseen_sample
from core.types import EncodingPrecision, Exemplar

AnyTuned = ConvfitRecipe | AdapterRecipe
"""Recipes that tune by pairs of utterances, and may learn from unlabelled texts."""

LearningRecipe = AnyTuned | LabelEncoderRecipe
"""Recipes that train the encoder on labels."""


@dataclass(frozen=True, slots=True)
class StepOffset:
    """Number of a run's steps before a tuning, and in total."""

    before: int
    total: int


@dataclass(frozen=True, slots=True)
class Lesson:
    """What one tuning of a run learns beside the labels, and its name in checkpoints.

    Attributes:
        texts: Unlabelled texts.
        columns: The number of the intent that each of them was given.
        outside: How many more there were that were taken for out of scope.
        precision: Number format in which all of them were read to be labelled; None without any.
    """

    stage: str = "tuning"
    texts: tuple[str, ...] = field(default=(), repr=False)
    columns: tuple[int, ...] = field(default=(), repr=False)
    outside: int = 0
    precision: EncodingPrecision | None = None


LABELS = Lesson()
"""The labels alone."""


def tune(
    recipe: LearningRecipe,
    inputs: RunInputs,
    offset: StepOffset,
    resume: Checkpoint | None = None,
    lesson: Lesson = LABELS,
) -> Generator[Event, None, Encoder]:
    """Tune a copy of the encoder, or an adapter; steps are counted over the whole run."""
    run = _run_of(recipe, inputs, resume, lesson)
    while True:
        try:
            event = next(run)
        except StopIteration as end:
            encoder: Encoder = end.value
            return encoder
        if isinstance(event, StepDone | EpochScored):
            yield replace(event, step=offset.before + event.step, total=offset.total)
        elif isinstance(event, CheckpointReady):
            yield CheckpointReady(replace(event.checkpoint, before=offset.before))
        elif not isinstance(event, StageStarted):  # the run names its stages itself
            yield event


def _run_of(
    recipe: LearningRecipe, inputs: RunInputs, resume: Checkpoint | None, lesson: Lesson
) -> Generator[Event, None, Encoder]:
    if isinstance(recipe, LabelEncoderRecipe):
        return tune_to_names(recipe, inputs, resume)
    return _stage_two(recipe, inputs, resume, lesson)


def _stage_two(
    recipe: TunedRecipe, inputs: RunInputs, resume: Checkpoint | None, lesson: Lesson
) -> Generator[Event, None, Encoder]:
    """Stage 2 of ConvFiT: tune on the exemplars and names, and on a lesson's texts."""
    texts, labels = tuning_rows(recipe, inputs, lesson)
    tuning = open_tuning(inputs.encoder, texts, _tuning_options(recipe, inputs))
    watch = _watch(recipe, inputs, texts)
    earlier = None if resume is None else resume.of(lesson.stage)
    rows = digest_of(texts, labels)
    options = FitOptions(lesson.stage, earlier, inputs.checkpoint_every, watch, rows)
    yield from fit(tuning, labels, recipe, options)
    return tuning.finish(recipe.interpolation)


def _tuning_options(recipe: TunedRecipe, inputs: RunInputs) -> TuningOptions:
    options = tuning_options(recipe, inputs.device)
    if isinstance(recipe, AdapterRecipe):
        kind, factor = recipe.adapter, recipe.reduction_factor
        return replace(options, adapter=AdapterOptions(kind, factor, recipe.rank, recipe.merge))
    if isinstance(recipe, ConvfitRecipe):
        size = recipe.projection_size
        return replace(options, projection=recipe.projection, projection_size=size)
    return options


def _watch(recipe: TunedRecipe, inputs: RunInputs, tuned_on: Sequence[str]) -> Watch | None:
    unseen = unseen_sample(inputs.watched, tuned_on, recipe.seed)
    if not unseen:
        return None
    names = tuple(intent.name for intent in inputs.intents)
    targets = exemplar_targets(_tuned_exemplars(recipe, inputs), inputs.intents)
    return Watch(unseen, names, targets, vote_settings(recipe.head, inputs.task), recipe.seed)


def n_steps(recipe: LearningRecipe, inputs: RunInputs, lesson: Lesson = LABELS) -> int:
    """Count the steps of a tuning."""
    if isinstance(recipe, LabelEncoderRecipe):
        labels = first_columns(inputs.exemplars, inputs.intents)
        return len(plan_naming(labels, len(inputs.intents), recipe))
    return len(plan_batches(tuning_rows(recipe, inputs, lesson)[1], recipe))


def n_epochs(recipe: LearningRecipe, inputs: RunInputs) -> int:
    """Return the number of epochs of a tuning."""
    if isinstance(recipe, LabelEncoderRecipe):
        return chosen_epochs(len(inputs.exemplars), recipe)
    return chosen_epochs(len(tuning_rows(recipe, inputs)[0]), recipe, inputs.task)


def tuning_rows(
    recipe: TunedRecipe, inputs: RunInputs, lesson: Lesson = LABELS
) -> tuple[list[str], Labels]:
    """Return the texts to tune on, including intent names, and their labels.

    A label is the intent's number, or for multi-label a multi-hot row. A lesson's texts come last;
    multi-label tasks ignore them.
    """
    exemplars = _tuned_exemplars(recipe, inputs)
    texts = [e.text for e in exemplars]
    targets = exemplar_targets(exemplars, inputs.intents)
    if recipe.names:
        texts += [name_words(intent.name) for intent in inputs.intents]
        targets = np.concatenate([targets, np.eye(len(inputs.intents))])
    if inputs.task == "multi-label":
        return texts, targets
    names = range(len(texts) - len(exemplars))
    labels = [*first_columns(exemplars, inputs.intents), *names, *lesson.columns]
    return [*texts, *lesson.texts], labels


def _tuned_exemplars(recipe: TunedRecipe, inputs: RunInputs) -> tuple[Exemplar, ...]:
    """Return the exemplars to tune on: all, or a random sample of the recipe's size."""
    rows = drawn_rows(len(inputs.exemplars), recipe.tuned_on, recipe.seed)
    return tuple(inputs.exemplars[row] for row in rows)
