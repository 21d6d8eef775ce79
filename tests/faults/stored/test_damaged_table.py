"""A damaged page of one table: found by the server itself, and no decision is lost by it."""

from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from app.services.labelling.decisions import Operation, decide
from app.services.studio import Studio
from core.errors import DatabaseDamaged
from storage.queries import dataset
from tests.api.conftest import (  # noqa: F401 - fixtures
    built_pages,
    client,
    labelled,
    live_studio,
    own_folder,
    portal,
    prepared,
    serve,
    studio,
)
from tests.builders.damaged_table import spoil_table
from tests.faults.table import Fault

FAULTS = (
    Fault(
        30.1,
        "A table is damaged, or the disk is full, while people label",
        "The first page of the log is overwritten, or SQLite may take no further page; decisions "
        "are sent over REST and by the page",
        "The whole request fails with the reason, and none of its decisions is told as refused: "
        "the browser keeps them, says how many are not saved, and sends them again",
        figures="decisions",
    ),
)


def waiting(studio: Studio) -> list[str]:  # noqa: F811
    with studio.database.read() as connection:
        return [row.id for row in dataset.utterances(connection, 1) if row.labels is None]


def skips(ids: list[str]) -> list[Operation]:
    return [Operation(f"decision {key}", "skip", key) for key in ids]


@pytest.mark.parametrize("n", [1, 3])
def test_decisions_meet_a_damaged_table_as_one_request(
    prepared: dict[str, Path],  # noqa: F811
    studio: Studio,  # noqa: F811
    labelled: str,  # noqa: F811
    client: TestClient,  # noqa: F811
    n: int,
) -> None:
    """Each was told as refused, and the page forgot it."""
    ids = waiting(studio)[:n]
    studio.database.close()
    spoil_table(studio.places.home, "event")
    with pytest.raises(DatabaseDamaged):
        decide(studio, labelled, skips(ids))
    body = [{"key": one.key, "kind": one.kind, "id": one.id} for one in skips(ids)]
    answer = client.post(f"/api/projects/{labelled}/ops", json=body)
    assert answer.status_code == 503
    assert "is damaged" in answer.json()["message"]


@pytest.mark.parametrize("n", [1, 3])
def test_decisions_meet_a_full_disk_as_one_request(
    studio: Studio,  # noqa: F811
    labelled: str,  # noqa: F811
    client: TestClient,  # noqa: F811
    n: int,
) -> None:
    """Each was told as refused, and the page forgot it."""
    with studio.database.engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA max_page_count=1")
    body = [
        {"key": f"decision {turn} {key}", "kind": "flag", "id": key, "note": f"{turn} {'x' * 400}"}
        for turn in range(60)
        for key in waiting(studio)[:n]
    ]
    answer = client.post(f"/api/projects/{labelled}/ops", json=body)
    assert answer.status_code == 507
    assert "nothing was saved" in answer.json()["message"]
    with studio.database.engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA max_page_count=100000")
    again = client.post(f"/api/projects/{labelled}/ops", json=body).json()
    assert {one["state"] for one in again} == {"saved"}
