"""The training loop for conversations: pairs in, events out; the towers change in place."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice

import torch
from torch import Tensor, distributed

from core.errors import InvalidInput
from core.formats.dialogues import Pair
from core.recipes.conversations import ConvertRecipe, DialoguesRecipe
from core.training.checkpoints import Checkpoint
from core.training.devices import repeatable, share_of_process
from core.training.events import CheckpointReady, StepDone
from core.training.from_conversations.batches import PairSource, count_pairs, stream_batches
from core.training.from_conversations.gradient_cache import backward
from core.training.from_conversations.towers import Towers
from core.training.optimiser import Optimiser, build_optimiser, require_finite
from core.training.schedule import cosine_rate

STAGE = "ranking"
Recipe = DialoguesRecipe | ConvertRecipe
Seconds = Callable[[], float]


@dataclass(frozen=True, slots=True)
class RankOptions:
    """Where to resume, steps between checkpoints (0 makes none), and the time limit's clock."""

    resume: Checkpoint | None = None
    checkpoint_every: int = 0
    seconds: Seconds = field(default=time.monotonic, repr=False)


def rank(
    towers: Towers, source: PairSource, recipe: Recipe, options: RankOptions
) -> Iterator[StepDone | CheckpointReady]:
    """Train towers to rank the right response first; the caller may stop iterating at any event.

    Learning rate and end follow the steps or the time, whichever is nearer to its limit. Without
    a time limit, equal seeds on one machine give equal weights, resumed or not. Fewer than two
    pairs raise InvalidInput; a loss that is no number raises RunFailed.
    """
    n_pairs = count_pairs(source)
    if n_pairs < 2:
        raise InvalidInput(
            f"Training on conversations needs two pairs of turns; found {n_pairs}.",
            "Import a log whose conversations have two turns or more.",
        )
    steps = recipe.epochs * (n_pairs // recipe.batch_size + (n_pairs % recipe.batch_size > 1))
    optimiser = build_optimiser(towers.trainable(), recipe, towers.device)
    torch.manual_seed(recipe.seed)
    done, spent = _restore(options.resume, towers, optimiser)
    clock = _Clock(steps, recipe.minutes, options.seconds() - spent, options.seconds)
    towers.train()
    batches = stream_batches(source, recipe.batch_size, recipe.shuffled, recipe.seed)
    progress = clock.progress(done, spent)
    for step, (epoch, batch) in enumerate(islice(batches, done, None), done):
        if progress >= 1:
            break
        optimiser.set_rate(cosine_rate(clock.progress(step + 1, spent), recipe.warmup))
        towers.before_step(step, progress)
        loss = _step(towers, optimiser, batch, step, recipe)
        require_finite(loss)
        spent = _agreed(clock.spent(), towers.device)
        progress = clock.progress(step + 1, spent)
        yield StepDone(step + 1, clock.total(step + 1, progress), epoch, loss)
        every = options.checkpoint_every
        if every and (progress >= 1 or (step + 1) % every == 0):
            own = {f"towers.{name}": value for name, value in towers.state().items()}
            tensors = {**optimiser.state(), **own, "spent": torch.tensor([spent])}
            precision = recipe.precision if isinstance(recipe, DialoguesRecipe) else "auto"
            yield CheckpointReady(Checkpoint(STAGE, step + 1, tensors, precision=precision))
    towers.eval()


@dataclass(frozen=True, slots=True)
class _Clock:
    """Progress of a run by its steps or by its time, whichever is further."""

    steps: int
    minutes: float | None
    began: float
    seconds: Seconds

    def spent(self) -> float:
        return self.seconds() - self.began

    def progress(self, done: int, spent: float) -> float:
        of_time = 0.0 if self.minutes is None else spent / (60 * self.minutes)
        return max(done / self.steps, of_time)

    def total(self, done: int, progress: float) -> int:
        """Estimate the total of steps; exact at the last step."""
        return done if progress >= 1 else max(done + 1, round(done / progress))


def _agreed(seconds: float, device: torch.device) -> float:
    """Return the slowest clock of all processes, so that they end together."""
    if share_of_process().count == 1:
        return seconds
    slowest = torch.tensor([seconds], device=device)
    distributed.all_reduce(slowest, distributed.ReduceOp.MAX)
    return float(slowest[0])


def _step(
    towers: Towers, optimiser: Optimiser, batch: list[Pair], step: int, recipe: Recipe
) -> float:
    share = share_of_process()
    share.seed_step(recipe.seed, step)
    optimiser.algorithm.zero_grad(set_to_none=True)

    turns = towers.read(batch, step)

    def loss(embedded: Tensor) -> Tensor:
        return towers.loss(embedded, turns, step)

    mixed = recipe.mixed_precision and towers.device.type == "cuda"
    with repeatable(towers.device):
        batch_loss = backward(towers.open(turns.texts), loss, recipe.chunk, share, mixed=mixed)
    weights = [parameter for _, parameter in towers.trainable()]
    share.sum_gradients(weights)
    optimiser.step(weights)
    return batch_loss


def _restore(resume: Checkpoint | None, towers: Towers, optimiser: Optimiser) -> tuple[int, float]:
    """Restore a checkpoint; return the steps and seconds that are done."""
    if resume is None or resume.stage != STAGE:
        return 0, 0.0
    optimiser.restore(resume.tensors)
    own = {
        k.removeprefix("towers."): v for k, v in resume.tensors.items() if k.startswith("towers.")
    }
    with torch.no_grad():
        towers.restore(own)
    return resume.step, float(resume.tensors["spent"][0])
