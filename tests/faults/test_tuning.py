"""A real tuning is killed at work; what it leaves is what an undisturbed one leaves."""

import os
import re
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from app.jobs.process_names import JOB, SUPERVISOR
from app.services.data.importing import ImportRequest, import_file
from app.services.data.projects import create_project
from app.services.studio import Studio
from app.services.training.runs import TrainingRequest, follow, start_training
from app.services.upkeep import examine
from core.training.checkpoints import Checkpoint, latest_checkpoint
from storage import jobs, models
from storage.records import ModelVersionRecord
from tests.faults.processes import serving
from tests.faults.table import Fault

FAULTS = (
    Fault(
        1.4,
        "A tuning is killed between two checkpoints",
        "SIGKILL of the child after step 120 of a real tuning",
        "It goes on from its checkpoint and ends with the bytes of an undisturbed one",
    ),
)

SETTINGS: dict[str, object] = {
    "epochs": 40,
    "frozen_layers": 1,
    "intents_per_batch": 2,
    "utterances_per_intent": 2,
    "seed": 3,
}
MOST_BATCHES = 24
"""Of an epoch: ten texts and the name of each intent make six groups; a batch has one or two."""
THINGS = ("parcel", "refund", "password", "invoice")


@pytest.fixture
def busy(studio: Studio, tmp_path: Path) -> Iterator[Studio]:
    """A studio with forty labelled utterances, whose processes end with the test."""
    path = tmp_path / "labelled.csv"
    rows = [f"question {n} about my {thing},{thing}" for thing in THINGS for n in range(10)]
    path.write_text("text,intent\n" + "\n".join(rows) + "\n", encoding="utf-8")
    create_project(studio, "p")
    import_file(studio, ImportRequest("p", path))
    yield studio
    for name in (SUPERVISOR, JOB):
        kill(studio, name)


def kill(studio: Studio, name: str) -> None:
    for pid in serving(studio.places.home, name):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def await_checkpoint(studio: Studio, job_id: str, step: int) -> Checkpoint:
    limit = time.monotonic() + 300
    while time.monotonic() < limit:
        found = latest_checkpoint(studio.places.checkpoints(job_id))
        if found is not None and found.step >= step:
            return found
        time.sleep(0.02)
    with studio.database.read() as connection:
        raise AssertionError(jobs.get(connection, job_id))


def made(studio: Studio) -> list[ModelVersionRecord]:
    with studio.database.read() as connection:
        return models.list_all(connection, 1)


def blobs(studio: Studio, model: ModelVersionRecord) -> dict[str, str]:
    """SHA-256 of each file of a model version, by path."""
    query = "SELECT path, blob_sha256 FROM tree WHERE sha256 = ?"
    with studio.database.read() as connection:
        rows = connection.exec_driver_sql(query, (model.tree_sha256,)).all()
    return {path: sha256 for path, sha256 in rows if path != "facts.json"}  # that tells the time


@pytest.mark.slow
def test_a_tuning_killed_midway_ends_once_with_the_weights_of_an_undisturbed_one(
    busy: Studio, tiny_path: Path
) -> None:
    request = TrainingRequest("p", "convfit", SETTINGS, str(tiny_path))
    job = start_training(busy, request)
    kept = await_checkpoint(busy, job.id, step=120)
    kill(busy, JOB)
    rows = list(follow(busy, job.id))
    told = [re.match(r"tuning, epoch (\d+),", row.stage) for row in rows if row.attempt == 2]
    epochs = [int(found[1]) for found in told if found]
    assert all(epoch >= kept.step / MOST_BATCHES for epoch in epochs)  # it went on from there
    assert (rows[-1].state, rows[-1].attempt) == ("succeeded", 2)
    assert [model.number for model in made(busy)] == [1]
    assert [found for found in examine(busy) if not found.healthy] == []
    undisturbed = list(follow(busy, start_training(busy, request).id))[-1]
    assert (undisturbed.state, undisturbed.attempt) == ("succeeded", 1)
    first, second = made(busy)
    assert any(path.startswith("encoder/") for path in blobs(busy, first))
    assert blobs(busy, first) == blobs(busy, second)
    assert not busy.places.checkpoints(job.id).exists()
