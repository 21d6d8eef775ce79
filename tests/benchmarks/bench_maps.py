"""Time and memory of the map of 50,000 texts, without encoding them."""

import json
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from app.bootstrap import open_studio
from app.services.answering.opened import Opened, find_space
from app.services.live.live_studio import open_live_studio
from app.services.maps.requests import compare_maps, map_colours, map_points
from app.services.studio import Studio
from app.settings import Settings
from core.benchmarks.inputs import peak_mb
from core.calibration.calibration import Calibration
from core.heads.votes.fit import fit_votes
from core.maps.layouts import pca_layout
from core.pipeline import IntentPipeline
from core.text import text_hash
from core.types import Exemplar, FloatArray
from core.vectors import unit_rows
from storage import models, projects
from storage.computed import vectors
from storage.log import edits, events
from storage.log.events import Action
from storage.queries import dataset

POINTS, DIM, INTENTS, SHOTS = 50_000, 384, 77, 10
ROUNDS = 3
WAYS = ("intent", "prediction", "agreement", "split", "time", "label state")


def run() -> int:
    """Print seconds cold, warm, and after a label, and the peak of memory."""
    with tempfile.TemporaryDirectory() as folder:
        studio = open_studio(Settings(home=Path(folder)))
        _prepare(studio)
        figures = {"points": POINTS, **_measure(studio)}
        studio.database.close()
    sys.stdout.write(json.dumps({**figures, "peak_mb": round(peak_mb())}) + "\n")
    return 0


def _measure(studio: Studio) -> dict[str, object]:
    rows = _embeddings()
    pca = min(_seconds(lambda: pca_layout(rows)) for _ in range(ROUNDS))
    cold_map = _seconds(lambda: map_points(studio, "p", 1))
    ids = map_points(studio, "p", 1).ids
    live_studio = open_live_studio(studio)
    cold = {by: _seconds(lambda by=by: map_colours(live_studio, "p", 1, by, ids)) for by in WAYS}
    _label_one(studio, ids[0])
    after_label = _seconds(lambda: map_colours(live_studio, "p", 1, "agreement", ids))
    warm = {by: _warm(lambda by=by: map_colours(live_studio, "p", 1, by, ids)) for by in WAYS}
    return {
        "pca_seconds": pca,
        "map_seconds_cold": cold_map,
        "map_seconds_warm": _warm(lambda: map_points(studio, "p", 1)),
        "colours_seconds_cold": cold,
        "colours_seconds_after_a_label": after_label,
        "colours_seconds_warm": warm,
        "compare_seconds": _seconds(lambda: compare_maps(studio, "p", 1, 2)),
    }


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return round(time.perf_counter() - began, 3)


def _warm(work: Callable[[], object]) -> float:
    return max(_seconds(work) for _ in range(ROUNDS))


def _embeddings(seed: int = 0) -> FloatArray:
    """Directions around one centre for each intent."""
    generator = np.random.default_rng(seed)
    rows = generator.standard_normal((POINTS, DIM), dtype=np.float32)
    rows += generator.standard_normal((INTENTS, DIM), dtype=np.float32)[np.arange(POINTS) % INTENTS]
    return unit_rows(rows)


def _prepare(studio: Studio) -> None:
    """Write texts, labels, two model versions and their embeddings."""
    intents = [edits.create_intent(f"intent {at}", position=at) for at in range(INTENTS)]
    texts = [f"text {at}" for at in range(POINTS)]
    made = (
        edits.create_utterance(
            f"u{at:05}", text, "train", "f", [intents[at % INTENTS].subject_id] if at % 3 else None
        )
        for at, text in enumerate(texts)
    )
    with studio.database.write() as connection:
        project = projects.create(connection, "p")
        for changes in (intents, made):
            events.record(connection, project.id, Action("import", "local"), changes)
    for number in (1, 2):
        _add_version(studio, number, texts)


def _add_version(studio: Studio, number: int, texts: list[str]) -> None:
    """Add a model version whose pipeline is in the cache, where a loaded one would be."""
    rows, encoder = _embeddings(number), _Silent(f"version {number}")
    shown = INTENTS * SHOTS
    names = tuple(f"intent {at}" for at in range(INTENTS))
    head = fit_votes(rows[:shown], np.eye(INTENTS)[np.arange(shown) % INTENTS], names, 0.3, 0.1)
    exemplars = tuple(Exemplar(str(at), texts[at], (names[at % INTENTS],)) for at in range(shown))
    calibration = Calibration(1.0, 0.1, 0.05)
    pipeline = IntentPipeline(encoder, head, calibration, exemplars, head.exemplars)
    with studio.database.write() as connection:
        project = projects.find(connection, "p")
        values = {"project_id": project.id, "tree_sha256": f"t{number}", "job_id": None}
        values |= {"dataset_version_id": None, "lineage": {}, "metrics": {}, "pins": {}}
        models.add(connection, values)
        by_hash = dict(zip(map(text_hash, texts), rows, strict=True))
        vectors.put_many(connection, encoder.fingerprint, by_hash)
        space = find_space(connection, "p", number)
    studio.cache.get(("space", *space.key, "cpu"), lambda: Opened(encoder, pipeline), lambda _: 0)


@dataclass(frozen=True)
class _Silent:
    """An encoder that never has to encode: all embeddings are known."""

    fingerprint: str
    dim: int = DIM


def _label_one(studio: Studio, key: str) -> None:
    with studio.database.write() as connection:
        project = projects.find(connection, "p")
        row = dataset.utterance_by_id(connection, project.id, key)
        labels = [dataset.intents(connection, project.id)[0].id]
        change = edits.label(row, labels if row.labels is None else None)
        events.record(connection, project.id, Action("label", "local"), [change])


if __name__ == "__main__":
    sys.exit(run())
