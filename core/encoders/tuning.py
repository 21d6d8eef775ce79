"""An encoder opened for tuning: lower layers computed once, upper layers with gradients."""

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import torch
from torch import Tensor, nn

from core.encoders.packed import equal_length_batches, lay_out, pool_mean
from core.encoders.transformer import TransformerEncoder, fingerprint, modules_json, project

_TOKEN_BUDGET = 2048


@dataclass(frozen=True, slots=True)
class TuningOptions:
    """How an encoder is opened.

    Attributes:
        frozen_layers: Lower layers (with the token tables) that stay as they are; 0 tunes all.
        max_tokens: Longer texts are cut.
        projection: `train` adds a Tanh projection for tuning only, `keep` leaves it in.
        projection_size: Its width (512 in the paper).
        device: Where tuning computes.
        seed: Of the projection's initial weights.
    """

    frozen_layers: int = 3
    max_tokens: int = 48
    projection: Literal["none", "train", "keep"] = "none"
    projection_size: int = 512
    device: str = "cpu"
    seed: int = 0


@dataclass(frozen=True, slots=True)
class _Prefix:
    """Output of the frozen part for every text, packed one after the other."""

    tokens: Tensor  # (all tokens, d), or (all tokens,) ids when nothing is frozen
    starts: Tensor  # (texts,)
    lengths: Tensor  # (texts,)


class EncoderTuning(nn.Module):
    """Embeds rows of a fixed list of texts with gradients; made by `open_tuning`."""

    def __init__(self, base: TransformerEncoder, tuned: nn.ModuleDict, prefix: _Prefix) -> None:
        super().__init__()
        self.base = base
        self.tuned = tuned
        self.prefix = prefix
        self.keeps_projection = False
        self.frozen_layers = 0

    def forward(self, rows: Tensor) -> Tensor:
        """Embed texts by their row numbers; (b,) int64 to (b, dim), not of length one."""
        prefix, lengths = self.prefix, self.prefix.lengths[rows]
        layout = lay_out(lengths)
        offsets = torch.arange(int(lengths.sum()), device=lengths.device)
        first = torch.repeat_interleave(lengths.cumsum(0) - lengths, lengths)
        places = torch.repeat_interleave(prefix.starts[rows], lengths) + offsets - first
        tokens = prefix.tokens.index_select(0, places)
        bert = self.tuned["bert"]
        if self.frozen_layers == 0:
            tokens = bert.embed(tokens, layout)
        tokens = bert.run_layers(tokens, layout, self.frozen_layers, len(bert.layers))
        return project(pool_mean(tokens, layout), self._projection())

    def train(self, mode: bool = True) -> "EncoderTuning":  # noqa: FBT001, FBT002 - torch's signature
        """Switch dropout of the tuned part; the frozen part never drops."""
        super().train(mode)
        return self

    def trainable(self) -> list[tuple[str, nn.Parameter]]:
        """Names and parameters that training may change, in a fixed order."""
        return [(n, p) for n, p in self.tuned.named_parameters() if p.requires_grad]

    @property
    def embedding_size(self) -> int:
        """Width of what `forward` returns."""
        projection = self._projection()
        return projection.out_features if projection else self.base.bert.shape.hidden_size

    def finish(self, interpolation: float = 1.0) -> TransformerEncoder:
        """Return a new encoder; the base stays untouched.

        Args:
            interpolation: How far to go from the base to the tuned weights, in [0, 1]
                (weight-space ensembling, Wortsman et al. 2022, Eq. 1).
        """
        bert = copy.deepcopy(self.tuned["bert"]).to(self.base.bert.words.weight.device).eval()
        with torch.no_grad():
            base = self.base.bert.state_dict()
            for name, value in bert.state_dict().items():
                value.copy_(base[name].lerp(value, interpolation))
        bert.requires_grad_(requires_grad=False)
        projection = self._finished_projection()
        small = dict(self.base.files.small)
        small["modules.json"] = modules_json(
            projected=projection is not None, normalised=self.base.normalised
        )
        return replace(
            self.base,
            bert=bert,
            projection=projection,
            files=replace(self.base.files, small=small),
            fingerprint=fingerprint(bert, projection, small),
        )

    def _projection(self) -> nn.Linear | None:
        layer = self.tuned["projection"] if "projection" in self.tuned else None
        return layer if isinstance(layer, nn.Linear) else None

    def _finished_projection(self) -> nn.Linear | None:
        if not self.keeps_projection:
            return self.base.projection
        layer = copy.deepcopy(self._projection())
        if layer is None:
            return None
        device = self.base.bert.words.weight.device
        return layer.to(device).eval().requires_grad_(requires_grad=False)


def open_tuning(
    encoder: TransformerEncoder, texts: Sequence[str], options: TuningOptions
) -> EncoderTuning:
    """Copy an encoder for tuning on a fixed list of texts.

    Embeddings of tokens and the frozen layers run once, without dropout; their output is kept.
    """
    bert = copy.deepcopy(encoder.bert).to(options.device)
    frozen = min(options.frozen_layers, len(bert.layers) - 1)
    ids = encoder.token_ids(texts, min(options.max_tokens, encoder.max_tokens))
    tuned = nn.ModuleDict({"bert": bert})
    projection = _open_projection(encoder, options)
    if projection is not None:
        tuned["projection"] = projection.to(options.device)
    bert.requires_grad_(requires_grad=frozen == 0)
    for layer in bert.layers[frozen:]:
        layer.requires_grad_(requires_grad=True)
    tuning = EncoderTuning(encoder, tuned, _compute_prefix(encoder, ids, frozen, options.device))
    tuning.frozen_layers = frozen
    tuning.keeps_projection = options.projection == "keep"
    return tuning


def _open_projection(encoder: TransformerEncoder, options: TuningOptions) -> nn.Linear | None:
    if encoder.projection is not None:
        return copy.deepcopy(encoder.projection).requires_grad_(requires_grad=True)
    if options.projection == "none":
        return None
    layer = nn.Linear(encoder.bert.shape.hidden_size, options.projection_size)
    generator = torch.Generator().manual_seed(options.seed)
    nn.init.xavier_uniform_(layer.weight, generator=generator)
    nn.init.zeros_(layer.bias)
    return layer


@torch.no_grad()
def _compute_prefix(
    encoder: TransformerEncoder, ids: list[list[int]], frozen: int, device: str
) -> _Prefix:
    lengths = torch.tensor([len(text) for text in ids])
    starts = lengths.cumsum(0) - lengths
    flat = torch.tensor([token for text in ids for token in text])
    if frozen == 0:
        return _Prefix(flat.to(device), starts.to(device), lengths.to(device))
    bert = encoder.bert
    kept = torch.empty(len(flat), bert.shape.hidden_size)
    for batch in equal_length_batches(lengths.tolist(), _TOKEN_BUDGET):
        layout = lay_out(lengths[batch])
        places = (starts[batch][:, None] + torch.arange(layout.longest)).flatten()
        inputs = flat[places].to(bert.words.weight.device)
        hidden = bert.run_layers(bert.embed(inputs, layout), layout, 0, frozen)
        kept[places] = hidden.cpu()
    return _Prefix(kept.to(device), starts.to(device), lengths.to(device))
