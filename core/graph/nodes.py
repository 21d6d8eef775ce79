"""The nodes of an ONNX graph, written one after another; equal calls give equal bytes."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, ValueInfoProto, checker, helper, numpy_helper

OPSET = 17
"""The first set of operators with layer norms; ONNX Runtime, Triton and OpenVINO run it."""

_IR_VERSION = 8
_MOST = 127
"""Largest whole number that stands for a number of a token."""
_ZERO = 128
_WEIGHT_MOST = 63
"""The same of a weight. Processors without instructions for 8 bits add two products in 16 bits:
two of 255 x 127 do not fit, two of 255 x 63 do."""


@dataclass(slots=True)
class Nodes:
    """A graph that grows; methods return the name of what they compute.

    Attributes:
        eight_bits: Whether `linear` multiplies in 8 bits.
        rounded: Rows that were rounded for it, and their steps.
    """

    eight_bits: bool = False
    made: list[NodeProto] = field(default_factory=list)
    constants: dict[str, TensorProto] = field(default_factory=dict)
    outputs: list[ValueInfoProto] = field(default_factory=list)
    rounded: dict[str, tuple[str, str]] = field(default_factory=dict)

    def add(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """Add a node with one output."""
        name = f"{kind.lower()}_{len(self.made)}"
        self.made.append(helper.make_node(kind, inputs, [name], name=name, **attributes))
        return name

    def top(self, value: str, k: int, values: str, places: str) -> None:
        """Name the k largest values of each row, falling, and their columns."""
        inputs = [value, self.whole(k)]
        self.made.append(helper.make_node("TopK", inputs, [values, places], name=values, axis=1))

    def floats(self, values: Any) -> str:
        """Add a constant in float32."""
        return self._constant(np.asarray(values, dtype=np.float32))

    def whole(self, *values: int) -> str:
        """Add a row of whole numbers as a constant, (n,) int64."""
        return self._constant(np.array(values, dtype=np.int64))

    def _constant(self, array: "np.ndarray[Any, Any]") -> str:
        name = f"constant_{len(self.constants)}"
        self.constants[name] = numpy_helper.from_array(np.ascontiguousarray(array), name)
        return name

    def linear(self, rows: str, weight: Any, bias: Any, least: float | None = None) -> str:
        """Multiply (rows, inputs) by weights (outputs, inputs), and add (outputs,).

        `least` is a number below which no input can be, where that is known.
        """
        if not self.eight_bits:
            turned = np.asarray(weight, dtype=np.float32).T
            return self.add("Gemm", rows, self.floats(turned), self.floats(bias))
        restored, step = self._rounded(rows, least)
        return self._in_eight_bits(restored, step, np.asarray(weight, dtype=np.float64), bias)

    def _in_eight_bits(
        self, restored: str, step: str, weight: "np.ndarray[Any, Any]", bias: Any
    ) -> str:
        """Round weights by output; multiply rounded rows by them, and add a bias."""
        steps = np.maximum(np.abs(weight).max(1), 1e-12) / _WEIGHT_MOST
        small = np.round(weight / steps[:, None]).astype(np.int8).T
        no_shift = self._constant(np.zeros(len(steps), dtype=np.int8))
        weights = (self._constant(small), self.floats(steps), no_shift)
        product = self.add("MatMul", restored, self.add("DequantizeLinear", *weights, axis=1))
        return self.add("Add", self.add("Mul", product, step), self.floats(bias))

    def _rounded(self, rows: str, least: float | None) -> tuple[str, str]:
        """Round each token by its own largest number; return whole numbers and steps, (rows, 1).

        A scale for each token needs no texts to be fitted on, and a text's answer does not depend
        on the others of its batch, as with one scale for a batch. The largest number is searched
        for in place, so that no copy of the rows is written for it.
        """
        if rows not in self.rounded:
            most = self.add("ReduceMax", rows, axes=[1], keepdims=1)
            below = self.floats(1e-12 if least is None else -least)
            if least is None:
                lowest = self.add("ReduceMin", rows, axes=[1], keepdims=1)
                below = self.add("Max", self.add("Neg", lowest), below)
            step = self.add("Mul", self.add("Max", most, below), self.floats(1 / _MOST))
            # A pair that rounds and restores is what runtimes replace by one product in 8 bits. A
            # step for each token in it would divide, too, but OpenVINO does not run that.
            scale, zero = self.floats(1.0), self._constant(np.array(_ZERO, dtype=np.uint8))
            whole = self.add("QuantizeLinear", self.add("Div", rows, step), scale, zero)
            self.rounded[rows] = self.add("DequantizeLinear", whole, scale, zero), step
        return self.rounded[rows]

    def norm(self, rows: str, weight: Any, bias: Any, epsilon: float) -> str:
        """Apply a layer norm over the last axis."""
        scale, offset = self.floats(weight), self.floats(bias)
        return self.add("LayerNormalization", rows, scale, offset, axis=-1, epsilon=epsilon)

    def gelu(self, rows: str) -> str:
        """Apply the exact GELU, in the form that ONNX Runtime replaces by one operator."""
        error = self.add("Erf", self.add("Div", rows, self.floats(2.0**0.5)))
        twice = self.add("Mul", rows, self.add("Add", error, self.floats(1.0)))
        return self.add("Mul", twice, self.floats(0.5))

    def unit(self, rows: str) -> str:
        """Scale rows to length one; zeros stay zeros."""
        length = self.add("ReduceL2", rows, axes=[1], keepdims=1)
        return self.add("Div", rows, self.add("Max", length, self.floats(1e-12)))

    def give(self, value: str, name: str, shape: Sequence[str | int], kind: int) -> None:
        """Make a value an output of the graph under a name of its own."""
        self.made.append(helper.make_node("Identity", [value], [name], name=f"give_{name}"))
        self.outputs.append(helper.make_tensor_value_info(name, kind, shape))

    def model(self, inputs: Sequence[str], facts: dict[str, str]) -> ModelProto:
        """Close the graph; inputs are whole numbers, (texts, tokens) int64."""
        given = [
            helper.make_tensor_value_info(name, TensorProto.INT64, ["texts", "tokens"])
            for name in inputs
        ]
        constants = list(self.constants.values())
        graph = helper.make_graph(self.made, "intents", given, self.outputs, constants)
        opsets = [helper.make_opsetid("", OPSET)]
        model = helper.make_model(
            graph, producer_name="intent-studio", opset_imports=opsets, ir_version=_IR_VERSION
        )
        helper.set_model_props(model, facts)
        checker.check_model(model)
        return model
