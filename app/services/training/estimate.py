"""What a training would do and how long it would take."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from app.services.conversations.reading import require_logs
from app.services.studio import Studio
from app.services.training.encoder_runs import ENCODER_KINDS, read_encoder_recipe
from app.services.training.marked_utterances import require_slots
from core.errors import InvalidInput
from core.recipes.conversations import ConvertRecipe, DialoguesRecipe
from core.recipes.labels import (
    AdapterRecipe,
    AnyRecipe,
    InstantRecipe,
    LabelEncoderRecipe,
    TunedRecipe,
    chosen_epochs,
    read_recipe,
)
from core.recipes.tasks import task_defaults
from core.recipes.templates import TemplatesRecipe
from core.text import counted
from core.types import Task
from storage import conversation_logs, jobs, models, projects
from storage.database import Transaction
from storage.queries import slots, utterances
from storage.records import ProjectRecord

_START_SECONDS = 8.0
"""Loading torch and the encoder, encoding, judging."""
_ROW_SECONDS = 0.0061
"""One utterance once through tuning, on two cores."""
_VIEWS = 4
"""How often a training on templates embeds an utterance: it and its template, twice each."""
_ENCODE_SECONDS = 0.003
_FIFTHS = 5
_PAIR_SECONDS = {"dialogues": 0.016, "convert": 0.0025}
"""A turn and its reply once through a training on conversations, on two cores."""


@dataclass(frozen=True, slots=True)
class Size:
    """How much there is to learn from: exemplars, and intents that they name."""

    rows: int
    intents: int
    task: Task = "single-label"


@dataclass(frozen=True, slots=True)
class Estimate:
    """What pressing Train would do, in words, and about how long it would take.

    Attributes:
        seconds: How long.
        sentence: What, in words.
        defaults: Settings whose default the project's task changes, in words; or "".
    """

    seconds: float
    sentence: str
    defaults: str = ""


def estimate(studio: Studio, project: str, recipe: str, settings: dict[str, object]) -> Estimate:
    """Say what a training would do and how long it takes, from earlier ones where there are any.

    Raises:
        InvalidInput: A setting does not fit the recipe.
    """
    if recipe in ENCODER_KINDS:
        return _estimate_encoder(studio, project, recipe, settings)
    with studio.database.read() as connection:
        found = projects.find(connection, project)
        chosen = read_recipe(recipe, settings, found.task)
        size = Size(*utterances.taught(connection, found.id, found.task), found.task)
        factor = _factor(connection, found)
    seconds = _seconds(chosen, size) * factor
    own = task_defaults(recipe, found.task)
    return Estimate(seconds, _sentence(chosen, size, seconds), _own_words(own))


def _estimate_encoder(
    studio: Studio, project: str, kind: str, settings: dict[str, object]
) -> Estimate:
    recipe = read_encoder_recipe(kind, settings)
    with studio.database.read() as connection:
        found = projects.find(connection, project)
        if isinstance(recipe, TemplatesRecipe):
            doing, seconds = _templates_work(connection, found, recipe)
        else:
            doing, seconds = _ranking_work(connection, found, recipe)
    seconds += _START_SECONDS
    sentence = (
        f"{doing}; about {in_words(seconds)}. "
        "The result is an encoder to start from: it answers no intents, and what answers now stays."
    )
    return Estimate(seconds, sentence)


def _ranking_work(
    connection: Transaction, project: ProjectRecord, recipe: DialoguesRecipe | ConvertRecipe
) -> tuple[str, float]:
    """Say what a training on conversations does, and for how many seconds."""
    require_logs(connection, project)
    totals = conversation_logs.totals(connection, project.id)
    seconds = _PAIR_SECONDS[recipe.kind] * totals.pairs * recipe.epochs
    if recipe.minutes is not None:
        seconds = min(seconds, 60 * recipe.minutes)
    doing = {
        "dialogues": "Tunes the encoder to find the next turn",
        "convert": "Trains a small encoder of its own to find the next turn",
    }[recipe.kind]
    learned = f"{totals.pairs:,} turns in {counted(totals.dialogues, 'conversation')}"
    return f"{doing} after each of {learned}", seconds


def _templates_work(
    connection: Transaction, project: ProjectRecord, recipe: TemplatesRecipe
) -> tuple[str, float]:
    """Say what a training on templates does, and for how many seconds, at most."""
    require_slots(connection, project)
    total, n_marked = slots.count_marked(connection, project.id)
    added = min(recipe.augmented, recipe.per_template * n_marked) if recipe.augment else 0
    rows = total + added
    rows = rows if recipe.tuned_on is None else min(rows, recipe.tuned_on)
    seconds = _VIEWS * _ROW_SECONDS * rows * recipe.epochs
    doing = "Tunes the encoder to bring utterances and their templates together, without labels"
    return f"{doing}, from {counted(n_marked, 'utterance')} with marked values", seconds


def _seconds(recipe: AnyRecipe, size: Size) -> float:
    if isinstance(recipe, InstantRecipe):
        return _START_SECONDS + _ENCODE_SECONDS * size.rows
    return _START_SECONDS + _ROW_SECONDS * _rows_tuned(recipe, size)


def _rows_tuned(recipe: TunedRecipe | LabelEncoderRecipe, size: Size) -> float:
    """How many rows go through the encoder: those of the model, then those of its thresholds.

    As `core.training.honest` plans it: of k folds each is scored by a whole tuning on the others,
    so that together they take k - 1 times the model's own; without folds a fifth is scored by one
    of half the epochs.
    """
    if isinstance(recipe, LabelEncoderRecipe):
        rows = _rows_with_names(recipe, size)
        epochs = chosen_epochs(size.rows, recipe)
    else:
        rows = size.rows + size.intents * recipe.names
        epochs = chosen_epochs(rows, recipe, size.task)
    if recipe.calibration == "leave-one-out":
        return rows * epochs
    folds = min(recipe.folds, size.rows)
    if folds > 1:
        names = rows - size.rows  # they are in every part
        return epochs * (rows + (folds - 1) * size.rows + folds * names)
    held_out = size.rows / _FIFTHS
    return rows * epochs + (rows - held_out) * max(1, epochs // 2)


def _rows_with_names(recipe: LabelEncoderRecipe, size: Size) -> int:
    """Rows of an epoch: each batch brings the names of its utterances, and those drawn beside."""
    if recipe.variant == "heterogeneous":  # word vectors take next to no time
        return size.rows
    batches = math.ceil(size.rows / recipe.batch_size)
    return size.rows + batches * min(size.intents, recipe.batch_size + recipe.negatives)


def _factor(connection: Transaction, project: ProjectRecord) -> float:
    """How much slower or faster this machine was than expected, when last asked."""
    lineages = {r.job_id: r.lineage for r in models.list_all(connection, project.id, deleted=True)}
    for job in jobs.list_all(connection, project_id=project.id):
        facts = lineages.get(job.id, {})
        done = job.state == "succeeded" and job.kind == "train" and job.attempt == 1
        if not (done and job.started_at and job.finished_at and "n_exemplars" in facts):
            continue
        size = Size(int(facts["n_exemplars"]), len(facts.get("intents", ())), project.task)
        settings = dict(job.payload["recipe"])
        try:
            recipe = read_recipe(settings.pop("kind"), settings, project.task)
        except InvalidInput:  # of an older studio, with settings that are no more
            continue
        began, ended = map(datetime.fromisoformat, (job.started_at, job.finished_at))
        took = (ended - began).total_seconds()
        return min(max(took / _seconds(recipe, size), 0.2), 5.0)
    return 1.0


def _sentence(recipe: AnyRecipe, size: Size, seconds: float) -> str:
    what = f"{counted(size.rows, 'labelled utterance')} of {counted(size.intents, 'intent')}"
    if isinstance(recipe, InstantRecipe):
        doing = f"Keeps the encoder as it is and lets {what} vote"
    elif isinstance(recipe, AdapterRecipe) and not recipe.merge:
        doing = (
            f"Tunes an adapter on {what}, a few MB beside the shared encoder, and lets them vote"
        )
    elif isinstance(recipe, LabelEncoderRecipe):
        doing = (
            f"Brings {what} near to the names of their intents, then lets both vote; an intent "
            "needs a name alone"
        )
    else:
        doing = f"Tunes the encoder on {what}, then lets them vote"
    return f"{doing}; about {in_words(seconds)}. Your labels stay as they are."


def _own_words(defaults: Mapping[str, object]) -> str:
    """Say which settings start elsewhere than the form shows, for texts of several intents."""
    plain = {name: value for name, value in defaults.items() if not isinstance(value, dict)}
    if not plain:
        return ""
    listed = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in plain.items())
    return f"For texts of several intents the usual settings are: {listed}."


def in_words(seconds: float) -> str:
    """Say a time as a person would."""
    if seconds < 55:
        return f"{max(5, round(seconds / 5) * 5)} seconds"
    minutes = seconds / 60
    if minutes < 1.5:
        return "a minute"
    if minutes < 90:
        return f"{round(minutes)} minutes"
    return f"{minutes / 60:.1f} hours"
