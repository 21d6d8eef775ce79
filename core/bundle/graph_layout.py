"""A pipeline as a folder of one graph; `core/runtime/files.py` lists its files."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from core.bundle.facts import ONNX, RUNTIME, write_json
from core.bundle.layout import write_labels
from core.encoders.convert.encoder import ConvertEncoder
from core.graph.build import GraphPrecision, build_graph
from core.graph.encoder import graph_source
from core.pipeline import IntentPipeline
from core.runtime.comparing import MOST_ANSWERS, write_answers
from core.runtime.files import DECISION, MODEL, decision_to_json
from core.runtime.tokens import SUBWORDS, TOKENIZER, subwords_to_json


def save_graph(
    pipeline: IntentPipeline, facts: Mapping[str, Any], folder: Path, precision: GraphPrecision
) -> None:
    """Write a pipeline as one graph; equal pipelines write equal bytes.

    Raises:
        InvalidInput: The encoder or the head is of a kind that cannot be exported.
    """
    folder.mkdir(parents=True, exist_ok=True)
    source = graph_source(pipeline.encoder)
    model = build_graph(pipeline, precision)
    (folder / MODEL).write_bytes(model.SerializeToString(deterministic=True))
    if isinstance(source, ConvertEncoder):
        (folder / SUBWORDS).write_bytes(subwords_to_json(source.model.subwords))
    else:
        (folder / TOKENIZER).write_bytes(source.encoder.files.small[TOKENIZER])
    decision = decision_to_json(pipeline.decider, pipeline.encoder.max_tokens, precision)
    (folder / DECISION).write_text(json.dumps(decision, ensure_ascii=False) + "\n", "utf-8")
    write_labels(folder, pipeline)
    write_json(folder / "facts.json", {**facts, RUNTIME: ONNX, "precision": precision})


def keep_stored_answers(pipeline: IntentPipeline, texts: Sequence[str], folder: Path) -> None:
    """Store what a pipeline answers to at most 200 texts, taken evenly from these."""
    distinct = list(dict.fromkeys(texts))
    count = min(len(distinct), MOST_ANSWERS)
    chosen = [distinct[at * len(distinct) // count] for at in range(count)]
    write_answers(folder, pipeline.predict(chosen))
