"""Events that a training run yields: steps, measurements, checkpoints."""

from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import TypeVar

from core.training.checkpoints import Checkpoint

_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class StageStarted:
    """A stage of the run, or part `part` (from 1) of `parts` of it, begins.

    Stages are `tuning`, `encoding`, `calibrating`, `deciding` and `checking`; with unlabelled texts
    also `labelling`, `recalibrating` and `retuning`, the second round; for conversations
    `reading` and `ranking`; for templates `reading` and `contrasting`; for names `naming`.
    """

    stage: str
    part: int = 1
    parts: int = 1

    @property
    def part_of(self) -> str:
        """Which part it is, such as " 2 of 5"; "" where there is one alone."""
        return "" if self.parts == 1 else f" {self.part} of {self.parts}"

    @property
    def words(self) -> str:
        """The stage and its part, as the names of curves have them."""
        return self.stage + self.part_of


@dataclass(frozen=True, slots=True)
class StepDone:
    """A step, counted from 1 over all tunings of a run.

    `epoch` counts from 1 in its tuning.
    """

    step: int
    total: int
    epoch: int
    loss: float


@dataclass(frozen=True, slots=True)
class EpochScored:
    """Accuracy, in [0, 1], on texts held out of a tuning: before it (epoch 0) or after an epoch.

    `n` is the number of these texts.
    """

    step: int
    total: int
    epoch: int
    accuracy: float
    n: int = 0


@dataclass(frozen=True, slots=True)
class CheckpointReady:
    """The run can be resumed from here once the checkpoint is stored."""

    checkpoint: Checkpoint = field(repr=False)


@dataclass(frozen=True, slots=True)
class StageBegunAnew:
    """A resumed run finds other rows than the checkpoints of a stage, which it learns anew.

    `stage` is its name in checkpoints.
    """

    stage: str


Event = StageStarted | StepDone | EpochScored | CheckpointReady | StageBegunAnew


def drain(run: Generator[Event, None, _Result], watch: Callable[[Event], None]) -> _Result:
    """Run to the end, call `watch` with each event, and return the run's result."""
    while True:
        try:
            watch(next(run))
        except StopIteration as end:
            result: _Result = end.value
            return result
