"""Two encoders opened for training on one list of texts: utterances first, then names."""

import copy
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from core.encoders.base import Tuning, TuningOptions
from core.encoders.dual.encoder import DualEncoder
from core.encoders.dual.static import StaticEncoder, embed_ids, static_encoder, token_ids


class StaticTuning(nn.Module):
    """Word vectors opened for training; embeds rows of a fixed list of texts with gradients."""

    def __init__(self, base: StaticEncoder, texts: Sequence[str], options: TuningOptions) -> None:
        super().__init__()
        self.base = base
        self.table = nn.Parameter(base.table.clone().to(options.device))
        self.projection = nn.Parameter(base.projection.clone().to(options.device))
        self.ids = token_ids(base.tokenizer, texts)

    @property
    def device(self) -> torch.device:
        """Device of the computation."""
        return self.table.device

    def forward(self, rows: Tensor) -> Tensor:
        """Embed texts by their row numbers; (b,) int64 to (b, dim), not of length one."""
        return embed_ids([self.ids[row] for row in rows.tolist()], self.table, self.projection)

    def trainable(self) -> list[tuple[str, nn.Parameter]]:
        """Names and parameters that training may change, in a fixed order."""
        return [("table", self.table), ("projection", self.projection)]

    def alongside(self, texts: Sequence[str]) -> "StaticTuning":
        """Open the same weights, still in training, on other texts."""
        other = copy.copy(self)
        other.ids = token_ids(self.base.tokenizer, texts)
        return other

    @torch.no_grad()
    def finish(self, interpolation: float = 1.0) -> StaticEncoder:
        """Return a new encoder between the unchanged base (0) and the tuned weights (1)."""
        base = self.base
        table = base.table.lerp(self.table.detach().to(base.table.device), interpolation)
        own = self.projection.detach().to(base.table.device)
        projection = base.projection.lerp(own, interpolation)
        return static_encoder(base.tokenizer, table, projection, normalised=base.normalised)


class DualTuning(nn.Module):
    """Embeds utterances by one tuning and names by another; rows of names follow the others."""

    def __init__(self, utterances: Tuning, names: Tuning, n_utterances: int) -> None:
        super().__init__()
        self.utterances = utterances
        self.names = names
        self.n_utterances = n_utterances

    @property
    def device(self) -> torch.device:
        """Device of the computation."""
        return self.utterances.device

    def forward(self, rows: Tensor) -> Tensor:
        """Embed texts by their row numbers; (b,) int64 to (b, dim), not of length one."""
        spoken = rows < self.n_utterances
        places = torch.cat([spoken.nonzero()[:, 0], (~spoken).nonzero()[:, 0]])
        parts = []
        if bool(spoken.any()):
            parts.append(self.utterances(rows[spoken]))
        if not bool(spoken.all()):
            parts.append(self.names(rows[~spoken] - self.n_utterances))
        return torch.cat(parts)[places.argsort()]

    def trainable(self) -> list[tuple[str, nn.Parameter]]:
        """Names and parameters that training may change; those of names begin with `names.`."""
        sides = (("utterances", self.utterances), ("names", self.names))
        return [(f"{side}.{name}", p) for side, own in sides for name, p in own.trainable()]

    def alongside(self, texts: Sequence[str]) -> Tuning:
        """Open the weights for utterances on other texts."""
        return self.utterances.alongside(texts)

    def finish(self, interpolation: float = 1.0) -> DualEncoder:
        """Return a new encoder between the bases (0) and the tuned weights (1); bases are kept."""
        utterances = self.utterances.finish(interpolation)
        return DualEncoder(utterances, self.names.finish(interpolation))
