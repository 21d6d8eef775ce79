"""The loop that learns from conversations: pairs in, events out; the towers change in place."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice

import torch
from torch import Tensor, distributed, nn

from core.errors import InvalidInput
from core.formats.dialogues import Pair
from core.recipes.conversations import ConvertRecipe, DialoguesRecipe
from core.training.checkpoints import Checkpoint
from core.training.devices import repeatable, share_of_process
from core.training.events import CheckpointReady, StepDone
from core.training.from_conversations.batches import PairSource, count_pairs, stream_batches
from core.training.from_conversations.gradient_cache import backward
from core.training.from_conversations.towers import Towers
from core.training.schedule import cosine_rate

_MAX_GRADIENT_NORM = 1.0
_NO_DECAY = ("bias", "norm")
STAGE = "ranking"
Recipe = DialoguesRecipe | ConvertRecipe
Seconds = Callable[[], float]


@dataclass(frozen=True, slots=True)
class RankOptions:
    """How to run the loop.

    Attributes:
        resume: Where to go on; None starts afresh.
        checkpoint_every: Steps between checkpoints; 0 makes none.
        seconds: The clock that the time limit is read from.
    """

    resume: Checkpoint | None = None
    checkpoint_every: int = 0
    seconds: Seconds = field(default=time.monotonic, repr=False)


def rank(
    towers: Towers, source: PairSource, recipe: Recipe, options: RankOptions
) -> Iterator[StepDone | CheckpointReady]:
    """Train towers to rank the right response first; stop by not asking on.

    Learning rate and end follow the steps, or the time where that is nearer to its limit. Without
    a limit the same seed on the same machine gives the same weights, resumed or not.

    Raises:
        InvalidInput: The conversations hold fewer than two pairs.
    """
    n_pairs = count_pairs(source)
    if n_pairs < 2:
        raise InvalidInput(
            f"Training on conversations needs two pairs of turns; found {n_pairs}.",
            "Import a log whose conversations have two turns or more.",
        )
    steps = recipe.epochs * (n_pairs // recipe.batch_size + (n_pairs % recipe.batch_size > 1))
    parameters = towers.trainable()
    optimizer = build_optimizer(parameters, recipe)
    torch.manual_seed(recipe.seed)
    done, spent = _restore(options.resume, towers, optimizer)
    clock = _Clock(steps, recipe.minutes, options.seconds() - spent, options.seconds)
    towers.train()
    batches = stream_batches(source, recipe.batch_size, recipe.shuffled, recipe.seed)
    progress = clock.progress(done, spent)
    for step, (epoch, batch) in enumerate(islice(batches, done, None), done):
        if progress >= 1:
            break
        _set_rate(optimizer, recipe, clock.progress(step + 1, spent))
        towers.before_step(step, progress)
        loss = _step(towers, optimizer, batch, step, recipe)
        spent = _agreed(clock.spent(), towers.device)
        progress = clock.progress(step + 1, spent)
        yield StepDone(step + 1, clock.total(step + 1, progress), epoch, loss)
        every = options.checkpoint_every
        if every and (progress >= 1 or (step + 1) % every == 0):
            tensors = _state(towers, optimizer, spent)
            yield CheckpointReady(Checkpoint(STAGE, step + 1, tensors))
    towers.eval()


@dataclass(frozen=True, slots=True)
class _Clock:
    """How much of a run is done: of its steps or of its time, whichever is more."""

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
        """Guess how many steps there will be; the last one knows."""
        return done if progress >= 1 else max(done + 1, round(done / progress))


def _agreed(seconds: float, device: torch.device) -> float:
    """Let processes that train together end together: the slowest clock counts for all."""
    if share_of_process().count == 1:
        return seconds
    slowest = torch.tensor([seconds], device=device)
    distributed.all_reduce(slowest, distributed.ReduceOp.MAX)
    return float(slowest[0])


def _set_rate(optimizer: torch.optim.Optimizer, recipe: Recipe, progress: float) -> None:
    rate = recipe.learning_rate * cosine_rate(progress, recipe.warmup)
    for group in optimizer.param_groups:
        group["lr"] = rate


def _step(
    towers: Towers, optimizer: torch.optim.Optimizer, batch: list[Pair], step: int, recipe: Recipe
) -> float:
    share = share_of_process()
    share.seed_step(recipe.seed, step)
    optimizer.zero_grad(set_to_none=True)

    turns = towers.read(batch, step)

    def loss(embedded: Tensor) -> Tensor:
        return towers.loss(embedded, turns, step)

    mixed = recipe.mixed_precision and towers.device.type == "cuda"
    with repeatable(towers.device):
        found = backward(towers.open(turns.texts), loss, recipe.chunk, share, mixed=mixed)
    weights = [parameter for _, parameter in towers.trainable()]
    share.sum_gradients(weights)
    nn.utils.clip_grad_norm_(weights, _MAX_GRADIENT_NORM)
    optimizer.step()
    return found


def build_optimizer(
    parameters: list[tuple[str, nn.Parameter]], recipe: Recipe
) -> torch.optim.Optimizer:
    """Build what changes the weights; biases and norms do not decay."""
    decayed = [p for name, p in parameters if not any(part in name for part in _NO_DECAY)]
    bare = [p for name, p in parameters if any(part in name for part in _NO_DECAY)]
    groups = [
        {"params": decayed, "weight_decay": recipe.weight_decay},
        {"params": bare, "weight_decay": 0.0},
    ]
    if isinstance(recipe, ConvertRecipe) and recipe.optimizer == "adadelta":
        return torch.optim.Adadelta(groups, lr=recipe.learning_rate, rho=0.9)
    return torch.optim.AdamW(groups, lr=recipe.learning_rate, foreach=True)


def _state(towers: Towers, optimizer: torch.optim.Optimizer, spent: float) -> dict[str, Tensor]:
    tensors = {"random.cpu": torch.get_rng_state(), "spent": torch.tensor([spent])}
    if towers.device.type == "cuda":
        tensors["random.cuda"] = torch.cuda.get_rng_state(towers.device)
    for name, parameter in towers.trainable():
        tensors[f"weight.{name}"] = parameter.detach().clone().contiguous()
        for key, value in optimizer.state[parameter].items():
            tensors[f"optimizer.{key}.{name}"] = value.detach().clone().contiguous()
    return {**tensors, **{f"towers.{name}": value for name, value in towers.state().items()}}


def _restore(
    resume: Checkpoint | None, towers: Towers, optimizer: torch.optim.Optimizer
) -> tuple[int, float]:
    """Set weights, optimiser and random state; return the steps and the seconds that are done."""
    if resume is None or resume.stage != STAGE:
        return 0, 0.0
    tensors = resume.tensors
    with torch.no_grad():
        for name, parameter in towers.trainable():
            parameter.copy_(tensors[f"weight.{name}"])
            kept = {
                key.split(".")[1]: value
                for key, value in tensors.items()
                if key.startswith("optimizer.") and key.split(".", 2)[2] == name
            }
            optimizer.state[parameter] = {
                key: value.clone() if key == "step" else value.to(parameter.device).clone()
                for key, value in kept.items()
            }
        towers.restore(
            {k.removeprefix("towers."): v for k, v in tensors.items() if k.startswith("towers.")}
        )
    torch.set_rng_state(tensors["random.cpu"].cpu())
    if "random.cuda" in tensors and towers.device.type == "cuda":
        torch.cuda.set_rng_state(tensors["random.cuda"].cpu(), towers.device)
    return resume.step, float(tensors["spent"][0])
