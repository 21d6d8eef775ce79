"""The training loop: rows and labels in, events out; the encoder changes in place."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from core.encoders.base import Tuning
from core.recipes.base import Tuned
from core.recipes.labels import TunedRecipe, chosen_epochs
from core.training.batches import epoch_batches, even_batches
from core.training.checkpoints import Checkpoint
from core.training.devices import repeatable, share_of_process
from core.training.events import CheckpointReady, EpochScored, StageBegunAnew, StepDone
from core.training.objectives import build_objective
from core.training.optimiser import Optimiser, build_optimiser, require_finite
from core.training.passes import BatchPass, open_pass
from core.training.schedule import linear_rate
from core.training.unseen import Watch, Watcher
from core.types import ScoreArray, Task

Plan = list[tuple[int, NDArray[np.int64]]]
"""The epoch (from 1) and the rows of every batch."""

Labels = Sequence[int] | ScoreArray
"""Intent number of each row, or for multi-label a multi-hot matrix."""

FitEvent = StepDone | EpochScored | CheckpointReady | StageBegunAnew


@dataclass(frozen=True, slots=True)
class FitOptions:
    """Name of the stage in checkpoints, where to resume, and texts to answer after each epoch.

    `checkpoint_every` 0 makes no checkpoints. `watch` does not change the tuned weights. `rows` is
    the digest of what is learned: a checkpoint that learned from other rows is not gone on from.
    """

    stage: str = "tuning"
    resume: Checkpoint | None = None
    checkpoint_every: int = 0
    watch: Watch | None = None
    rows: str = ""

    @property
    def earlier(self) -> Checkpoint | None:
        """The stage's own checkpoint, whatever it learned from."""
        is_own = self.resume is not None and self.resume.stage == self.stage
        return self.resume if is_own else None


class Criterion(Protocol):
    """The loss of a batch, with the weights that belong to it."""

    @property
    def weights(self) -> nn.ParameterDict:
        """Weights that are learned besides the encoder."""
        ...

    def __call__(self, embeddings: Tensor, labels: Tensor) -> Tensor:
        """Return the loss of embeddings (B, d) with labels, one for each row; a scalar."""
        ...


@dataclass(frozen=True, slots=True)
class Course:
    """All steps of a tuning; `rates` are learning-rate factors by prefix of a weight's name."""

    plan: Plan
    targets: Tensor
    objective: Criterion
    rates: Mapping[str, float] = field(default_factory=dict)


def fit(
    tuning: Tuning, labels: Labels, recipe: TunedRecipe, options: FitOptions
) -> Iterator[FitEvent]:
    """Tune an encoder by AdamW on batches of pairs (ConvFiT Section 3); see `follow`."""
    targets = _as_tensor(labels).to(tuning.device)
    untuned = _untuned(tuning, len(labels))
    with repeatable(tuning.device):  # a GPU sums the prototypes' rows in no fixed order otherwise
        objective = build_objective(recipe, untuned, targets)
    course = Course(plan_batches(labels, recipe), targets, objective)
    yield from follow(tuning, course, recipe, options, untuned)


def follow(
    tuning: Tuning,
    course: Course,
    recipe: Tuned,
    options: FitOptions,
    untuned: Tensor | None = None,
) -> Iterator[FitEvent]:
    """Take the steps of a course by AdamW, until its end or until the caller stops iterating.

    Equal seeds on one machine give equal weights, resumed or not. torch's global random state is
    set, since dropout draws from it. Processes joined by `torch.distributed` take each step
    together and yield the same events. A loss that is no number raises RunFailed. `untuned` has
    the embeddings of all rows before tuning, (rows, d); accuracy on watched texts needs it.
    """
    share, plan = share_of_process(), course.plan
    parameters = [*tuning.trainable(), *course.objective.weights.named_parameters("objective")]
    optimiser = build_optimiser(parameters, recipe, tuning.device, course.rates)
    torch.manual_seed(recipe.seed)
    done, earlier = 0, options.earlier
    # Checkpoints of an earlier release do not say which rows they have read.
    if earlier is not None and earlier.rows in ("", options.rows):
        optimiser.restore(earlier.tensors)
        done = earlier.step
    elif earlier is not None:
        yield StageBegunAnew(options.stage)
    tuning.train()
    watcher = None
    if options.watch is not None and untuned is not None:
        watcher = Watcher(tuning, options.watch, untuned)
    yield from _scored(watcher, plan, 0, resumed=done > 0)
    with open_pass(tuning, share) as take:
        for step in range(done, len(plan)):
            epoch, rows = plan[step]
            optimiser.set_rate(linear_rate(step + 1, len(plan) + 1, recipe.warmup))
            share.seed_step(recipe.seed, step)
            loss, embedded = _step(take, course, optimiser, rows)
            require_finite(loss)
            yield StepDone(step + 1, len(plan), epoch, loss)
            if watcher is not None:
                watcher.note(rows, embedded)
                yield from _scored(watcher, plan, step + 1)
            if options.checkpoint_every and _is_due(step + 1, len(plan), options.checkpoint_every):
                yield CheckpointReady(_checkpoint(step + 1, optimiser, recipe, options))
    tuning.eval()


def _checkpoint(step: int, optimiser: Optimiser, recipe: Tuned, options: FitOptions) -> Checkpoint:
    return Checkpoint(
        options.stage, step, optimiser.state(), rows=options.rows, precision=recipe.precision
    )


def _scored(
    watcher: Watcher | None, plan: Plan, done: int, *, resumed: bool = False
) -> Iterator[EpochScored]:
    """Score the epoch that ends after `done` steps, if one does."""
    epoch = plan[done - 1][0] if done else 0
    if watcher is None or (done < len(plan) and plan[done][0] == epoch):
        return
    accuracy = None if resumed else watcher.accuracy()
    watcher.begin_epoch()
    if accuracy is not None:
        yield EpochScored(done, len(plan), epoch, accuracy, len(watcher.watch.exemplars))


def _is_due(step: int, total: int, every: int) -> bool:
    """Whether to checkpoint; always at the last step, so that later stages can be repeated."""
    return step % every == 0 or step == total


def _as_tensor(labels: Labels) -> Tensor:
    """Return intent numbers unchanged, and multi-hot rows in float32, the encoder's precision."""
    if isinstance(labels, np.ndarray):
        return torch.from_numpy(labels.astype(np.float32))
    return torch.tensor(labels)


def plan_batches(labels: Labels, recipe: TunedRecipe) -> Plan:
    """Return the epoch (from 1) and rows of every batch of the run."""
    plan: Plan = []
    task: Task = "multi-label" if isinstance(labels, np.ndarray) else "single-label"
    for epoch in range(1, chosen_epochs(len(labels), recipe, task) + 1):
        generator = np.random.default_rng([recipe.seed, epoch])
        if isinstance(labels, np.ndarray):
            batches = even_batches(len(labels), recipe.batch_size, generator)
        else:
            batches = epoch_batches(
                labels, recipe.intents_per_batch, recipe.utterances_per_intent, generator
            )
        plan += [(epoch, rows) for rows in batches]
    return plan


def _step(
    take: BatchPass, course: Course, optimiser: Optimiser, rows: NDArray[np.int64]
) -> tuple[float, Tensor]:
    """Take one step on a batch; return its loss and its embeddings (b, d)."""
    batch = torch.from_numpy(rows).to(course.targets.device)
    optimiser.algorithm.zero_grad(set_to_none=True)
    targets = course.targets[batch]
    loss, embedded = take(batch, lambda embeddings: course.objective(embeddings, targets))
    optimiser.step(optimiser.weights())
    return float(loss), embedded


@torch.no_grad()
def _untuned(tuning: Tuning, n_rows: int) -> Tensor:
    tuning.eval()
    rows = torch.arange(n_rows, device=tuning.device)
    with repeatable(tuning.device):
        return torch.cat([tuning(part) for part in rows.split(256)])
