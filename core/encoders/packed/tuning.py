"""A packed BERT opened for tuning: lower layers computed once, upper layers with gradients."""

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from core.encoders.base import TuningOptions
from core.encoders.packed.bert import PackedBert
from core.encoders.packed.encoder import TransformerEncoder, fingerprint, modules_json
from core.encoders.packed.layout import equal_length_batches, lay_out, pool_mean
from core.encoders.precision import computing_in
from core.encoders.projection import new_projection, project

_TOKEN_BUDGET = 2048
_ROWS = 128
"""A processor's products in bfloat16 have a multiple of so many rows: oneDNN compiles a routine for
each number of rows, which takes longer than the product."""
_PART_ROWS = 64
"""The same for a part of a batch, of which a multiple of 128 would be a larger share."""


@dataclass(frozen=True, slots=True)
class Prefix:
    """Output of the frozen part for all texts, packed one after the other."""

    tokens: Tensor  # (all tokens, d), or (all tokens,) ids when nothing is frozen
    starts: Tensor  # (texts,)
    lengths: Tensor  # (texts,)


class EncoderTuning(nn.Module):
    """Embeds rows of a fixed list of texts with gradients; made by `open_packed`."""

    bert: PackedBert
    projection: nn.Linear | None

    def __init__(self, base: TransformerEncoder, parts: "PackedParts") -> None:
        super().__init__()
        self.base = base
        self.bert = parts.bert
        self.projection = parts.projection
        self.prefix = parts.prefix
        self.options = parts.options
        self.max_tokens = min(parts.options.max_tokens, base.max_tokens)

    @property
    def device(self) -> torch.device:
        """Device of the computation."""
        return self.prefix.tokens.device

    def forward(self, rows: Tensor) -> Tensor:
        """Embed texts by their row numbers; (b,) int64 to (b, dim), not of length one."""
        return self.embed_with(self.bert, rows, _step_of(self.options, self.device))

    def in_parts(self) -> "PackedHalves":
        """Open the network for parts of batches."""
        return PackedHalves(self)

    def embed_with(
        self, bert: PackedBert, rows: Tensor, step: int, random: np.random.Generator | None = None
    ) -> Tensor:
        """Embed texts by their row numbers with a network like this tuning's own; (b, dim).

        Tokens are filled up to a multiple of `step`. `random` draws the masks of dropout.
        """
        prefix, lengths = self.prefix, self.prefix.lengths[rows]
        order = lengths.argsort(stable=True)  # texts of similar length attend together
        rows, lengths = rows[order], lengths[order]
        layout = replace(lay_out(lengths, step), random=random)
        starts = torch.repeat_interleave(prefix.starts[rows], lengths)
        tokens = prefix.tokens.index_select(0, starts + layout.steps())
        with computing_in(self.options.precision, self.device.type):
            if self.options.frozen_layers == 0:
                tokens = bert.embed(tokens, layout)
            first, last = self.options.frozen_layers, len(bert.layers)
            tokens = F.pad(tokens, (0, 0, 0, layout.spare))
            tokens = bert.run_layers(tokens, layout, first, last)
        pooled = pool_mean(tokens, layout).index_select(0, order.argsort())
        return project(pooled, self.projection)

    def trainable(self) -> list[tuple[str, nn.Parameter]]:
        """Names and parameters that training may change, in a fixed order."""
        return [(name, p) for name, p in self.named_parameters() if p.requires_grad]

    def alongside(self, texts: Sequence[str]) -> "EncoderTuning":
        """Open the same weights, still in training, on other texts."""
        other = copy.copy(self)
        ids = self.base.token_ids(texts, self.max_tokens)
        other.prefix = compute_prefix(
            self.base, ids, replace(self.options, device=str(self.device))
        )
        return other

    def finish(self, interpolation: float = 1.0) -> TransformerEncoder:
        """Return an encoder between base (0) and tuned weights (1); Wortsman et al. 2022, Eq. 1."""
        bert = copy.deepcopy(self.bert).to(self.base.bert.words.weight.device).eval()
        with torch.no_grad():
            base = self.base.bert.state_dict()
            for name, value in bert.state_dict().items():
                value.copy_(base[name].lerp(value, interpolation))
        bert.requires_grad_(requires_grad=False)
        projection = self._finished_projection(interpolation)
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

    def _finished_projection(self, interpolation: float) -> nn.Linear | None:
        base = self.base.projection
        if self.projection is None or (base is None and self.options.projection != "keep"):
            return None
        layer = copy.deepcopy(self.projection).to(self.base.bert.words.weight.device).eval()
        if base is not None:
            with torch.no_grad():
                layer.weight.copy_(base.weight.lerp(layer.weight, interpolation))
                layer.bias.copy_(base.bias.lerp(layer.bias, interpolation))
        return layer.requires_grad_(requires_grad=False)


class PackedHalves:
    """The network of a packed tuning, for threads that each embed a part of a batch.

    In bfloat16, weights of products are cast here once for all parts, and gradients come back in
    bfloat16. Autocast would cast in each thread.
    """

    def __init__(self, tuning: EncoderTuning) -> None:
        self.tuning = tuning
        tensors = (*tuning.bert.parameters(), *tuning.bert.buffers())
        shared: dict[int, Tensor] = {id(tensor): tensor for tensor in tensors}
        self.casts: dict[int, tuple[nn.Parameter, nn.Parameter]] = {}
        if tuning.options.precision == "bfloat16":
            weights = _weights_of_products(tuning.bert, tuning.options.frozen_layers)
            self.casts = {id(own): (own, _narrow(own)) for own in weights}
        shared |= {name: narrow for name, (_, narrow) in self.casts.items()}
        self.bert = copy.deepcopy(tuning.bert, shared)

    @torch.no_grad()
    def renew(self) -> None:
        """Take over the tuning's weights; before each batch."""
        for weight, narrow in self.casts.values():
            if weight.requires_grad:
                narrow.copy_(weight)

    def source_of(self, weight: nn.Parameter) -> nn.Parameter:
        """Return what stands for a weight of the tuning here, and gets its gradients."""
        return self.casts[id(weight)][1] if id(weight) in self.casts else weight

    def deal(self, rows: Tensor, count: int) -> tuple[Tensor, ...]:
        """Deal a batch into parts of about as many tokens; the places in it, each (n,) int64.

        A part has texts of similar length, so that few groups attend.
        """
        lengths = self.tuning.prefix.lengths[rows]
        order = lengths.argsort(stable=True)
        until = lengths[order].cumsum(0)
        part = (until - 1) * count // until[-1]
        dealt = (order[part == number] for number in range(count))
        return tuple(places for places in dealt if len(places))

    def embed(self, rows: Tensor, random: np.random.Generator) -> Tensor:
        """Embed texts by their row numbers, with masks of dropout by `random`; (n, dim)."""
        step = min(_PART_ROWS, _step_of(self.tuning.options, self.tuning.device))
        return self.tuning.embed_with(self.bert, rows, step, random)


def _weights_of_products(bert: PackedBert, frozen: int) -> list[nn.Parameter]:
    modules = [module for layer in bert.layers[frozen:] for module in layer.modules()]
    products = [module for module in modules if isinstance(module, nn.Linear)]
    return [weight for module in products for weight in module.parameters(recurse=False)]


def _narrow(weight: nn.Parameter) -> nn.Parameter:
    return nn.Parameter(weight.detach().bfloat16(), requires_grad=weight.requires_grad)


@dataclass(frozen=True, slots=True)
class PackedParts:
    """The modules of a tuning, on its device; `options` say how many layers are frozen."""

    bert: PackedBert
    projection: nn.Linear | None
    prefix: Prefix
    options: TuningOptions


def open_packed(
    encoder: TransformerEncoder, texts: Sequence[str], options: TuningOptions
) -> EncoderTuning:
    """Copy an encoder for tuning on a fixed list of texts."""
    bert = copy.deepcopy(encoder.bert).to(options.device)
    frozen = min(options.frozen_layers, len(bert.layers) - 1)
    options = replace(options, frozen_layers=frozen)
    ids = encoder.token_ids(texts, min(options.max_tokens, encoder.max_tokens))
    bert.requires_grad_(requires_grad=frozen == 0)
    for layer in bert.layers[frozen:]:
        layer.requires_grad_(requires_grad=True)
    projection = _open_projection(encoder, options)
    if projection is not None:
        projection = projection.to(options.device)
    prefix = compute_prefix(encoder, ids, options)
    return EncoderTuning(encoder, PackedParts(bert, projection, prefix, options))


def _open_projection(encoder: TransformerEncoder, options: TuningOptions) -> nn.Linear | None:
    if encoder.projection is not None:
        return copy.deepcopy(encoder.projection).requires_grad_(requires_grad=True)
    return new_projection(encoder.bert.shape.hidden_size, options)


def _step_of(options: TuningOptions, device: torch.device) -> int:
    return _ROWS if device.type == "cpu" and options.precision == "bfloat16" else 1


@torch.no_grad()
def compute_prefix(
    encoder: TransformerEncoder, ids: list[list[int]], options: TuningOptions
) -> Prefix:
    """Run embeddings and frozen layers once, without dropout, and store their output."""
    device, frozen = options.device, options.frozen_layers
    lengths = torch.tensor([len(text) for text in ids])
    starts = lengths.cumsum(0) - lengths
    flat = torch.tensor([token for text in ids for token in text])
    if frozen == 0:
        return Prefix(flat.to(device), starts.to(device), lengths.to(device))
    bert = encoder.bert
    kept = torch.empty(len(flat), bert.shape.hidden_size)
    for batch in equal_length_batches(lengths.tolist(), _TOKEN_BUDGET):
        places = (starts[batch][:, None] + torch.arange(int(lengths[batch[0]]))).flatten()
        inputs = flat[places].to(bert.words.weight.device)
        layout = lay_out(lengths[batch], _step_of(options, inputs.device))
        with computing_in(options.precision, inputs.device.type):
            tokens = F.pad(bert.embed(inputs, layout), (0, 0, 0, layout.spare))
            hidden = bert.run_layers(tokens, layout, 0, frozen)
        kept[places] = hidden[: len(places)].cpu()
    return Prefix(kept.to(device), starts.to(device), lengths.to(device))
