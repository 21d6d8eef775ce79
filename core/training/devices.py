"""Devices of a run, this process's share of a batch, and deterministic arithmetic.

Processes that train together (one for each GPU, started by `accelerate launch`) hold equal weights.
Each embeds its share of a batch, all see the embeddings of the whole batch, and gradients are
summed, so that a step equals that of one process.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal, TypeVar

import numpy as np
import torch
from torch import Tensor, distributed, nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from core.encoders.base import Tuning, TuningOptions
from core.encoders.precision import settled_precision
from core.recipes.base import Recipe, Tuned
from core.training.checkpoints import Checkpoint
from core.types import Precision

AnyTuning = TypeVar("AnyTuning", bound=Tuned)


@dataclass(frozen=True, slots=True, kw_only=True)
class ComputeOptions:
    """Device of a run (`cpu`, `cuda`, `cuda:1`), and steps between checkpoints; 0 makes none."""

    device: str = "cpu"
    checkpoint_every: int = 0


def tuning_options(recipe: Tuned, device: str) -> TuningOptions:
    """Return how a recipe opens an encoder in this process."""
    return TuningOptions(
        frozen_layers=recipe.frozen_layers,
        max_tokens=recipe.max_tokens,
        device=device_of_process(device),
        seed=recipe.seed,
        precision=settled_precision(recipe.precision, device),
    )


def precision_of(
    recipe: Recipe, device: str, resume: Checkpoint | None = None
) -> Precision | Literal[""]:
    """Return the number format in which a recipe tunes on a device; "" for one that does not.

    A run that is resumed keeps its own: which is quick is measured in each process.
    """
    if not isinstance(recipe, Tuned):
        return ""
    asked = recipe.precision
    if asked == "auto" and resume is not None:
        asked = resume.precision
    return settled_precision(asked, device)


def with_precision(recipe: AnyTuning, device: str, resume: Checkpoint | None) -> AnyTuning:
    """Return a recipe with the number format that its run has from its beginning to its end."""
    return recipe.model_copy(update={"precision": precision_of(recipe, device, resume)})


def device_of_process(asked: str) -> str:
    """Return the device as asked, or this process's GPU where several processes train."""
    if not asked.startswith("cuda"):
        return asked
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # else cuBLAS may vary by run
    from accelerate import PartialState  # joins the processes that `accelerate launch` started

    state = PartialState()
    return str(state.device) if state.num_processes > 1 else asked


@dataclass(frozen=True, slots=True)
class Share:
    """Number of this process, from 0, and number of processes that train together."""

    index: int = 0
    count: int = 1

    def embed(self, tuning: Tuning, rows: Tensor) -> Tensor:
        """Embed a batch together; (b,) int64 to (b, dim), with gradients for this share only."""
        if self.count == 1:
            return tuning(rows)
        size = -(-len(rows) // self.count)
        # Shares must be equally large; the filling rows are cut off below.
        filled = torch.arange(size * self.count, device=rows.device) % len(rows)
        own = tuning(rows[filled].view(self.count, size)[self.index])
        parts = [torch.empty_like(own) for _ in range(self.count)]
        distributed.all_gather(parts, own.detach().contiguous())
        parts[self.index] = own
        return torch.cat(parts)[: len(rows)]

    def sum_gradients(self, parameters: Iterable[nn.Parameter]) -> None:
        """Add the gradients of the other shares."""
        for parameter in parameters if self.count > 1 else ():
            if parameter.grad is not None:
                distributed.all_reduce(parameter.grad)

    def seed_step(self, seed: int, step: int) -> None:
        """Seed dropout for each process and step, so that no other random state must be stored."""
        if self.count > 1:
            state = np.random.SeedSequence([seed, step, self.index]).generate_state(1)
            torch.manual_seed(int(state[0]))


def share_of_process() -> Share:
    """Return this process's share; the whole batch if it trains alone."""
    if distributed.is_available() and distributed.is_initialized():
        return Share(distributed.get_rank(), distributed.get_world_size())
    return Share()


@contextmanager
def repeatable(device: torch.device) -> Iterator[None]:
    """Compute the same bits each time on a GPU; a CPU always does."""
    if device.type != "cuda":
        yield
        return
    before = torch.are_deterministic_algorithms_enabled()
    warned = torch.is_deterministic_algorithms_warn_only_enabled()
    torch.use_deterministic_algorithms(mode=True, warn_only=True)
    try:
        # Fused attention kernels sum gradients in no fixed order.
        with sdpa_kernel(SDPBackend.MATH):
            yield
    finally:
        torch.use_deterministic_algorithms(mode=before, warn_only=warned)
