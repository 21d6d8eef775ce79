"""The protocol of encoders: texts in, one embedding per text out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

from core.types import FloatArray, Precision

if TYPE_CHECKING:
    import numpy as np
    import torch

Progress = Callable[[int, int], None]
"""Called with the number of texts that are done, and of all texts."""


class Encoder(Protocol):
    """Maps texts to embeddings; equal fingerprints mean equal embeddings."""

    @property
    def dim(self) -> int:
        """Width of an embedding."""
        ...

    @property
    def fingerprint(self) -> str:
        """SHA-256 over everything that the embeddings depend on."""
        ...

    @property
    def max_tokens(self) -> int:
        """Token limit; longer texts are cut."""
        ...

    def encode(self, texts: Sequence[str], progress: Progress | None = None) -> FloatArray:
        """Embed texts in their order; (n, dim) float32."""
        ...

    def save(self, folder: Path) -> None:
        """Write a plain sentence-transformers folder."""
        ...


@dataclass(frozen=True, slots=True)
class AdapterOptions:
    """An adapter in a frozen encoder; `merge` adds LoRA to the weights in the end."""

    kind: Literal["bottleneck", "lora"] = "bottleneck"
    reduction_factor: int = 4
    rank: int = 8
    merge: bool = False


@dataclass(frozen=True, slots=True)
class TuningOptions:
    """How an encoder is opened for tuning.

    Attributes:
        frozen_layers: Lower layers (with the token tables) that are not trained; 0 trains all.
        projection: `train` adds a Tanh projection during tuning, `keep` also keeps it afterwards.
        seed: Seed of the initial weights of projection and adapter.
        adapter: Trained instead of the encoder's own weights; None trains those.
        precision: Number format of the products; all else is in float32.
    """

    frozen_layers: int = 3
    max_tokens: int = 48
    projection: Literal["none", "train", "keep"] = "none"
    projection_size: int = 512
    device: str = "cpu"
    seed: int = 0
    adapter: AdapterOptions | None = None
    precision: Precision = "float32"


class Tuning(Protocol):
    """A copy of an encoder, opened for tuning on a fixed list of texts; a torch module."""

    @property
    def device(self) -> "torch.device":
        """Device of the computation."""
        ...

    def __call__(self, rows: "torch.Tensor") -> "torch.Tensor":
        """Embed texts by their row numbers; (b,) int64 to (b, dim), not of length one."""
        ...

    def train(self) -> object:
        """Switch dropout on."""
        ...

    def eval(self) -> object:
        """Switch dropout off."""
        ...

    def trainable(self) -> "list[tuple[str, torch.nn.Parameter]]":
        """Names and parameters that training may change, in a fixed order."""
        ...

    def alongside(self, texts: Sequence[str]) -> "Tuning":
        """Open the same weights, still in training, on other texts."""
        ...

    def finish(self, interpolation: float = 1.0) -> Encoder:
        """Return a new encoder between the unchanged base (0) and the tuned weights (1)."""
        ...


class PartedNetwork(Protocol):
    """The network of a tuning, for threads that each embed a part of a batch at the same time."""

    def renew(self) -> None:
        """Take over the tuning's weights; before each batch."""
        ...

    def source_of(self, weight: "torch.nn.Parameter") -> "torch.nn.Parameter":
        """Return what stands for a weight of the tuning here, and gets its gradients."""
        ...

    def deal(self, rows: "torch.Tensor", count: int) -> "tuple[torch.Tensor, ...]":
        """Deal a batch into parts that take equally long; the places in it, each (n,) int64."""
        ...

    def embed(self, rows: "torch.Tensor", random: "np.random.Generator") -> "torch.Tensor":
        """Embed texts by their row numbers, with masks of dropout by `random`; (n, dim)."""
        ...


@runtime_checkable
class PartedTuning(Tuning, Protocol):
    """A tuning whose batches may be embedded in parts."""

    def in_parts(self) -> PartedNetwork | None:
        """Open the network for parts of batches; None where it must embed them as a whole."""
        ...
