"""A pipeline that answers as it is told, and a project to ask it about."""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from app.services.data.projects import create_project
from app.services.studio import Studio
from app.services.versions.comparison import Contender
from core.bundle.layout import save_pipeline
from core.encoders.packed.encoder import TransformerEncoder
from core.pipeline import IntentPipeline
from core.recipes.labels import InstantRecipe
from core.training.events import drain
from core.training.from_labels.inputs import RunInputs
from core.training.from_labels.runs import run_recipe
from core.types import Decision, Exemplar, FloatArray, Intent, IntentScore, Prediction
from storage import models
from storage.artifacts import record_tree
from storage.log import edits, events, versions
from storage.log.events import Action
from storage.records import ProjectRecord
from tests.builders.tiny_encoder import HashingEncoder


@dataclass(frozen=True)
class StubPipeline:
    """Answers texts from a table; those not in it with `otherwise`."""

    answers: dict[str, str]
    otherwise: str = "refund"
    refused: frozenset[str] = frozenset()
    exemplars: tuple[Exemplar, ...] = ()
    exact: dict[str, tuple[str, ...]] = field(default_factory=dict)
    learned: frozenset[str] = frozenset()
    encoder: HashingEncoder = field(default_factory=HashingEncoder)
    embeddings: FloatArray = field(default_factory=lambda: np.zeros((1, 64), np.float32))

    def predict(self, texts: Sequence[str], embeddings: FloatArray) -> list[Prediction]:
        assert len(texts) == len(embeddings)
        return [self._answer(text) for text in texts]

    def _answer(self, text: str) -> Prediction:
        best = self.answers.get(text, self.otherwise)
        away = text in self.refused
        decision = Decision(() if away else (best,), "out-of-scope" if away else "votes", 0.0, 0.5)
        return Prediction(text, (IntentScore(best, 0.0, 0.5),), decision, ())


def contender(name: str, pipeline: StubPipeline, metrics: dict | None = None) -> Contender:
    return Contender(name, metrics or {}, lambda: pipeline)


def start(studio: Studio, tests: dict[str, str]) -> ProjectRecord:
    """Create the project "p" with two intents and a test split of text to intent, "" for none."""
    project = create_project(studio, "p")
    made = {name: edits.create_intent(name) for name in ("refund", "parcel")}
    rows = [
        edits.create_utterance(
            f"u{i:03}", text, "test", "f", [made[name].subject_id] if name else []
        )
        for i, (text, name) in enumerate(tests.items())
    ]
    with studio.database.write() as connection:
        events.record(connection, project.id, Action("import", "local"), [*made.values(), *rows])
        versions.cut(connection, project, "first")
    return project


def trained(encoder: TransformerEncoder, labels: dict[str, str]) -> IntentPipeline:
    """Fit the instant recipe on texts with their intents."""
    exemplars = tuple(Exemplar(f"e{i}", t, (name,)) for i, (t, name) in enumerate(labels.items()))
    intents = tuple(Intent(name) for name in sorted(set(labels.values())))
    run = run_recipe(InstantRecipe(), RunInputs(exemplars, intents, encoder))
    return drain(run, lambda event: None).pipeline


def store_model(studio: Studio, project: ProjectRecord, pipeline: IntentPipeline) -> int:
    """Add a pipeline as a model version; the first one becomes champion. Return its number."""
    with tempfile.TemporaryDirectory() as scratch:
        save_pipeline(pipeline, {}, Path(scratch))
        files = studio.artifacts.put_files(Path(scratch))
    with studio.database.write() as connection:
        values = {
            "project_id": project.id,
            "tree_sha256": record_tree(connection, studio.artifacts, files),
            "dataset_version_id": versions.find(connection, project.id, 1).id,
            "job_id": None,
            "lineage": {},
            "metrics": {},
            "pins": {},
        }
        made = models.add(connection, values)
        if made.number == 1:
            models.point(connection, made, "local")
    return made.number
