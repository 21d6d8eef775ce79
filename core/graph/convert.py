"""ConveRT as nodes of a graph (Henderson et al. 2020, section 2): subword ids to embeddings."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from onnx import TensorProto

from core.encoders.convert.model import ConvertModel
from core.encoders.convert.sizes import Sizes
from core.graph.nodes import Nodes

_NOWHERE = -1e9
"""Added to the attention of a place without a token, or out of reach."""
_STEEP = 1.702
_LEAST_GELU = -0.17
"""x sigmoid(1.702 x) gives nothing below this."""
_EPSILON = 1e-5


def add_convert(nodes: Nodes, model: ConvertModel, ids: str, mask: str) -> str:
    """Add the nodes from subword ids and mask to embeddings of length one, (texts, dim)."""
    network = model.network
    weights = {k: v.detach().cpu().numpy() for k, v in network.state_dict().items()}
    sizes = nodes.add("Shape", ids)
    length = nodes.add("Gather", sizes, nodes.whole(1), axis=0)
    present = nodes.add("Cast", mask, to=TensorProto.FLOAT)
    around = _Convert(nodes, weights, network.sizes, sizes, length, present)
    tokens = around.embedded(ids)
    for block, reach in enumerate(network.sizes.reach):
        tokens = around.block(tokens, f"blocks.{block}.", reach)
    reduced = around.reduced(tokens)
    if model.facts["embedding"] == "h":
        reduced = around.side(reduced, f"sides.{model.facts['side']}.")
    return nodes.unit(reduced)


@dataclass(frozen=True, slots=True)
class _Convert:
    """What all layers share; `shape` names (texts, tokens), `length` the number of tokens."""

    nodes: Nodes
    weights: dict[str, Any]
    sizes: Sizes
    shape: str
    length: str
    present: str

    def embedded(self, ids: str) -> str:
        """Look subwords up and add both positions; (texts x tokens, d)."""
        steps = np.arange(self.sizes.max_tokens)
        places = sum(
            self.weights[f"positions.{at}.weight"][steps % cycle]
            for at, cycle in enumerate(self.sizes.cycles)
        )
        words = self.nodes.add(
            "Gather", self.nodes.floats(self.weights["words.weight"]), ids, axis=0
        )
        summed = self.nodes.add("Add", words, self._until(self.nodes.floats(places), 0))
        return self.nodes.add("Reshape", summed, self.nodes.whole(-1, self.sizes.width))

    def block(self, tokens: str, name: str, reach: int) -> str:
        """Transform (texts x tokens, d)."""
        nodes = self.nodes
        mixed = self._linear(
            self._attend(tokens, f"{name}attention.", reach), f"{name}attention.mix"
        )
        tokens = self._norm(nodes.add("Add", tokens, mixed), f"{name}attention_norm")
        wide = self._gelu(self._linear(tokens, f"{name}up"))
        down = self._linear(wide, f"{name}down", _LEAST_GELU)
        return self._norm(nodes.add("Add", tokens, down), f"{name}output_norm")

    def reduced(self, tokens: str) -> str:
        """Sum the attention of present tokens over the root of their number; (texts, heads d)."""
        nodes, sizes = self.nodes, self.sizes
        weight = self.weights["reduction.queries_keys.weight"]
        parts = np.split(weight, 2 * sizes.heads)
        biases = np.split(self.weights["reduction.queries_keys.bias"], 2 * sizes.heads)
        missing = nodes.add("Sub", nodes.floats(1.0), self.present)
        hidden = nodes.add(
            "Unsqueeze", nodes.add("Mul", missing, nodes.floats(_NOWHERE)), nodes.whole(1)
        )
        root = nodes.add("Sqrt", nodes.add("ReduceSum", self.present, nodes.whole(1), keepdims=1))
        counted = nodes.add("Unsqueeze", nodes.add("Div", self.present, root), nodes.whole(1))
        grid = self._grid(tokens, sizes.width)
        found = []
        for head in range(sizes.heads):
            query, key = (
                self._grid(
                    nodes.linear(tokens, parts[at] * scale, biases[at] * scale), sizes.projection
                )
                for at, scale in ((2 * head, sizes.projection**-0.5), (2 * head + 1, 1.0))
            )
            weights = self._softmax(query, key, hidden)
            rows = nodes.add("MatMul", nodes.add("MatMul", counted, weights), grid)
            found.append(nodes.add("Squeeze", rows, nodes.whole(1)))
        return nodes.add("Concat", *found, axis=1)

    def side(self, reduced: str, name: str) -> str:
        """Map `r` by feed-forward 2; (texts, heads d) to (texts, output), not yet of length one."""
        for layer in range(self.sizes.layers):
            wide = self._gelu(self._linear(reduced, f"{name}layers.{layer}"))
            reduced = self._norm(self.nodes.add("Add", reduced, wide), f"{name}norms.{layer}")
        return self._linear(reduced, f"{name}final")

    def _attend(self, tokens: str, name: str, reach: int) -> str:
        """Attend within a reach; (texts x tokens, d) to (texts x tokens, p)."""
        nodes, width = self.nodes, self.sizes.projection
        weights = np.split(self.weights[f"{name}queries_keys_values.weight"], 3)
        biases = np.split(self.weights[f"{name}queries_keys_values.bias"], 3)
        query, key, value = (
            self._grid(nodes.linear(tokens, weight * scale, bias * scale), width)
            for weight, bias, scale in zip(weights, biases, (width**-0.5, 1.0, 1.0), strict=True)
        )
        shares = self._softmax(query, key, self._near(self.weights[f"{name}bias"], reach))
        return nodes.add("Reshape", nodes.add("MatMul", shares, value), nodes.whole(-1, width))

    def _near(self, bias: Any, reach: int) -> str:
        """Add what attention within a reach starts from, (texts, tokens, tokens)."""
        nodes, steps = self.nodes, np.arange(self.sizes.max_tokens)
        apart = steps[None] - steps[:, None]
        start = np.where(
            np.abs(apart) <= reach, bias[np.clip(apart, -reach, reach) + reach], _NOWHERE
        )
        # A token always attends to itself; otherwise a row of padding would divide by zero.
        others = np.where(apart == 0, 0.0, _NOWHERE)
        square = [self._until(self._until(nodes.floats(one), 0), 1) for one in (start, others)]
        missing = nodes.add("Sub", nodes.floats(1.0), self.present)
        hidden = nodes.add("Mul", nodes.add("Unsqueeze", missing, nodes.whole(1)), square[1])
        return nodes.add("Add", hidden, square[0])

    def _softmax(self, query: str, key: str, start: str) -> str:
        turned = self.nodes.add("Transpose", key, perm=[0, 2, 1])
        scores = self.nodes.add("Add", self.nodes.add("MatMul", query, turned), start)
        return self.nodes.add("Softmax", scores, axis=-1)

    def _until(self, value: str, axis: int) -> str:
        """Cut a table for the longest texts to the length of these."""
        nodes = self.nodes
        return nodes.add("Slice", value, nodes.whole(0), self.length, nodes.whole(axis))

    def _grid(self, rows: str, width: int) -> str:
        """Turn (texts x tokens, width) into (texts, tokens, width)."""
        shape = self.nodes.add("Concat", self.shape, self.nodes.whole(width), axis=0)
        return self.nodes.add("Reshape", rows, shape)

    def _gelu(self, rows: str) -> str:
        steep = self.nodes.add("Mul", rows, self.nodes.floats(_STEEP))
        return self.nodes.add("Mul", rows, self.nodes.add("Sigmoid", steep))

    def _linear(self, rows: str, name: str, least: float | None = None) -> str:
        weights = self.weights
        return self.nodes.linear(rows, weights[f"{name}.weight"], weights[f"{name}.bias"], least)

    def _norm(self, rows: str, name: str) -> str:
        weights = self.weights
        return self.nodes.norm(rows, weights[f"{name}.weight"], weights[f"{name}.bias"], _EPSILON)
