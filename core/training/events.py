"""What a training run tells while it goes on."""

from dataclasses import dataclass, field

from core.training.checkpoints import Checkpoint


@dataclass(frozen=True, slots=True)
class StageStarted:
    """A stage of the run begins: `tuning`, `encoding`, `calibrating`, `deciding`."""

    stage: str


@dataclass(frozen=True, slots=True)
class StepDone:
    """One optimiser step is done.

    Attributes:
        step: Steps done so far, from 1.
        total: Steps of this stage.
        epoch: Epoch of the step, from 1.
        loss: Loss of its batch.
    """

    step: int
    total: int
    epoch: int
    loss: float


@dataclass(frozen=True, slots=True)
class CheckpointReady:
    """The run can be resumed from here once somebody keeps the checkpoint."""

    checkpoint: Checkpoint = field(repr=False)


Event = StageStarted | StepDone | CheckpointReady
