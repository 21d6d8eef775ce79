"""A BERT with mean pooling as nodes of a graph, with or without an adapter; or ConveRT."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from onnx import TensorProto

from core.encoders.adapter.encoder import AdaptedEncoder, merge
from core.encoders.base import Encoder
from core.encoders.convert.encoder import ConvertEncoder
from core.encoders.dual.encoder import utterances_side
from core.encoders.packed.encoder import TransformerEncoder
from core.errors import InvalidInput
from core.graph.convert import add_convert
from core.graph.nodes import Nodes

IDS, MASK = "input_ids", "attention_mask"
_NOWHERE = -1e9
"""Added to the attention of a place without a token."""
_LEAST_GELU = -0.17
"""GELU gives nothing below this."""


@dataclass(frozen=True, slots=True, eq=False)
class GraphSource:
    """The encoder that a graph computes, and the weights of bottlenecks behind its layers."""

    encoder: TransformerEncoder
    bottlenecks: dict[str, Any]


def graph_source(encoder: Encoder) -> GraphSource | ConvertEncoder:
    """Find what a graph of an encoder needs; of two encoders the one that reads utterances.

    Raises:
        InvalidInput: It is of a kind that no graph can be made of yet.
    """
    encoder = utterances_side(encoder)  # the names are embedded already
    if isinstance(encoder, ConvertEncoder):
        return encoder
    base, bottlenecks = encoder, {}
    if isinstance(encoder, AdaptedEncoder):
        base = encoder.base
        if encoder.adapter.kind == "lora":
            base = merge(encoder.base, encoder.adapter)
        else:
            bottlenecks = {name: value.numpy() for name, value in encoder.adapter.weights.items()}
    if not isinstance(base, TransformerEncoder):
        kind = type(base).__name__.removesuffix("Encoder")
        raise InvalidInput(
            "Only ConveRT and a BERT with mean pooling, with or without an adapter, can be "
            f"exported as one graph; this encoder is {kind}.",
            "Export the usual bundle, which torch runs, or train from the bundled encoder.",
        )
    return GraphSource(base, bottlenecks)


def add_encoder(nodes: Nodes, source: GraphSource | ConvertEncoder) -> str:
    """Add the nodes from token ids and mask to embeddings of length one, (texts, dim)."""
    if isinstance(source, ConvertEncoder):
        return add_convert(nodes, source.model, IDS, MASK)
    return _add_bert(nodes, source)


def _add_bert(nodes: Nodes, source: GraphSource) -> str:
    weights = {k: v.detach().cpu().numpy() for k, v in source.encoder.bert.state_dict().items()}
    weights |= source.bottlenecks
    shape = source.encoder.bert.shape
    sizes = nodes.add("Shape", IDS)
    mask = nodes.add("Cast", MASK, to=TensorProto.FLOAT)
    tokens = _embedded(nodes, weights, sizes, shape.layer_norm_eps)
    around = _Around(nodes, weights, sizes, _attention_bias(nodes, mask), shape.num_attention_heads)
    for layer in range(shape.num_hidden_layers):
        tokens = around.layer(tokens, f"layers.{layer}.", shape.layer_norm_eps)
    grid = nodes.add("Concat", sizes, nodes.whole(shape.hidden_size), axis=0)
    pooled = _mean(nodes, nodes.add("Reshape", tokens, grid), mask)
    projection = source.encoder.projection
    if projection is not None:
        values = [part.detach().cpu().numpy() for part in (projection.weight, projection.bias)]
        turned = nodes.floats(values[0].T)
        pooled = nodes.add("Tanh", nodes.add("Gemm", pooled, turned, nodes.floats(values[1])))
    return nodes.unit(pooled)


def _embedded(nodes: Nodes, weights: dict[str, Any], sizes: str, epsilon: float) -> str:
    """Look tokens up; (texts x tokens, d)."""
    places = weights["positions.weight"] + weights["types.weight"][0]
    length = nodes.add("Gather", sizes, nodes.whole(1), axis=0)
    steps = nodes.add("Slice", nodes.floats(places), nodes.whole(0), length, nodes.whole(0))
    words = nodes.add("Gather", nodes.floats(weights["words.weight"]), IDS, axis=0)
    summed = nodes.add("Add", words, steps)
    flat = nodes.add("Reshape", summed, nodes.whole(-1, places.shape[1]))
    return nodes.norm(flat, weights["norm.weight"], weights["norm.bias"], epsilon)


def _attention_bias(nodes: Nodes, mask: str) -> str:
    missing = nodes.add("Sub", nodes.floats(1.0), mask)
    wide = nodes.add("Unsqueeze", missing, nodes.whole(1, 2))
    return nodes.add("Mul", wide, nodes.floats(_NOWHERE))


def _mean(nodes: Nodes, grid: str, mask: str) -> str:
    """Average the tokens of each text; (texts, tokens, d) to (texts, d)."""
    row = nodes.add("Unsqueeze", mask, nodes.whole(1))
    sums = nodes.add("Squeeze", nodes.add("MatMul", row, grid), nodes.whole(1))
    counts = nodes.add("ReduceSum", mask, nodes.whole(1), keepdims=1)
    return nodes.add("Div", sums, counts)


@dataclass(frozen=True, slots=True)
class _Around:
    """What all layers share."""

    nodes: Nodes
    weights: dict[str, Any]
    sizes: str
    bias: str
    heads: int

    def layer(self, tokens: str, name: str, epsilon: float) -> str:
        """Transform (texts x tokens, d)."""
        nodes = self.nodes
        mixed = self._linear(self._attend(tokens, name), f"{name}mix")
        tokens = self._norm(nodes.add("Add", tokens, mixed), f"{name}attention_norm", epsilon)
        wide = nodes.gelu(self._linear(tokens, f"{name}up"))
        summed = nodes.add("Add", tokens, self._linear(wide, f"{name}down", _LEAST_GELU))
        normed = self._norm(summed, f"{name}output_norm", epsilon)
        if f"{name}output_norm.down.weight" not in self.weights:
            return normed
        narrow = nodes.add("Relu", self._linear(normed, f"{name}output_norm.down"))
        added = self._linear(narrow, f"{name}output_norm.up")
        return self._norm(nodes.add("Add", summed, added), f"{name}output_norm", epsilon)

    def _attend(self, tokens: str, name: str) -> str:
        nodes = self.nodes
        size = self.weights[f"{name}qkv.weight"].shape[1]
        shape = nodes.add("Concat", self.sizes, nodes.whole(self.heads, size // self.heads), axis=0)
        # The queries are divided by the root of a head's width once, here.
        scales = ((size // self.heads) ** -0.5, 1.0, 1.0)
        orders = ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3])  # keys are turned for the product
        query, key, value = (
            nodes.add("Transpose", nodes.add("Reshape", rows, shape), perm=order)
            for rows, order in zip(self._qkv(tokens, name, scales), orders, strict=True)
        )
        weights = nodes.add("Add", nodes.add("MatMul", query, key), self.bias)
        context = nodes.add("MatMul", nodes.add("Softmax", weights, axis=-1), value)
        rows = nodes.add("Transpose", context, perm=[0, 2, 1, 3])
        return nodes.add("Reshape", rows, nodes.whole(-1, size))

    def _qkv(self, tokens: str, name: str, scales: tuple[float, ...]) -> list[str]:
        """Multiply by the weights of queries, keys and values, each (texts x tokens, d)."""
        weights = np.split(self.weights[f"{name}qkv.weight"], 3)
        biases = np.split(self.weights[f"{name}qkv.bias"], 3)
        parts = zip(weights, biases, scales, strict=True)
        return [self.nodes.linear(tokens, w * scale, b * scale) for w, b, scale in parts]

    def _linear(self, rows: str, name: str, least: float | None = None) -> str:
        weights = self.weights
        return self.nodes.linear(rows, weights[f"{name}.weight"], weights[f"{name}.bias"], least)

    def _norm(self, rows: str, name: str, epsilon: float) -> str:
        weights = self.weights
        return self.nodes.norm(rows, weights[f"{name}.weight"], weights[f"{name}.bias"], epsilon)
