"""A graph beside the pipeline that it was made of: speed of the pipeline, and accuracy lost."""

import time
from collections.abc import Sequence
from pathlib import Path

from core.bundle.archive import export_bundle, open_bundle
from core.bundle.facts import read_facts
from core.bundle.graph_layout import save_graph
from core.bundle.layout import load_pipeline
from core.graph.build import GraphPrecision
from core.pipeline import IntentPipeline

_SECONDS = 10.0


def graph_of_bundle(bundle: Path, out: Path, precision: GraphPrecision) -> IntentPipeline:
    """Write the graph of a usual bundle as another bundle; return its pipeline.

    Raises:
        InvalidInput: It is a graph already, or none can be made of it.
    """
    with open_bundle(bundle) as (folder, _):
        pipeline = load_pipeline(folder)
        save_graph(pipeline, read_facts(folder), folder / "graph", precision)
        export_bundle(folder / "graph", out)
    return pipeline


def texts_per_second(pipeline: IntentPipeline, texts: Sequence[str], batch: int) -> float:
    """Answer texts in batches for ten seconds, with evidence; return texts a second."""
    pipeline.predict(texts[:batch])
    began, at, n = time.perf_counter(), 0, 0
    while time.perf_counter() - began < _SECONDS:
        n += len(pipeline.predict([texts[(at + k) % len(texts)] for k in range(batch)]))
        at += batch
    return n / (time.perf_counter() - began)


def accuracy_of(intents: Sequence[str], expected: Sequence[str]) -> float:
    """Return the percentage of texts whose highest ranked intent is the expected one."""
    right = sum(one == other for one, other in zip(intents, expected, strict=True))
    return 100.0 * right / max(len(expected), 1)
