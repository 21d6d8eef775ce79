"""What a training would do and how long it would take."""

import math
from dataclasses import dataclass
from datetime import datetime

from app.services.conversations.reading import require_logs
from app.services.studio import Studio
from app.services.training.marked_utterances import require_slots
from core.errors import InvalidInput
from core.recipes.base import Recipe
from core.recipes.conversations import ConvertRecipe, DialoguesRecipe
from core.recipes.labels import (
    AnyModelRecipe,
    InstantRecipe,
    LabelEncoderRecipe,
    ModelRecipe,
    TunedRecipe,
    chosen_epochs,
)
from core.recipes.read import read_recipe
from core.recipes.templates import TemplatesRecipe
from core.text import counted
from core.types import Task
from storage import conversation_logs, jobs, models, projects
from storage.database import Transaction
from storage.queries import slots, utterances
from storage.records import ProjectRecord

_START_SECONDS = 8.0
"""Time to load torch and the encoder, to encode and to judge."""
_ROW_SECONDS = 0.0061
"""Time of one utterance in one epoch of tuning, on two cores."""
_VIEWS = 4
"""Embeddings of an utterance in an epoch on templates: it and its template, twice each."""
_ENCODE_SECONDS = 0.003
_FIFTHS = 5


@dataclass(frozen=True, slots=True)
class Size:
    """How much there is to learn from: the number of exemplars, and of intents that they name."""

    rows: int
    intents: int
    task: Task = "single-label"


@dataclass(frozen=True, slots=True)
class Estimate:
    """What pressing Train would do, in words, and about how long it would take.

    `defaults` says which defaults the project's task changes; "" where there are none.
    """

    seconds: float
    sentence: str
    defaults: str = ""


def estimate(studio: Studio, project: str, recipe: str, settings: dict[str, object]) -> Estimate:
    """Say what a training would do and how long it takes, from earlier ones where there are any.

    Raises:
        InvalidInput: A setting does not fit the recipe, or there is nothing for it to learn from.
    """
    with studio.database.read() as connection:
        record = projects.find(connection, project)
        chosen = read_recipe(recipe, settings, record.task)
        if isinstance(chosen, ModelRecipe):
            return _estimate_model(connection, record, chosen)
        if isinstance(chosen, TemplatesRecipe):
            what, seconds = _templates_work(connection, record, chosen)
        else:
            what, seconds = _ranking_work(connection, record, chosen)
    seconds += _START_SECONDS
    sentence = (
        f"{chosen.describe_work(what)}; about {in_words(seconds)}. "
        "The result is an encoder to start from: it answers no intents, and what answers now stays."
    )
    return Estimate(seconds, sentence)


def _estimate_model(
    connection: Transaction, project: ProjectRecord, recipe: AnyModelRecipe
) -> Estimate:
    size = Size(*utterances.taught(connection, project.id, project.task), project.task)
    seconds = _seconds(recipe, size) * _factor(connection, project)
    what = f"{counted(size.rows, 'labelled utterance')} of {counted(size.intents, 'intent')}"
    sentence = (
        f"{recipe.describe_work(what)}; about {in_words(seconds)}. Your labels stay as they are."
    )
    return Estimate(seconds, sentence, _changed_defaults(recipe, project.task))


def _ranking_work(
    connection: Transaction, project: ProjectRecord, recipe: DialoguesRecipe | ConvertRecipe
) -> tuple[str, float]:
    """Say what a training on conversations learns from, and how many seconds it takes."""
    require_logs(connection, project)
    totals = conversation_logs.totals(connection, project.id)
    seconds = recipe.pair_seconds * totals.pairs * recipe.epochs
    if recipe.minutes is not None:
        seconds = min(seconds, 60 * recipe.minutes)
    return f"{totals.pairs:,} turns in {counted(totals.dialogues, 'conversation')}", seconds


def _templates_work(
    connection: Transaction, project: ProjectRecord, recipe: TemplatesRecipe
) -> tuple[str, float]:
    """Say what a training on templates learns from, and how many seconds it takes at most."""
    require_slots(connection, project)
    total, n_marked = slots.count_marked(connection, project.id)
    added = min(recipe.augmented, recipe.per_template * n_marked) if recipe.augment else 0
    rows = min(total + added, recipe.tuned_on or math.inf)
    seconds = _VIEWS * _ROW_SECONDS * rows * recipe.epochs
    return f"{counted(n_marked, 'utterance')} with marked values", seconds


def _seconds(recipe: AnyModelRecipe, size: Size) -> float:
    if isinstance(recipe, InstantRecipe):
        return _START_SECONDS + _ENCODE_SECONDS * size.rows
    return _START_SECONDS + _ROW_SECONDS * _rows_tuned(recipe, size)


def _rows_tuned(recipe: TunedRecipe | LabelEncoderRecipe, size: Size) -> float:
    """How many rows go through the encoder: those of the model, then those of its thresholds.

    As `held_out_parts` plans it: of k folds each is scored by a whole tuning on the others,
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
    """Return the rows of an epoch: each batch adds names of its intents and of drawn ones."""
    if recipe.variant == "heterogeneous":  # word vectors take next to no time
        return size.rows
    batches = math.ceil(size.rows / recipe.batch_size)
    return size.rows + batches * min(size.intents, recipe.batch_size + recipe.negatives)


def _factor(connection: Transaction, project: ProjectRecord) -> float:
    """Return how much longer than expected the newest training took: 0.2 to 5, or 1 if none."""
    lineages = {r.job_id: r.lineage for r in models.list_all(connection, project.id, deleted=True)}
    for job in jobs.list_all(connection, project_id=project.id):
        facts = lineages.get(job.id, {})
        done = job.state == "succeeded" and job.kind == "train" and job.attempt == 1
        if not (done and job.started_at and job.finished_at and "n_exemplars" in facts):
            continue
        size = Size(int(facts["n_exemplars"]), len(facts.get("intents", ())), project.task)
        settings = job.payload["recipe"]
        try:
            recipe = read_recipe(str(settings["kind"]), settings, project.task)
        except InvalidInput:  # an older studio had settings that are gone
            continue
        if not isinstance(recipe, ModelRecipe):
            continue
        began, ended = map(datetime.fromisoformat, (job.started_at, job.finished_at))
        took = (ended - began).total_seconds()
        return min(max(took / _seconds(recipe, size), 0.2), 5.0)
    return 1.0


def _changed_defaults(recipe: Recipe, task: Task) -> str:
    """Say which defaults the project's task changes; "" where there are none."""
    if task == "single-label" or not recipe.multi_label:
        return ""
    defaults = recipe.multi_label.items()
    listed = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in defaults)
    return f"For texts of several intents the usual settings are: {listed}."


def in_words(seconds: float) -> str:
    """Say a time in words, such as `2 minutes`."""
    if seconds < 55:
        return f"{max(5, round(seconds / 5) * 5)} seconds"
    minutes = seconds / 60
    if minutes < 1.5:
        return "a minute"
    if minutes < 90:
        return f"{round(minutes)} minutes"
    return f"{minutes / 60:.1f} hours"
