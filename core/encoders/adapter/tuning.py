"""An adapter opened for tuning; the encoder around it is frozen."""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

import torch
from torch import Tensor, nn

from core.encoders.adapter.encoder import (
    AdaptedEncoder,
    PlainEncoder,
    adapt,
    layers_below,
    merge,
    open_network,
    places_in,
)
from core.encoders.adapter.layers import Adapter, insert, new_adapter
from core.encoders.base import AdapterOptions, TuningOptions
from core.encoders.general.encoder import GeneralEncoder, transformer_of
from core.encoders.general.tuning import GeneralTuning
from core.encoders.packed.encoder import TransformerEncoder
from core.encoders.packed.tuning import EncoderTuning, PackedHalves, PackedParts, compute_prefix
from core.errors import InvalidInput

# The adapter's last layers: a factor on them is a factor on what the adapter adds.
_LAST = (".up.weight", ".up.bias", ".B")


@dataclass(frozen=True, slots=True)
class _Opened:
    """An adapter in a base; `is_new` unless the encoder had it, `merges` if it ends in the weights.

    `parameters` are what training changes, by the names of the adapter's weights.
    """

    base: PlainEncoder
    adapter: Adapter
    is_new: bool
    merges: bool
    parameters: Mapping[str, nn.Parameter]


class AdapterTuning(nn.Module):
    """Embeds rows of a fixed list of texts, with gradients for the adapter only."""

    def __init__(self, opened: _Opened, inner: EncoderTuning | GeneralTuning) -> None:
        super().__init__()
        self.opened = opened
        self.inner = inner

    @property
    def device(self) -> torch.device:
        """Device of the computation."""
        return self.inner.device

    def forward(self, rows: Tensor) -> Tensor:
        """Embed texts by their row numbers; (b,) int64 to (b, dim), not of length one."""
        embedded: Tensor = self.inner(rows)
        return embedded

    def trainable(self) -> list[tuple[str, nn.Parameter]]:
        """Names and parameters that training may change, in a fixed order."""
        # Places are numbered, because a name with "norm" in it is exempt from weight decay.
        number = {place: at for at, place in enumerate(self.opened.adapter.places)}
        named = []
        for name, parameter in self.opened.parameters.items():
            place = next(place for place in number if name.startswith(f"{place}."))
            named.append((f"adapter.{number[place]}{name.removeprefix(place)}", parameter))
        return named

    def alongside(self, texts: Sequence[str]) -> "AdapterTuning":
        """Open the same weights, still in training, on other texts."""
        return AdapterTuning(self.opened, self.inner.alongside(texts))

    def in_parts(self) -> PackedHalves | None:
        """Open the network for parts of batches; None where it must embed them as a whole."""
        return self.inner.in_parts() if isinstance(self.inner, EncoderTuning) else None

    @torch.no_grad()
    def finish(self, interpolation: float = 1.0) -> PlainEncoder | AdaptedEncoder:
        """Return the base with its adapter, separate or merged; 0 is untuned, 1 is tuned."""
        opened = self.opened
        weights = {}
        for name, parameter in opened.parameters.items():
            value = parameter.detach().cpu()
            if not opened.is_new:
                value = opened.adapter.weights[name].lerp(value, interpolation)
            elif name.endswith(_LAST):
                value = value * interpolation
            weights[name] = value.clone()
        adapter = replace(opened.adapter, weights=weights)
        return merge(opened.base, adapter) if opened.merges else adapt(opened.base, adapter)


def open_adapter(
    encoder: PlainEncoder | AdaptedEncoder,
    texts: Sequence[str],
    options: TuningOptions,
    wanted: AdapterOptions,
) -> AdapterTuning:
    """Put an adapter into an encoder, or continue with its own; InvalidInput for another kind."""
    if isinstance(encoder, AdaptedEncoder):
        base, adapter = encoder.base, encoder.adapter
        if adapter.kind != wanted.kind:
            raise InvalidInput(
                f"This encoder has a {adapter.kind} adapter, not a {wanted.kind} one.",
                f"Set adapter={adapter.kind}, or choose another base encoder.",
            )
        options = replace(options, frozen_layers=layers_below(base, adapter))
    else:
        base = encoder
        places = places_in(base, wanted.kind, options.frozen_layers)
        _, root = open_network(base)
        adapter = new_adapter(root, places, wanted, options.seed)
    network, root = _network_on(base, options.device)
    parameters = insert(root, adapter)
    merges = wanted.merge and adapter.kind == "lora"
    opened = _Opened(base, adapter, base is encoder, merges, parameters)
    if isinstance(base, TransformerEncoder) and isinstance(network, TransformerEncoder):
        return AdapterTuning(opened, _packed(base, network, texts, options))
    return AdapterTuning(opened, _general(network, texts, options))


def _network_on(base: PlainEncoder, device: str) -> tuple[PlainEncoder, nn.Module]:
    """Open a base on a device; another device than the base's needs a copy of the tensors."""
    model = base.bert if isinstance(base, TransformerEncoder) else base.model
    if torch.device(device) == next(model.parameters()).device:
        return open_network(base)
    if isinstance(base, TransformerEncoder):
        bert = copy.deepcopy(base.bert).to(device)
        return replace(base, bert=bert), bert
    moved = copy.deepcopy(base.model).to(device)
    return replace(base, model=moved), transformer_of(moved)


def _packed(
    base: TransformerEncoder,
    network: TransformerEncoder,
    texts: Sequence[str],
    options: TuningOptions,
) -> EncoderTuning:
    """Open a packed BERT; the layers below the adapter run once, as in any tuning of it."""
    frozen = min(options.frozen_layers, len(network.bert.layers) - 1)
    ids = base.token_ids(texts, min(options.max_tokens, base.max_tokens))
    options = replace(options, frozen_layers=frozen)
    prefix = compute_prefix(base, ids, options)
    projection = copy.deepcopy(base.projection)
    if projection is not None:
        projection = projection.to(options.device)
    return EncoderTuning(base, PackedParts(network.bert, projection, prefix, options))


def _general(network: PlainEncoder, texts: Sequence[str], options: TuningOptions) -> GeneralTuning:
    general = cast("GeneralEncoder", network)
    return GeneralTuning(general, general.model, texts, options)
