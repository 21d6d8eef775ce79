"""What every training in a child process does: run, tell, keep checkpoints, load its base."""

import tempfile
from pathlib import Path
from typing import Any

from app.jobs.context import JobContext
from app.services.answering.stored import find_model
from storage.artifacts import ArtifactStore
from storage.database import Transaction

_LOADED, _TRAINED = 0.04, 0.95


def drive(context: JobContext, run: Any) -> Any:
    """Take a run's events as they come: tell progress, keep checkpoints; return its result."""
    from core.training.checkpoints import keep_checkpoint
    from core.training.events import CheckpointReady, EpochScored, StageStarted, StepDone

    stage, share = StageStarted("encoding"), _LOADED
    while True:
        try:
            event = next(run)
        except StopIteration as end:
            context.keep_curve()
            return end.value
        match event:
            case StageStarted():
                stage = event
                if share == _LOADED:  # the first step of a long log is far away
                    context.report(share, stage.words)
            case StepDone():
                share = _LOADED + (_TRAINED - _LOADED) * event.step / event.total
                words = f"{stage.words}, epoch {event.epoch}, loss {event.loss:.3f}"
                context.draw(f"loss while {stage.words}", event.step, event.loss)
                context.report(share, words)
            case EpochScored():
                context.draw(f"accuracy while {stage.words}", event.step, event.accuracy)
            case CheckpointReady():
                context.keep_curve()  # first: whoever goes on from here does not draw it again
                keep_checkpoint(context.places.checkpoints(context.job.id), event.checkpoint)


def latest_checkpoint_of(context: JobContext) -> Any:
    """Where an earlier attempt of the job left off, or None."""
    from core.training.checkpoints import latest_checkpoint

    return latest_checkpoint(context.places.checkpoints(context.job.id))


def load_base(context: JobContext, base: str) -> Any:
    """Load `bundled`, a folder, a hub id, or the encoder of a model version `PROJECT@N`."""
    from core.encoders.loading import load_encoder, load_folder

    if not _is_version(base):
        return load_encoder(base)
    store = ArtifactStore(context.places.artifacts)
    with tempfile.TemporaryDirectory(prefix="base-") as scratch:
        with context.database.read() as connection:
            _, record = find_model(connection, base)
            store.check_out(connection, record.tree_sha256, Path(scratch))
        return load_folder(Path(scratch) / "encoder")


def _is_version(base: str) -> bool:
    return "@" in base and not Path(base).exists()


def require_base(connection: Transaction, base: str) -> None:
    """Refuse a model version that is not there before anything is queued."""
    if _is_version(base):
        find_model(connection, base)


def absolute(base: str) -> str:
    """A folder is found by the child too, wherever that runs."""
    path = Path(base).expanduser()
    return str(path.absolute()) if path.is_dir() else base
