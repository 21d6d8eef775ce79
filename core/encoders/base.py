"""The protocol of encoders: texts in, one embedding per text out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from core.types import FloatArray

if TYPE_CHECKING:
    import torch

Progress = Callable[[int, int], None]
"""Called with how many texts are done, and how many there are."""


class Encoder(Protocol):
    """Maps texts to embeddings; equal fingerprints promise equal embeddings."""

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
        """Longer texts are cut here."""
        ...

    def encode(self, texts: Sequence[str], progress: Progress | None = None) -> FloatArray:
        """Embed texts in their order; (n, dim) float32."""
        ...

    def save(self, folder: Path) -> None:
        """Write a plain sentence-transformers folder."""
        ...


@dataclass(frozen=True, slots=True)
class AdapterOptions:
    """What is put into an encoder that stays as it is.

    Attributes:
        kind: `bottleneck` layers behind the feed-forward blocks, or `lora` beside every matrix.
        reduction_factor: How much narrower a bottleneck is than the encoder.
        rank: Of the matrices of LoRA.
        merge: Whether LoRA ends as part of the weights; a bottleneck cannot.
    """

    kind: Literal["bottleneck", "lora"] = "bottleneck"
    reduction_factor: int = 4
    rank: int = 8
    merge: bool = False


@dataclass(frozen=True, slots=True)
class TuningOptions:
    """How an encoder is opened.

    Attributes:
        frozen_layers: Lower layers (with the token tables) that stay as they are; 0 tunes all.
        max_tokens: Longer texts are cut.
        projection: `train` adds a Tanh projection for tuning only, `keep` leaves it in.
        projection_size: Its width (512 in the paper).
        device: Where tuning computes.
        seed: Of the projection's and the adapter's initial weights.
        adapter: Trained instead of the encoder's own weights; None trains those.
    """

    frozen_layers: int = 3
    max_tokens: int = 48
    projection: Literal["none", "train", "keep"] = "none"
    projection_size: int = 512
    device: str = "cpu"
    seed: int = 0
    adapter: AdapterOptions | None = None


class Tuning(Protocol):
    """A copy of an encoder, opened for tuning on a fixed list of texts; a torch module."""

    @property
    def device(self) -> "torch.device":
        """Where it computes."""
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
        """Open these same weights on other texts; they go on changing with this tuning."""
        ...

    def finish(self, interpolation: float = 1.0) -> Encoder:
        """Return a new encoder that far from the base, in [0, 1]; the base stays untouched."""
        ...
