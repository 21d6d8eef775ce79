"""Events that a training run yields: steps, measurements, checkpoints."""

from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import TypeVar

from core.training.checkpoints import Checkpoint

_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class StageStarted:
    """A stage of the run, or a part of it, begins.

    Attributes:
        stage: `tuning`, `encoding`, `calibrating` or `deciding`; of conversations `reading`
            and `ranking`, of templates `reading` and `contrasting`.
        part: Which of its parts, from 1.
        parts: How many it has.
    """

    stage: str
    part: int = 1
    parts: int = 1

    @property
    def words(self) -> str:
        """What is being done, for a person."""
        return self.stage if self.parts == 1 else f"{self.stage} {self.part} of {self.parts}"


@dataclass(frozen=True, slots=True)
class StepDone:
    """One optimiser step is done.

    Attributes:
        step: Steps done so far, from 1; in a run those of all its tunings, so it only rises.
        total: Steps of the whole.
        epoch: Epoch of the step within its tuning, from 1.
        loss: Loss of its batch.
    """

    step: int
    total: int
    epoch: int
    loss: float


@dataclass(frozen=True, slots=True)
class EpochScored:
    """Texts held out of the tuning were answered, before it (epoch 0) or after an epoch.

    Attributes:
        step: Steps done so far, as in `StepDone`.
        total: Steps of the whole.
        epoch: The epoch that has ended, within its tuning.
        accuracy: Share of right answers, in [0, 1].
    """

    step: int
    total: int
    epoch: int
    accuracy: float


@dataclass(frozen=True, slots=True)
class CheckpointReady:
    """The run can be resumed from here once the checkpoint is stored."""

    checkpoint: Checkpoint = field(repr=False)


Event = StageStarted | StepDone | EpochScored | CheckpointReady


def drain(run: Generator[Event, None, _Result], watch: Callable[[Event], None]) -> _Result:
    """Run to the end, calling `watch` with each event; return the result of the run."""
    while True:
        try:
            watch(next(run))
        except StopIteration as end:
            result: _Result = end.value
            return result
