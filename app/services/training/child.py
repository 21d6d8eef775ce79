"""Shared by all trainings in a child process: progress, curve and checkpoints."""

import logging
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, TypeVar

from app.jobs.context import JobContext, Pace
from core.text import counted

if TYPE_CHECKING:
    from core.training.checkpoints import Checkpoint
    from core.training.events import Event, StepDone

T = TypeVar("T")
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
