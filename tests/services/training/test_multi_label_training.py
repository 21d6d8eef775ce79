"""A project whose utterances carry several intents or none is trained and judged as such."""

import json
from pathlib import Path

import pytest

from app.services.answering.stored import load_model
from app.services.data.importing import ImportRequest, import_file
from app.services.data.projects import create_project
from app.services.studio import Studio
from app.services.training.choices import training_choices
from app.services.training.runs import TrainingRequest, start_training
from core.errors import InvalidInput
from core.recipes.read import task_defaults
from storage import models, projects
from storage.log import edits, events
from storage.log.events import Action
from storage.queries import dataset
from tests.builders.trained_home import do, opened

ROWS: list[tuple[str, list[str], str]] = [
    ("cancel my card", ["cancel", "card"], "train"),
    ("please cancel the card", ["cancel", "card"], "train"),
    ("cancel it", ["cancel"], "train"),
    ("I want to cancel", ["cancel"], "train"),
    ("my card is here", ["card"], "train"),
    ("where is the card", ["card"], "train"),
    ("john smith", [], "train"),
    ("on monday at ten", [], "train"),
    ("cancel the card now", ["cancel", "card"], "test"),
    ("the third of may", [], "test"),
]


@pytest.fixture
def project(tmp_path: Path) -> Studio:
    studio = opened(tmp_path / "home")
    create_project(studio, "p", "multi-label")
    keys = ("text", "intents", "split")
    lines = [json.dumps(dict(zip(keys, row, strict=True))) for row in ROWS]
    (tmp_path / "rows.jsonl").write_text("\n".join(lines), encoding="utf-8")
    import_file(studio, ImportRequest("p", tmp_path / "rows.jsonl"))
    yield studio
    studio.database.close()


def test_texts_without_intent_are_learned_from_and_judged(project: Studio, tiny_path: Path) -> None:
    request = TrainingRequest("p", "convfit", {"epochs": 2, "frozen_layers": 1}, str(tiny_path))
    job = start_training(project, request)
    stored = job.payload["recipe"]
    defaults = task_defaults("convfit", "multi-label") | request.settings
    assert {name: stored[name] for name in defaults} == defaults
    done = do(project, job.id)
    assert done.state == "succeeded", done
    with project.database.read() as connection:
        made = models.find(connection, projects.find(connection, "p").id, 1)
    assert made.lineage["n_exemplars"] == 8
    metrics = made.metrics
    assert (metrics["n"], metrics["n_without_intent"]) == (2, 1)
    assert metrics["task"] == "multi-label"
    assert {row["intent"] for row in metrics["per_intent"]} == {"cancel", "card"}
    pipeline = load_model(project, "p@1")
    assert pipeline.task == "multi-label"
    known = pipeline.predict(["Cancel my card!", "John Smith"])
    assert [set(answer.decision.intents) for answer in known] == [{"cancel", "card"}, set()]
    assert [answer.decision.rule for answer in known] == ["exact", "exact"]


def test_without_a_test_split_the_honest_answers_are_judged(
    project: Studio, tiny_path: Path
) -> None:
    job = start_training(project, TrainingRequest("p", "instant", {}, str(tiny_path)))
    with project.database.write() as connection:
        found = projects.find(connection, "p")
        rows = [r for r in dataset.utterances(connection, found.id) if r.split == "test"]
        split_changes = [edits.edit(row, "split", "pool") for row in rows]
        events.record(connection, found.id, Action("edit", "local"), split_changes)
    again = start_training(project, TrainingRequest("p", "instant", {}, str(tiny_path)))
    assert do(project, job.id).state == do(project, again.id).state == "succeeded"
    with project.database.read() as connection:
        made = models.find(connection, projects.find(connection, "p").id, 2)
    assert made.metrics["n"] == 8
    assert made.metrics["n_without_intent"] == 2
    assert "cross-validation" in made.metrics["judged_on"]


def test_one_text_of_two_intents_is_too_little_to_train_on(studio: Studio, tmp_path: Path) -> None:
    """Quick was offered, and failed: “1 labelled utterances cannot be divided into 1 folds”."""
    create_project(studio, "p", "multi-label")
    row = {"text": "cancel my card", "intents": ["cancel", "card"]}
    (tmp_path / "row.jsonl").write_text(json.dumps(row), encoding="utf-8")
    import_file(studio, ImportRequest("p", tmp_path / "row.jsonl"))
    said = "has 1 labelled text to train on; training needs two"
    with pytest.raises(InvalidInput, match=said):
        start_training(studio, TrainingRequest("p", "instant", {}))
    quick, best, *_ = training_choices(studio, "p").choices
    assert said in quick.why_not
    assert said in best.why_not
