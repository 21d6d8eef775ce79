"""Describe a training and estimate its time, before it starts."""

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
"""Time to load torch and the encoder, and to encode and evaluate."""
_ROW_SECONDS = 0.0061
"""Time of one utterance in one epoch of tuning, on two cores."""
_VIEWS = 4
"""Embeddings for one utterance in an epoch on templates: of it and its template, twice each."""
_ENCODE_SECONDS = 0.003
_FIFTHS = 5


@dataclass(frozen=True, slots=True)
class Size:
    """Number of exemplars, and of the intents in their labels."""

    rows: int
    intents: int
    task: Task = "single-label"


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a training would do, in words, and how many seconds it would take.

    `defaults` names the defaults that the project's task changes; "" if there are none.
    """

    seconds: float
    sentence: str
    defaults: str = ""


def estimate(studio: Studio, project: str, recipe: str, settings: dict[str, object]) -> Estimate:
    """Describe a training and estimate its time from earlier ones; InvalidInput if impossible."""
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


def require_labels(connection: Transaction, project: ProjectRecord) -> None:
    """Raise InvalidInput unless two intents have labels outside the test split."""
    _, intents = utterances.taught(connection, project.id, project.task)
    if intents < 2:
        raise InvalidInput(
            f"'{project.name}' has training labels of {counted(intents, 'intent')}; "
            "training needs two.",
            "Import a labelled file, or label a few utterances of another intent.",
        )


def _estimate_model(
    connection: Transaction, project: ProjectRecord, recipe: AnyModelRecipe
) -> Estimate:
    require_labels(connection, project)
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
    """Describe the data of a training on conversations, and estimate its seconds."""
    require_logs(connection, project)
    totals = conversation_logs.totals(connection, project.id)
    seconds = recipe.pair_seconds * totals.pairs * recipe.epochs
    if recipe.minutes is not None:
        seconds = min(seconds, 60 * recipe.minutes)
    return f"{totals.pairs:,} turns in {counted(totals.dialogues, 'conversation')}", seconds


def _templates_work(
    connection: Transaction, project: ProjectRecord, recipe: TemplatesRecipe
) -> tuple[str, float]:
    """Describe the data of a training on templates, and give an upper bound of its seconds."""
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


def share_after_steps(recipe: AnyModelRecipe, size: Size, n_tests: int) -> float:
    """Return the time of encoding and judging after a training's steps over that of its steps.

    Examples are encoded once, texts of the test split by the base and by the result.
    """
    if isinstance(recipe, InstantRecipe) or not size.rows:
        return 0.0
    encoded = _ENCODE_SECONDS * (size.rows + 2 * n_tests)
    return encoded / (_ROW_SECONDS * _rows_tuned(recipe, size))


def _rows_tuned(recipe: TunedRecipe | LabelEncoderRecipe, size: Size) -> float:
    """Count rows through the encoder: those of the model, then those for its thresholds.

    As in `held_out_parts`: each of k folds is scored by a whole tuning on the others, which
    together take k - 1 times the model's own. Without folds, a fifth is scored by a tuning with
    half the epochs.
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
        names = rows - size.rows  # names are in every part
        return epochs * (rows + (folds - 1) * size.rows + folds * names)
    held_out = size.rows / _FIFTHS
    return rows * epochs + (rows - held_out) * max(1, epochs // 2)


def _rows_with_names(recipe: LabelEncoderRecipe, size: Size) -> int:
    """Count the rows of an epoch: each batch adds names of its intents and other, drawn names."""
    if recipe.variant == "heterogeneous":  # word vectors take almost no time
        return size.rows
    batches = math.ceil(size.rows / recipe.batch_size)
    return size.rows + batches * min(size.intents, recipe.batch_size + recipe.negatives)


def _factor(connection: Transaction, project: ProjectRecord) -> float:
    """Return the newest training's time over its estimate, within 0.2 to 5; 1 if there is none."""
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
        except InvalidInput:  # settings of an older studio that no longer exist
            continue
        if not isinstance(recipe, ModelRecipe):
            continue
        began, ended = map(datetime.fromisoformat, (job.started_at, job.finished_at))
        took = (ended - began).total_seconds()
        return min(max(took / _seconds(recipe, size), 0.2), 5.0)
    return 1.0


def _changed_defaults(recipe: Recipe, task: Task) -> str:
    if task == "single-label" or not recipe.multi_label:
        return ""
    defaults = recipe.multi_label.items()
    listed = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in defaults)
    return f"For texts of several intents the usual settings are: {listed}."


def in_words(seconds: float) -> str:
    """Write a time in words, such as `2 minutes`."""
    if seconds < 55:
        return f"{max(5, round(seconds / 5) * 5)} seconds"
    minutes = seconds / 60
    if minutes < 1.5:
        return "a minute"
    if minutes < 90:
        return f"{round(minutes)} minutes"
    return f"{minutes / 60:.1f} hours"
