"""A ConveRT opened for tuning on a fixed list of texts."""

import copy
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from core.encoders.base import TuningOptions
from core.encoders.convert.encoder import ConvertEncoder, encoder_of
from core.encoders.convert.model import ConvertModel
from core.encoders.projection import new_projection, project
from core.errors import InvalidInput


class ConvertTuning(nn.Module):
    """Embeds rows of a fixed list of texts with gradients; made by `open_tuning`."""

    def __init__(self, base: ConvertEncoder, texts: Sequence[str], options: TuningOptions) -> None:
        super().__init__()
        if options.projection == "keep":
            raise InvalidInput(
                "ConveRT has no place for the paper's projection.",
                "Choose projection none or train.",
            )
        self.base = base
        self.model: ConvertModel = copy.deepcopy(base.model).to(options.device)
        blocks = self.model.network.blocks
        self.frozen = min(options.frozen_layers, len(blocks) - 1)
        self.projection = new_projection(base.dim, options)
        self.to(options.device)
        self.max_tokens = min(options.max_tokens, base.max_tokens)
        self._open_weights()
        self.ids = self.model.subwords.tokenise(texts, self.max_tokens)

    def _open_weights(self) -> None:
        network = self.model.network
        self.requires_grad_(requires_grad=True)
        # Only the side that makes embeddings is tuned; `r` is computed before all sides.
        network.sides.requires_grad_(requires_grad=False)
        if self.model.facts["embedding"] == "h":
            network.sides[self.model.facts["side"]].requires_grad_(requires_grad=True)
        if self.frozen:
            for part in (network.words, network.positions, *network.blocks[: self.frozen]):
                part.requires_grad_(requires_grad=False)

    @property
    def device(self) -> torch.device:
        """Device of the computation."""
        return self.model.network.words.weight.device

    def forward(self, rows: Tensor) -> Tensor:
        """Embed texts by their row numbers; (b,) int64 to (b, dim)."""
        ids = [self.ids[row] for row in rows.tolist()]
        embedded = self.model.embedding_of(self.model.network.reduce(ids, self.frozen))
        return project(embedded, self.projection)

    def trainable(self) -> list[tuple[str, nn.Parameter]]:
        """Names and parameters that training may change, in a fixed order."""
        return [(name, p) for name, p in self.named_parameters() if p.requires_grad]

    def alongside(self, texts: Sequence[str]) -> "ConvertTuning":
        """Open the same weights, still in training, on other texts."""
        other = copy.copy(self)
        other.ids = self.model.subwords.tokenise(texts, self.max_tokens)
        return other

    @torch.no_grad()
    def finish(self, interpolation: float = 1.0) -> ConvertEncoder:
        """Return a new encoder between the unchanged base (0) and the tuned weights (1)."""
        model = copy.deepcopy(self.model).to(self.base.model.network.words.weight.device)
        base = dict(self.base.model.named_parameters())
        for name, value in model.named_parameters():
            value.copy_(base[name].lerp(value, interpolation))
        return encoder_of(model)
