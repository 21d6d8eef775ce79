"""Heads, calibration and scope as nodes of a graph: embeddings to scores, verdict and votes."""

from dataclasses import dataclass

import numpy as np

from core.calibration.calibration import Calibration
from core.calibration.fence import NEAREST, FamiliarityMeasure, weights_of
from core.errors import InvalidInput
from core.graph.nodes import Nodes
from core.heads.base import Head
from core.heads.linear import LinearHead
from core.heads.mixture import MixtureHead
from core.heads.neighbours import NeighbourHead
from core.heads.perceptron import MlpHead
from core.heads.points import PointHead
from core.heads.votes.fit import VoteHead
from core.types import FloatArray, ScoreArray
from core.vectors import AnyRows

_LEAST = 1e-9


@dataclass(frozen=True, slots=True)
class Scored:
    """Names of what a head computes; a part that it has not is None.

    Attributes:
        scores: (texts, intents).
        kernel: Weight of each exemplar for a text, (texts, exemplars).
        weights: What an exemplar of weight one adds to each score, (exemplars, intents).
        voices: What names add to each score, (texts, intents).
    """

    scores: str
    kernel: str | None = None
    weights: ScoreArray | None = None
    voices: str | None = None


def add_cosines(nodes: Nodes, unit: str, points: FloatArray) -> str:
    """Add the cosines of texts to points, (points, d); (texts, points)."""
    product = nodes.add("MatMul", unit, nodes.floats(points.T))
    return nodes.add("Clip", product, nodes.floats(-1.0), nodes.floats(1.0))


def add_head(nodes: Nodes, unit: str, cosines: str, head: Head) -> Scored:
    """Add the scores of a head; `cosines` are those to the exemplars.

    Raises:
        InvalidInput: The head is of another kind.
    """
    match head:
        case MixtureHead():
            first = add_head(nodes, unit, cosines, head.first)
            points = _points(nodes, unit, head.names)
            voices = nodes.add("Mul", _kernel(nodes, points, head.taus), nodes.floats(head.weights))
            total = nodes.add("Add", first.scores, voices)
            return Scored(total, first.kernel, first.weights, voices)
        case VoteHead():
            kernel = _kernel(nodes, cosines, np.array(head.tau))
            sums = nodes.add("MatMul", kernel, nodes.floats(head.weights))
            scores = nodes.add("Add", sums, nodes.floats(head.prior))
            return Scored(scores, kernel, head.weights)
        case NeighbourHead():
            kernel = _nearest(nodes, cosines, min(head.k, len(head.exemplars)))
            scores = nodes.add("MatMul", kernel, nodes.floats(head.targets))
            return Scored(scores, kernel, head.targets)
        case PointHead():
            points = _points(nodes, unit, head)
            return Scored(points, voices=points if head.kind == "names" else None)
        case LinearHead():
            return Scored(_dense(nodes, unit, head.coefficients, head.intercepts))
        case MlpHead():
            inner = nodes.add("Relu", _dense(nodes, unit, head.inner, head.inner_offsets))
            outer = _dense(nodes, inner, head.outer, head.outer_offsets)
            return Scored(nodes.add("Sigmoid", outer))
        case _:
            raise InvalidInput(
                f"A head of kind '{head.kind}' cannot be exported as a graph.",
                "Export the usual bundle, which torch runs.",
            )


def _dense(nodes: Nodes, rows: str, weights: AnyRows, offsets: AnyRows) -> str:
    return nodes.add("Gemm", rows, nodes.floats(weights), nodes.floats(offsets))


def _kernel(nodes: Nodes, cosines: str, tau: ScoreArray) -> str:
    """Add exp((cosine - 1) / tau)."""
    below = nodes.add("Sub", cosines, nodes.floats(1.0))
    return nodes.add("Exp", nodes.add("Div", below, nodes.floats(tau)))


def _points(nodes: Nodes, unit: str, head: PointHead) -> str:
    """Add the cosine to each point, -1 without a point."""
    absent = ~head.points.any(1)
    cosines = add_cosines(nodes, unit, head.points)
    return nodes.add("Sub", cosines, nodes.floats(absent)) if absent.any() else cosines


def _nearest(nodes: Nodes, cosines: str, k: int) -> str:
    """Give each of the k nearest exemplars its cosine / k, all others 0."""
    values, places = f"{cosines}_largest", f"{cosines}_places"
    nodes.top(cosines, k, values, places)
    shares = nodes.add("Max", values, nodes.floats(_LEAST))
    shares = nodes.add("Div", shares, nodes.floats(float(k)))
    empty = nodes.add("Mul", cosines, nodes.floats(0.0))
    return nodes.add("ScatterElements", empty, places, shares, axis=1)


def add_probabilities(nodes: Nodes, scores: str, calibration: Calibration) -> str:
    """Add the probability of each intent, (texts, intents)."""
    temperature = nodes.floats(calibration.temperature)
    if calibration.task == "multi-label":
        moved = nodes.add("Sub", scores, nodes.floats(calibration.offset))
        return nodes.add("Sigmoid", nodes.add("Div", moved, temperature))
    return nodes.add("Softmax", nodes.add("Div", scores, temperature), axis=1)


def add_familiarity(
    nodes: Nodes, unit: str, cosines: str, scores: str, measure: FamiliarityMeasure | None
) -> str:
    """Add how familiar texts are, (texts,): the largest score, or what a fence measures."""
    largest = nodes.add("ReduceMax", scores, axes=[1], keepdims=1)
    if measure is None:
        return nodes.add("Squeeze", largest, nodes.whole(1))
    weights, fence = weights_of(measure.fence.method), measure.fence
    total: str | None = None
    for at in np.flatnonzero(weights):
        signal = largest
        if at:
            signal = _near(nodes, cosines, measure) if at == 1 else _away(nodes, unit, measure)
        moved = nodes.add("Sub", signal, nodes.floats(fence.centre[at]))
        part = nodes.add("Mul", moved, nodes.floats(weights[at] / fence.scale[at]))
        total = part if total is None else nodes.add("Add", total, part)
    return nodes.add("Squeeze", total or largest, nodes.whole(1))


def _near(nodes: Nodes, cosines: str, measure: FamiliarityMeasure) -> str:
    """Add the mean cosine of the nearest exemplars, (texts, 1)."""
    values = f"{cosines}_nearest"
    nodes.top(cosines, min(NEAREST, len(measure.shapes.unit)), values, f"{values}_places")
    return nodes.add("ReduceMean", values, axes=[1], keepdims=1)


def _away(nodes: Nodes, unit: str, measure: FamiliarityMeasure) -> str:
    """Add minus the Mahalanobis distance to the nearest intent, (texts, 1).

    With P = L L', it is the length of (x - mean) L: no difference of large numbers in float32.
    """
    shapes = measure.shapes
    means = shapes.means[shapes.targets.sum(0) > 0]
    root = np.linalg.cholesky(shapes.precision)
    turned = nodes.add("MatMul", unit, nodes.floats(root))
    apart = nodes.add(
        "Sub", nodes.add("Unsqueeze", turned, nodes.whole(1)), nodes.floats(means @ root)
    )
    lengths = nodes.add("ReduceL2", apart, axes=[2], keepdims=0)
    return nodes.add("Neg", nodes.add("ReduceMin", lengths, axes=[1], keepdims=1))
