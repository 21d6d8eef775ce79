"""Shared by all trainings in a child process: base encoder, progress, curve and checkpoints."""

from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from app.jobs.context import JobContext, Pace
from app.services.answering.stored import checked_out, find_model
from app.services.studio import Studio
from core.encoders.base import Encoder
from storage.database import Transaction

if TYPE_CHECKING:
    from core.training.checkpoints import Checkpoint
    from core.training.events import Event

T = TypeVar("T")
_LOADED, _TRAINED = 0.04, 0.95


def drive(context: JobContext, run: Generator["Event", None, T], after: float = 0.0) -> T:
    """Run a training, report its progress and store its checkpoints; return its result.

    `after` is the time of the work after the last step, as a share of the time of all steps.
    """
    from core.training.checkpoints import keep_checkpoint
    from core.training.events import CheckpointReady, EpochScored, StageStarted, StepDone, drain

    stage, share, pace = StageStarted("encoding"), _LOADED, Pace()

    def watch(event: "Event") -> None:
        nonlocal stage, share
        match event:
            case StageStarted():
                stage = event
                context.report(share, stage.words)
            case StepDone():
                share = _LOADED + (_TRAINED - _LOADED) * event.step / event.total
                words = f"{stage.words}, epoch {event.epoch}, loss {event.loss:.3f}"
                context.draw(f"loss while {stage.words}", event.step, event.loss)
                context.report(share, words, pace.left(event.step, event.total * (1 + after)))
            case EpochScored():
                context.draw(f"accuracy while {stage.words}", event.step, event.accuracy, event.n)
            case CheckpointReady():
                # before the checkpoint, so that a resumed attempt does not draw these points again
                context.keep_curve()
                keep_checkpoint(context.places.checkpoints(context.job.id), event.checkpoint)

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
        return load_folder(folder / "encoder")


def _is_version(base: str) -> bool:
    return "@" in base and not Path(base).exists()


def require_base(connection: Transaction, base: str) -> None:
    """Refuse an unknown model version before anything is queued."""
    if _is_version(base):
        find_model(connection, base)


def absolute(base: str) -> str:
    """Make a folder's path absolute, so that the child finds it from any directory."""
    path = Path(base).expanduser()
    return str(path.absolute()) if path.is_dir() else base
