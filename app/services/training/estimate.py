"""Describe a training and estimate its time, before it starts."""

import math
from dataclasses import dataclass
from datetime import datetime

from app.services.conversations.reading import require_logs
from app.services.studio import Studio
from app.services.training.cores import count_usable
from app.services.training.marked_utterances import require_slots
from core.errors import InvalidInput
from core.processor import lists_bfloat16, waiting_work
from core.recipes.base import Recipe, Tuned
from core.recipes.conversations import ConvertRecipe, DialoguesRecipe
from core.recipes.heads import VotesConfig
from core.recipes.labels import (
    AnyModelRecipe,
    InstantRecipe,
    LabelEncoderRecipe,
    ModelRecipe,
    TunedRecipe,
    chosen_epochs,
    second_epochs,
)
from core.recipes.read import AnyRecipe, read_recipe
from core.recipes.templates import TemplatesRecipe
from core.text import counted
from core.types import Task
from storage import conversation_logs, jobs, models, projects
from storage.database import Transaction
from storage.queries import slots, utterances
from storage.records import JobRecord, ProjectRecord

START_SECONDS = 8.0
"""Time to load torch and the encoder, and to encode and evaluate."""
_ROW_SECONDS, _QUICK_ROW_SECONDS = 0.0061, 0.0025
"""Time of one utterance in one epoch of tuning, on two cores; the same in bfloat16."""
_VIEWS = 4
"""Embeddings for one utterance in an epoch on templates: of it and its template, twice each."""
_ENCODE_SECONDS = 0.003
_ALL_VOTE_SECONDS = 8.0
"""Time to fit votes of 10,000 exemplars; it grows with the cube of their number."""
_SUBSET_ROW_SECONDS = 0.001
"""Time of one exemplar where a subset of 5,000 votes."""
_STORE_SECONDS = 3.5
"""Time to fit the votes, to compare with the live version and to store the result."""
_FIFTHS = 5
_MEASURED = "going by the last one on this computer"
_UNMEASURED = "longer while other programs run"
_BUSY, _MOST_BUSY = 1.0, 10.0
"""Other programs on each processor from which a training takes twice as long; and the most that is
told."""
_LATE, _LATE_SECONDS = 1.25, 30.0
"""A training is late by a quarter of the time that was told, and by so many seconds."""


@dataclass(frozen=True, slots=True)
class Size:
    """Number of exemplars, of the intents in their labels, and of unlabelled texts."""

    rows: int
    intents: int
    task: Task = "single-label"
    unlabelled: int = 0

    def learnable(self, recipe: Recipe) -> int:
        """Return how many of the unlabelled texts a recipe would learn from."""
        if not isinstance(recipe, TunedRecipe):
            return 0
        return recipe.learnable(self.unlabelled, self.rows, self.task)


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a training would do, in words, and how many seconds it would take.

    Attributes:
        defaults: The defaults that the project's task changes; "" if there are none.
        learns_from: The data it learns from, such as "640 examples of 64 intents".
        time: The seconds in words, and whether they rest on such a training on this computer.
    """

    seconds: float
    sentence: str
    defaults: str = ""
    learns_from: str = ""
    time: str = ""


def estimate(studio: Studio, project: str, recipe: str, settings: dict[str, object]) -> Estimate:
    """Describe a training and estimate its time from earlier ones; InvalidInput if impossible."""
    with studio.database.read() as connection:
        record = projects.find(connection, project)
        return estimate_of(connection, record, read_recipe(recipe, settings, record.task))


def estimate_of(
    connection: Transaction, project: ProjectRecord, recipe: AnyRecipe, size: Size | None = None
) -> Estimate:
    """Describe a training by a recipe; InvalidInput if the project lacks the data.

    `size` is what a training would learn from now, where that was counted.
    """
    if isinstance(recipe, ModelRecipe):
        return _estimate_model(connection, project, recipe, size)
    if isinstance(recipe, TemplatesRecipe):
        what, seconds = _templates_work(connection, project, recipe)
    else:
        what, seconds = _ranking_work(connection, project, recipe)
    seconds += START_SECONDS
    time = _time_words(seconds, _UNMEASURED)
    sentence = (
        f"{recipe.describe_work(what)}; {time}. "
        "It makes a start for other trainings: it answers nothing by itself, and what is live "
        "stays."
    )
    return Estimate(seconds, sentence, "", what, time)


def require_labels(connection: Transaction, project: ProjectRecord) -> None:
    """Raise InvalidInput unless two intents and two texts have labels outside the test split."""
    texts, intents = utterances.taught(connection, project.id, project.task)
    if intents < 2:
        raise InvalidInput(
            f"'{project.name}' has training labels of {counted(intents, 'intent')}; "
            "training needs two.",
            "Import a labelled file, or label a few texts of another intent.",
        )
    if texts < 2:  # one text with both intents: nothing could be judged without it
        raise InvalidInput(
            f"'{project.name}' has 1 labelled text to train on; training needs two.",
            "Label another text.",
        )


def _estimate_model(
    connection: Transaction, project: ProjectRecord, recipe: AnyModelRecipe, size: Size | None
) -> Estimate:
    require_labels(connection, project)
    size = size or size_now(connection, project)
    found = _factor(connection, recipe)
    factor, is_same = found or (1.0, False)
    seconds = usual_seconds(recipe, size) * factor
    what = f"{counted(size.rows, 'example')} of {counted(size.intents, 'intent')}"
    if pool := size.learnable(recipe):
        what += f" and {counted(pool, 'unlabelled text')}"
    basis = _MEASURED if is_same else "" if found else _UNMEASURED
    time = _time_words(seconds, basis)
    sentence = f"{recipe.describe_work(what)}; {time}. Your labels stay as they are."
    return Estimate(seconds, sentence, _changed_defaults(recipe, project.task), what, time)


def size_now(connection: Transaction, project: ProjectRecord) -> Size:
    """Return what a training would learn from now.

    Unlabelled texts are those that differ from examples, from test texts and from each other.
    """
    examples, intents = utterances.taught(connection, project.id, project.task)
    return Size(examples, intents, project.task, count_usable(connection, project))


def _ranking_work(
    connection: Transaction, project: ProjectRecord, recipe: DialoguesRecipe | ConvertRecipe
) -> tuple[str, float]:
    """Describe the data of a training on conversations, and estimate its seconds."""
    require_logs(connection, project)
    totals = conversation_logs.totals(connection, project.id)
    seconds = recipe.pair_seconds * totals.pairs * recipe.epochs
    if recipe.minutes is not None:
        seconds = min(seconds, 60 * recipe.minutes)
    told = f"{counted(totals.pairs, 'turn')} in {counted(totals.dialogues, 'conversation')}"
    return told, seconds


def _templates_work(
    connection: Transaction, project: ProjectRecord, recipe: TemplatesRecipe
) -> tuple[str, float]:
    """Describe the data of a training on templates, and give an upper bound of its seconds."""
    require_slots(connection, project)
    total, n_marked = slots.count_marked(connection, project.id)
    added = min(recipe.augmented, recipe.per_template * n_marked) if recipe.augment else 0
    rows = min(total + added, recipe.tuned_on or math.inf)
    seconds = _VIEWS * _row_seconds(recipe) * rows * recipe.epochs
    return f"{counted(n_marked, 'text')} with marked values", seconds


def usual_seconds(recipe: AnyModelRecipe, size: Size) -> float:
    """Return the seconds of a training on the machine that this module's constants are of."""
    if isinstance(recipe, InstantRecipe):
        return START_SECONDS + sum(instant_seconds(recipe, size).values())
    # Texts that are tuned on take many times as long as their encoding; the others do not.
    most = size.rows if isinstance(recipe, LabelEncoderRecipe) else recipe.tuned_on or size.rows
    encoded = max(0, size.rows - most) + texts_labelled(recipe, size)
    return (
        START_SECONDS + _row_seconds(recipe) * rows_tuned(recipe, size) + _ENCODE_SECONDS * encoded
    )


def instant_seconds(recipe: InstantRecipe, size: Size, n_tests: int = 0) -> dict[str, float]:
    """Estimate the seconds of each stage of fitting votes, in the order of the stages."""
    deciding = _votes_seconds(recipe, size.rows)
    return {
        "encoding": _ENCODE_SECONDS * size.rows,
        "deciding": deciding,
        "checking": deciding if recipe.folds > 1 else 0.0,
        "judging": _ENCODE_SECONDS * n_tests,
    }


def _row_seconds(recipe: Tuned) -> float:
    """Return the time of one utterance in one epoch, in the number format that will be used."""
    is_quick = lists_bfloat16() if recipe.precision == "auto" else recipe.precision == "bfloat16"
    return _QUICK_ROW_SECONDS if is_quick else _ROW_SECONDS


def _votes_seconds(recipe: InstantRecipe, rows: int) -> float:
    """Estimate the seconds of fitting votes: of all exemplars by their cube, of a subset evenly."""
    if not isinstance(recipe.head, VotesConfig):
        return 0.0
    if rows <= recipe.head.max_exemplars:
        return _ALL_VOTE_SECONDS * (rows / 10_000) ** 3
    return _SUBSET_ROW_SECONDS * rows


def share_after_steps(recipe: AnyModelRecipe, size: Size, n_tests: int) -> float:
    """Return the time of encoding, judging and storing after a training's steps over theirs.

    Examples are encoded once, texts of the test split by the base and by the result.
    """
    if isinstance(recipe, InstantRecipe) or not size.rows:
        return 0.0
    after = _STORE_SECONDS + _ENCODE_SECONDS * (size.rows + 2 * n_tests)
    return after / (_row_seconds(recipe) * rows_tuned(recipe, size))


def rows_tuned(recipe: TunedRecipe | LabelEncoderRecipe, size: Size) -> float:
    """Count rows through the encoder: those of the model, then those for its thresholds.

    As in `held_out_parts`: each of k folds is scored by a whole tuning on the others, which
    together take k - 1 times the model's own. Without folds, a fifth is scored by a tuning with
    half the epochs. Each of these is followed by a second round where unlabelled texts are learned
    from, as in `run_rounds`.
    """
    if isinstance(recipe, LabelEncoderRecipe):
        most = size.rows
        names = _rows_with_names(recipe, size) - size.rows
        epochs = chosen_epochs(size.rows, recipe)
    else:
        most = recipe.tuned_on or size.rows
        names = size.intents * recipe.names
        epochs = chosen_epochs(min(size.rows, most) + names, recipe, size.task)
    whole = min(size.rows, most) + names
    model = epochs * whole + _second_rows(recipe, size, epochs, whole)
    if recipe.calibration == "leave-one-out":
        return model
    folds = min(recipe.folds, size.rows)
    if folds > 1:  # names are in every part
        part = min(size.rows * (folds - 1) / folds, most) + names
        return model + folds * (epochs * part + _second_rows(recipe, size, epochs, part))
    part, epochs = min(size.rows - size.rows / _FIFTHS, most) + names, max(1, epochs // 2)
    return model + epochs * part + _second_rows(recipe, size, epochs, part, shares=2)


def _second_rows(
    recipe: TunedRecipe | LabelEncoderRecipe, size: Size, epochs: int, rows: float, shares: int = 1
) -> float:
    """Count the rows of a second round that follows `epochs` over so many rows."""
    pool = size.learnable(recipe)
    return second_epochs(epochs, round(rows + pool), shares) * (rows + pool) if pool else 0.0


def texts_labelled(recipe: TunedRecipe | LabelEncoderRecipe, size: Size) -> int:
    """Count the unlabelled texts that are encoded to be labelled, once before each second round."""
    return size.learnable(recipe) * (1 + min(recipe.folds, max(1, size.rows)))


def _rows_with_names(recipe: LabelEncoderRecipe, size: Size) -> int:
    """Count the rows of an epoch: each batch adds names of its intents and other, drawn names."""
    if recipe.variant == "heterogeneous":  # word vectors take almost no time
        return size.rows
    batches = math.ceil(size.rows / recipe.batch_size)
    return size.rows + batches * min(size.intents, recipe.batch_size + recipe.negatives)


def _factor(connection: Transaction, recipe: AnyModelRecipe) -> tuple[float, bool] | None:
    """Return the time over its estimate of the newest training here of the same kind of work.

    And whether it was one by the same recipe. Within 0.2 to 5; None if there is none. A training
    that was stopped or failed counts by the time it took and had left, with the labels of now.
    Fitting votes alone says nothing of tuning: it is loading for the most part.
    """
    for job in jobs.list_all(connection):
        took = _seconds_taken(job)
        if took is None or job.project_id is None:
            continue
        project, settings = projects.get(connection, job.project_id), job.payload["recipe"]
        try:
            trained = read_recipe(str(settings["kind"]), settings, project.task)
        except InvalidInput:  # settings of an older studio that no longer exist
            continue
        is_alike = isinstance(trained, InstantRecipe) == isinstance(recipe, InstantRecipe)
        size = _size_trained(connection, job, project)
        if is_alike and isinstance(trained, ModelRecipe) and size is not None:
            factor = min(max(took / usual_seconds(trained, size), 0.2), 5.0)
            return factor, type(trained) is type(recipe)
    return None


def _size_trained(connection: Transaction, job: JobRecord, project: ProjectRecord) -> Size | None:
    """Return what a job went through, or would go through now if it made no version.

    Of unlabelled texts that were left out again an earlier release knows nothing.
    """
    if job.state != "succeeded":
        return size_now(connection, project)
    facts = models.lineage_of_job(connection, job.id)
    if "n_exemplars" not in facts:
        return None
    n_intents = len(facts.get("intents", ()))
    n_unlabelled = int(facts.get("n_read", facts.get("n_unlabelled", 0)))
    return Size(int(facts["n_exemplars"]), n_intents, project.task, n_unlabelled)


def _seconds_taken(job: JobRecord) -> float | None:
    """Return the seconds of a training's only attempt, with those left if it did not succeed.

    None if it is under way, was attempted again, or ended before its pace was measured.
    """
    is_measured = job.state == "succeeded" or (job.ended and job.eta_seconds is not None)
    is_one = job.kind == "train" and job.attempt == 1
    if not (is_measured and is_one and job.started_at and job.finished_at):
        return None
    began, ended = map(datetime.fromisoformat, (job.started_at, job.finished_at))
    return (ended - began).total_seconds() + (job.eta_seconds or 0.0)


def _time_words(seconds: float, basis: str) -> str:
    usual, most = in_words(seconds), in_words(busy_factor() * seconds)
    longer = "" if most == usual else f", or up to {most} because other programs are running"
    told = "" if longer and basis == _UNMEASURED else basis  # it would say the same
    return f"about {usual}{longer}{f' ({told})' if told else ''}"


def busy_factor() -> float:
    """Return how many times as long a training may take while other programs want the processor.

    Each processor is shared with them. 1 where they leave half of it, or nothing tells.
    """
    others = waiting_work()
    return min(1.0 + others, _MOST_BUSY) if others >= _BUSY else 1.0


def late_words(job: JobRecord, moment: datetime) -> str:
    """Say how much longer a running training takes than was told when it was started.

    "" while it keeps to that by its measured pace, and of one that goes on after a stop.
    """
    told = float(job.payload.get("told_seconds") or 0.0)
    if job.state != "running" or job.attempt != 1 or not told or not job.started_at:
        return ""
    so_far = (moment - datetime.fromisoformat(job.started_at)).total_seconds()
    in_all = so_far + (job.eta_seconds or 0.0)
    if in_all <= _LATE * told or in_all - told < _LATE_SECONDS:
        return ""
    busy = "; other programs use the processor, too" if busy_factor() > 1.0 else ""
    left = f" and about {in_words(job.eta_seconds)} to go" if job.eta_seconds else ""
    return (
        f"Longer than expected: {in_words(so_far)} so far{left}; {in_words(told)} were told{busy}."
    )


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
