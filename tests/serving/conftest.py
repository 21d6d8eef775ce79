"""A bundle with a graph of the tiny encoder."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from app.serving.limits import Serving
from app.serving.server import make_application
from core.bundle.archive import export_bundle
from core.bundle.graph_layout import save_graph
from core.encoders.packed.encoder import TransformerEncoder
from core.pipeline import IntentPipeline
from tests.core.bundle.test_bundle import FACTS, pipeline
from tests.core.bundle.test_graph import SMOOTH


@pytest.fixture(scope="session")
def made(tiny: TransformerEncoder) -> IntentPipeline:
    found = pipeline(tiny, SMOOTH)
    strict = replace(found.calibration, threshold=0.5)
    return replace(found, calibration=strict, model_version="p@3", dataset_version="2")


@pytest.fixture(scope="session")
def graph(made: IntentPipeline, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("served")
    facts = {**FACTS, "model_version": "p@3", "dataset_version": "2"}
    save_graph(made, facts, folder / "g", "float32")
    export_bundle(folder / "g", folder / "g.zip")
    return folder / "g.zip"


@pytest.fixture(scope="session")
def client(graph: Path) -> Iterator[TestClient]:
    serving = Serving(str(graph), threads=1, most_texts=80, most_signs=400, most_bytes=9_000)
    with TestClient(make_application(serving)) as found:
        yield found
