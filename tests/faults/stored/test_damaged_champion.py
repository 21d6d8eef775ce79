"""The version in use is damaged: the server says so, and others can take its place."""

from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from app.services.labelling.decisions import Operation, decide
from app.services.studio import Studio
from app.services.training.runs import TrainingRequest
from app.services.versions.registry import promote
from storage import jobs, models
from storage.queries import dataset
from tests.builders.trained_home import train_here
from tests.faults.table import Fault

FAULTS = (
    Fault(
        10.5,
        "The version in use is damaged",
        "The head of the champion has a byte changed while a server runs that has not loaded it",
        "Answers and Review name the version and the ways out; labels are saved, other pages open, "
        "another version can be put in use and a new one trained; then answers come again",
    ),
)
QUEUE = "queue?client=browser-tab"
PAGES = ("status", "overview", "models", QUEUE, "utterances", "acts", "versions")


@pytest.fixture
def damaged(studio: Studio, trained: str, tiny_path: Path) -> str:
    """A project whose second version is in use and damaged; its first one is sound."""
    with studio.database.read() as connection:
        first = {row[0] for row in connection.exec_driver_sql("SELECT sha256 FROM blob")}
        row = next(iter(dataset.utterances(connection, 1)))
        other = next(i.id for i in dataset.intents(connection, 1) if (i.id,) != row.labels)
    decide(studio, trained, [Operation("0" * 32, "label", row.id, (other,), seen=row.labels)])
    train_here(studio, TrainingRequest(trained, "instant", {}, str(tiny_path)))
    promote(studio, trained, 2)
    with studio.database.read() as connection:
        own = {row[0] for row in connection.exec_driver_sql("SELECT sha256 FROM blob")} - first
    for sha256 in own:
        file = studio.artifacts.path(sha256)
        content = file.read_bytes()
        file.unlink()
        file.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    return trained


def answer(client: TestClient, project: str) -> Any:
    return client.post(f"/api/projects/{project}/predict", json={"texts": ["where is it"]})


def test_a_damaged_champion_is_named_and_replaced(
    client: TestClient,
    studio: Studio,
    damaged: str,
    tiny_path: Path,
) -> None:
    """Answers named no version and nothing that helps at once; each new training failed, too."""
    refused = answer(client, damaged)
    assert refused.status_code == 500
    assert "The files of p@2 are damaged" in refused.json()["message"]
    assert "another version" in refused.json()["hint"]
    assert client.get(f"/api/projects/{damaged}/review").json() == refused.json()
    for page in PAGES:
        sent = client.get(f"/api/projects/{damaged}/{page}")
        assert sent.status_code == 200, (page, sent.text)
    with studio.database.read() as connection:
        row = next(iter(dataset.utterances(connection, 1)))
    saved = decide(studio, damaged, [Operation("1" * 32, "flag", row.id, note="look")])
    assert saved[0].state == "saved"
    promote(studio, damaged, 1)
    assert answer(client, damaged).status_code == 200
    with studio.database.write() as connection:
        models.point(connection, models.find(connection, 1, 2), "local")
    train_here(studio, TrainingRequest(damaged, "instant", {}, str(tiny_path)))
    assert "The files of p@2 are damaged" in newest_reasons(studio)
    promote(studio, damaged, 3)
    assert answer(client, damaged).status_code == 200


def newest_reasons(studio: Studio) -> str:
    with studio.database.read() as connection:
        return " ".join((jobs.list_all(connection, 1)[0].result or {})["gate"])
