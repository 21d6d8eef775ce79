"""Shared by all trainings in a child process: base encoder, progress, curve and checkpoints."""

import logging
from collections.abc import Generator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from app.jobs.context import JobContext, Pace
from app.services.answering.ancestry import ancestors
from app.services.answering.opened import laid_out
from app.services.answering.stored import checked_out, find_model
from app.services.live.live_model import exemplar_of
from app.services.studio import Studio
from app.services.training.frozen import frozen_state
from core.encoders.base import Encoder
from core.errors import ArtifactDamaged, NotFound
from core.files import named_folder
from core.pipeline import hashes_of
from core.recipes.labels import LEARN_FROM_LABELS
from core.text import counted
from storage import jobs, models, projects
from storage.database import Transaction
from storage.log import versions
from storage.records import ModelVersionRecord, ProjectRecord

if TYPE_CHECKING:
    from core.training.checkpoints import Checkpoint
    from core.training.events import Event, StepDone

T = TypeVar("T")
BUNDLED = "bundled"
_LOG = logging.getLogger("app.jobs")
_LOADED, _TRAINED = 0.04, 0.95
_ANEW = "begins anew, because its texts have changed since the last attempt"
_PLAIN = {
    "encoding": "reading your texts",
    "reading": "reading your texts",
    "tuning": "learning",
    "labelling": "guessing what unlabelled texts mean",
    "retuning": "learning, second round",
    "recalibrating": "checking how sure it may be, second round",
    "naming": "learning the intents' names",
    "ranking": "learning what follows what",
    "contrasting": "learning what means the same",
    "deciding": "weighing your examples",
    "calibrating": "checking how sure it may be",
    "checking": "checking how sure it may be",
    "judging": "answering the test texts",
}


@dataclass(frozen=True, slots=True)
class Span:
    """Shares of a job, in [0, 1], at which one of its stages begins and ends."""

    first: float
    last: float


def spans_of(seconds: Mapping[str, float], whole: Span) -> dict[str, Span]:
    """Divide a span among stages that follow each other, by their estimated seconds."""
    ends = list(accumulate(seconds.values(), initial=0.0))
    room = (whole.last - whole.first) / max(ends[-1], 1e-9)
    places = [whole.first + room * end for end in ends]
    return {stage: Span(*pair) for stage, pair in zip(seconds, pairwise(places), strict=True)}


@dataclass(slots=True)
class TrainingProgress:
    """What a training does now and which share of it is done; reports both.

    Attributes:
        part_of: Which part of the stage it is, such as " 2 of 5"; "" for the whole.
        spans: Stages whose length was estimated; within them the share rises with their work.
        after: Time of the work after the last step, as a share of the time of all steps.
        in_all: Whether the spans are the whole training, so that the time left can be told.
    """

    context: JobContext
    spans: Mapping[str, Span] = field(default_factory=dict)
    after: float = 0.0
    in_all: bool = False
    share: float = _LOADED
    stage: str = ""
    part_of: str = ""
    pace: Pace = field(default_factory=Pace)

    @property
    def words(self) -> str:
        """The stage in words for the user."""
        return _PLAIN.get(self.stage, self.stage) + self.part_of

    @property
    def of_curve(self) -> str:
        """The stage as the names of curves have it."""
        return self.stage + self.part_of

    def begin(self, stage: str, part_of: str = "") -> None:
        """Report that a stage begins, at once: it may take long before it reports again."""
        self.stage, self.part_of = stage, part_of
        self.share = max(self.share, self.spans[stage].first) if stage in self.spans else self.share
        self.context.report(self.share, self.words, self.pace.still_left(), at_once=True)

    def part(self, done: float) -> None:
        """Report that a share of the stage is done."""
        self._rise(done, self.words)

    def texts(self, done: int, total: int) -> None:
        """Report how many texts the stage has embedded."""
        self._rise(done / max(1, total), f"{self.words}, {done:,} of {counted(total, 'text')}")

    def step(self, done: "StepDone") -> None:
        """Report a step."""
        self.share = _LOADED + (_TRAINED - _LOADED) * done.step / done.total
        left = self.pace.left(done.step, done.total * (1 + self.after))
        part = f"step {done.step:,} of {done.total:,}"  # of the whole training, as the share is
        self.context.draw(f"loss while {self.of_curve}", done.step, done.loss)
        self.context.report(self.share, f"{self.words}, {part}", left)

    def _rise(self, done: float, words: str) -> None:
        span = self.spans.get(self.stage)
        if span is not None:
            self.share = max(self.share, span.first + (span.last - span.first) * done)
        left = self.pace.left(self.share, 1.0) if self.in_all else self.pace.still_left()
        self.context.report(self.share, words, left)


def drive(progress: TrainingProgress, run: Generator["Event", None, T]) -> T:
    """Run a training, report its progress and store its checkpoints; return its result."""
    from core.training.checkpoints import forget_stage, keep_checkpoint
    from core.training.events import (
        CheckpointReady,
        EpochScored,
        StageBegunAnew,
        StageStarted,
        StepDone,
        drain,
    )

    context = progress.context
    checkpoints = context.places.checkpoints(context.job.id)

    def watch(event: "Event") -> None:
        match event:
            case StageStarted():
                progress.begin(event.stage, event.part_of)
            case StepDone():
                progress.step(event)
            case EpochScored():
                name = f"accuracy while {progress.of_curve}"
                context.draw(name, event.step, event.accuracy, event.n)
            case CheckpointReady():
                # before the checkpoint, so that a resumed attempt does not draw these points again
                context.keep_curve()
                keep_checkpoint(checkpoints, event.checkpoint)
            case StageBegunAnew():
                forget_stage(checkpoints, event.stage)
                _LOG.warning("%s: %s", progress.words, _ANEW)

    result = drain(run, watch)
    context.keep_curve()
    return result


def latest_checkpoint_of(context: JobContext) -> "Checkpoint | None":
    """Return the last checkpoint of an earlier attempt, or None."""
    from core.training.checkpoints import latest_checkpoint

    return latest_checkpoint(context.places.checkpoints(context.job.id))


def load_base(studio: Studio, base: str) -> Encoder:
    """Load `bundled`, a folder, a hub id, or the encoder of a model version `PROJECT@N`."""
    from core.encoders.loading import load_encoder, load_folder

    if not _is_version(base):
        return load_encoder(base)
    with checked_out(studio, base) as (folder, _):
        return load_folder(folder / "encoder", bases=studio.bases)


def learned_by(studio: Studio, base: str) -> frozenset[str]:
    """Return the hashes of the texts that trainings on labels have taught a base; often none.

    Raises:
        NotFound: There is no such version.
    """
    if not _is_version(base):
        return frozenset()
    with studio.database.read() as connection:
        record = find_model(connection, base)[1]
        line = (record, *(parent for parent, _ in ancestors(connection, record)))
    return frozenset[str]().union(*(_taught(studio, one) for one in line))


def _taught(studio: Studio, version: ModelVersionRecord) -> frozenset[str]:
    """Return the hashes of the texts that the encoder of a version has learned from labels.

    One whose files are gone has learned the examples of its data.
    """
    from core.bundle.layout import LABEL_FILES, learned_in

    is_tuned = version.lineage.get("recipe", {}).get("kind") in LEARN_FROM_LABELS
    with studio.database.read() as connection:
        project = projects.get(connection, version.project_id)
    if version.kind == "intents" and version.tree_sha256:
        files = laid_out(studio, version.tree_sha256, LABEL_FILES)
        with suppress(ArtifactDamaged), files as folder:
            return learned_in(folder, with_examples=is_tuned)
    if not is_tuned or version.dataset_version_id is None:
        return frozenset()
    with studio.database.read() as connection:
        data = versions.get(connection, version.dataset_version_id)
        rows = frozen_state(connection, project.id, data).utterance_records()
    return hashes_of(row.text for row in rows if exemplar_of(row, project.task))


def _is_version(base: str) -> bool:
    return "@" in base and named_folder(base) is None


def base_name(base: str) -> str:
    """Return what a base is called: of a folder the last part, a hub id with its owner."""
    folder = named_folder(base)
    return base if folder is None else folder.name


def live_base(connection: Transaction, project: ProjectRecord) -> tuple[str, str]:
    """Return the base of the live version's training, if it can be used again, and its words."""
    live = models.champion(connection, project.id)
    if live is None or live.job_id is None:
        return BUNDLED, ""
    base = str(jobs.get(connection, live.job_id).payload.get("base", BUNDLED))
    is_folder = base.startswith("/")
    try:
        settled_base(connection, base)
    except NotFound:  # the version that it started from was deleted
        return BUNDLED, ""
    if base == BUNDLED or (is_folder and not Path(base).is_dir()):
        return BUNDLED, ""
    return base, f"{base_name(base)}, as version {live.number}"


def settled_base(connection: Transaction, base: str) -> str:
    """Return what a training starts from for good: a version by its number, a folder's whole path.

    `PROJECT@champion` would be another version after a promotion, also for a training that goes on.

    Raises:
        NotFound: There is no such version.
    """
    if _is_version(base):
        project, version = find_model(connection, base)
        return f"{project.name}@{version.number}"
    folder = named_folder(base)
    return base if folder is None else str(folder.absolute())
