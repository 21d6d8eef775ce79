"""One ONNX graph of a pipeline: token ids and mask to scores, probabilities, verdict and votes.

    input_ids, attention_mask   (texts, tokens) int64
    embeddings                  (texts, dim) float32, of length one
    cosines                     (texts, exemplars), to the exemplars
    scores, probabilities       (texts, intents)
    voices                      (texts, intents): the part of a score that names gave, if they speak
    familiarity                 (texts,): what is compared with the threshold
    in_scope                    (texts,) bool; with several intents (texts, intents)
    votes                       (texts, exemplars), on the intent with the highest score; with
                                several intents (texts, intents, exemplars); if exemplars vote

Votes, the intent's prior and its voice sum to its score.
"""

from typing import Literal

from onnx import ModelProto, TensorProto

from core.graph.encoder import IDS, MASK, add_encoder, graph_source
from core.graph.nodes import Nodes
from core.graph.scores import Scored, add_cosines, add_familiarity, add_head, add_probabilities
from core.pipeline import IntentPipeline

GraphPrecision = Literal["float32", "int8"]
"""Number format of the products of the encoder's layers."""


def build_graph(pipeline: IntentPipeline, precision: GraphPrecision = "float32") -> ModelProto:
    """Write a pipeline as one graph; equal pipelines give equal bytes.

    Raises:
        InvalidInput: The encoder or the head is of a kind that cannot be exported.
    """
    source = graph_source(pipeline.encoder)
    nodes = Nodes(eight_bits=precision == "int8")
    unit = add_encoder(nodes, source)
    cosines = add_cosines(nodes, unit, pipeline.embeddings)
    scored = add_head(nodes, unit, cosines, pipeline.head)
    dim, n_exemplars, n_intents = pipeline.encoder.dim, *_counts(pipeline)
    nodes.give(unit, "embeddings", ["texts", dim], TensorProto.FLOAT)
    nodes.give(cosines, "cosines", ["texts", n_exemplars], TensorProto.FLOAT)
    nodes.give(scored.scores, "scores", ["texts", n_intents], TensorProto.FLOAT)
    shares = add_probabilities(nodes, scored.scores, pipeline.calibration)
    nodes.give(shares, "probabilities", ["texts", n_intents], TensorProto.FLOAT)
    if scored.voices is not None:
        nodes.give(scored.voices, "voices", ["texts", n_intents], TensorProto.FLOAT)
    _give_verdict(nodes, pipeline, (unit, cosines), scored)
    return nodes.model([IDS, MASK], {"precision": precision})


def _give_verdict(
    nodes: Nodes, pipeline: IntentPipeline, told: tuple[str, str], scored: Scored
) -> None:
    """Add familiarity, scope and votes."""
    n_exemplars, n_intents = _counts(pipeline)
    calibration = pipeline.calibration
    limits = nodes.floats(calibration.limits(n_intents))
    best = nodes.add("ArgMax", scored.scores, axis=1, keepdims=0)
    measure = calibration.familiarity_measure
    familiar = add_familiarity(nodes, *told, scored.scores, measure)
    nodes.give(familiar, "familiarity", ["texts"], TensorProto.FLOAT)
    several = pipeline.task == "multi-label"
    held = scored.scores if several else familiar
    asked = limits if several else nodes.add("Gather", limits, best, axis=0)
    inside = nodes.add("GreaterOrEqual", held, asked)
    shape: list[str | int] = ["texts", n_intents]
    nodes.give(inside, "in_scope", shape[: 1 + several], TensorProto.BOOL)
    if scored.kernel is not None and scored.weights is not None:
        by_intent = nodes.floats(scored.weights.T)
        kernel = scored.kernel
        if several:
            kernel = nodes.add("Unsqueeze", kernel, nodes.whole(1))
        else:
            by_intent, shape = nodes.add("Gather", by_intent, best, axis=0), ["texts"]
        votes = nodes.add("Mul", kernel, by_intent)
        nodes.give(votes, "votes", [*shape, n_exemplars], TensorProto.FLOAT)


def _counts(pipeline: IntentPipeline) -> tuple[int, int]:
    return len(pipeline.exemplars), len(pipeline.head.intents)
