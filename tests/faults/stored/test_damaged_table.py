"""A damaged page of one table: found by the server itself, and no decision is lost by it."""

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from app.bootstrap import open_studio
from app.services.data.importing import ImportRequest, import_file
from app.services.data.projects import create_project
from app.services.labelling.decisions import Operation, decide
from app.services.live.live_studio import LiveStudio
from app.services.soundness import Soundness
from app.services.studio import Studio
from app.services.upkeep import back_up
from app.settings import Settings
from core.errors import DatabaseDamaged
from storage.queries import dataset
from tests.builders.served_studio import Served
from tests.faults.spoiling import spoil
from tests.faults.table import Fault
from tests.waiting import wait_until

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
    Fault(
        30.2,
        "A page of one table is damaged while nobody looks",
        "The last page of a table or of an index is overwritten before a server starts, or below a "
        "running one",
        "The server runs SQLite's quick check 3 s after it has opened, and notes what a request "
        "meets: `/api/health/ready` is 503 with the reason, `/api/health/live` stays 200, and "
        "every page says what is still readable and where the newest backup is",
        figures="check",
    ),
)


def waiting(studio: Studio) -> list[str]:
    with studio.database.read() as connection:
        return [row.id for row in dataset.utterances(connection, 1) if row.labels is None]


def skips(ids: list[str]) -> list[Operation]:
    return [Operation(f"decision {key}", "skip", key) for key in ids]


@pytest.mark.parametrize("n", [1, 3])
def test_decisions_meet_a_damaged_table_as_one_request(
    prepared: dict[str, Path],
    studio: Studio,
    labelled: str,
    client: TestClient,
    n: int,
) -> None:
    """Each was told as refused, and the page forgot it."""
    ids = waiting(studio)[:n]
    studio.database.close()
    spoil(studio.places.home, "event")
    with pytest.raises(DatabaseDamaged):
        decide(studio, labelled, skips(ids))
    body = [{"key": one.key, "kind": one.kind, "id": one.id} for one in skips(ids)]
    answer = client.post(f"/api/projects/{labelled}/ops", json=body)
    assert answer.status_code == 503
    assert "is damaged" in answer.json()["message"]


@pytest.mark.parametrize("n", [1, 3])
def test_decisions_meet_a_full_disk_as_one_request(
    studio: Studio,
    labelled: str,
    client: TestClient,
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


N_LARGE = 100_000
PARTS = {
    "event": "the history of changes",
    "ix_event_subject": "the history of changes",
    "utterance": "texts, labels and intents",
    "said_text": "traffic and conversations",
    "receipt": "maps, groups, reports and settings",
}


@pytest.mark.parametrize("name", PARTS)
def test_a_server_finds_the_damage_by_itself(
    studio: Studio,
    labelled: str,
    client: TestClient,
    live_studio: LiveStudio,
    tmp_path: Path,
    name: str,
) -> None:
    """It said that it was ready."""
    back_up(studio, tmp_path / "backup.zip")
    live_studio.soundness.check()
    assert client.get("/api/database").json()["state"] == "sound"
    assert client.get("/api/health/ready").status_code == 200
    studio.database.close()
    spoil(studio.places.home, name)
    live_studio.soundness.check()
    ready = client.get("/api/health/ready")
    assert (ready.status_code, ready.headers["retry-after"]) == (503, "60")
    assert PARTS[name] in ready.json()["message"]
    assert str(tmp_path) not in ready.text  # whoever asks needs no token
    assert client.get("/api/health/live").status_code == 200
    found = client.get("/api/database").json()
    assert (found["state"], found["lost"]) == ("damaged", [PARTS[name]])
    assert len(found["readable"]) == 4
    assert found["backup"]["file"] == str(tmp_path / "backup.zip")


def test_a_request_that_meets_damage_makes_it_known(
    studio: Studio,
    labelled: str,
    client: TestClient,
) -> None:
    studio.database.close()
    spoil(studio.places.home, "event")
    assert client.get(f"/api/projects/{labelled}/status").status_code == 503
    assert client.get("/api/database").json()["state"] == "damaged"
    wait_until(lambda: client.get("/api/database").json()["lost"], "what is lost is known", 30)
    assert client.get("/api/database").json()["lost"] == ["the history of changes"]
    assert client.get("/api/health/ready").status_code == 503


def test_where_no_thread_is_left_the_next_request_looks_for_what_is_lost(
    studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pages said that the database is damaged, and until a restart not what is lost."""
    create_project(studio, "p")
    studio.database.close()
    spoil(studio.places.home, "receipt")
    soundness = Soundness(studio)

    def full(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", full)
        with pytest.raises(RuntimeError, match="new thread"):
            soundness.note()
    assert (soundness.view.state, soundness.view.lost) == ("damaged", ())
    soundness.note()
    wait_until(lambda: soundness.view.lost, "what is lost is known", 30)
    assert soundness.view.lost == ("maps, groups, reports and settings",)


def test_a_running_server_checks_its_database(tmp_path: Path) -> None:
    home = tmp_path / "home"
    made = open_studio(Settings(home=home))
    create_project(made, "p")
    made.database.close()
    spoil(home, "receipt")
    served = Served(home, forked=True, watched=False).start()
    try:
        wait_until(
            lambda: served.ask("/database")["state"] != "unchecked", "the database is checked"
        )
        assert served.ask("/database")["lost"] == ["maps, groups, reports and settings"]
    finally:
        served.stop()


@pytest.mark.fire
def test_the_check_of_a_large_database_holds_nobody_up(
    studio: Studio,
    tmp_path: Path,
    measured: Callable[[str, str], None],
) -> None:
    texts = tmp_path / "texts.txt"
    words = "please tell me where the parcel number {} has been for the last {} days\n"
    texts.write_text("".join(words.format(n, n % 97) for n in range(N_LARGE)), "utf-8")
    create_project(studio, "p")
    import_file(studio, ImportRequest("p", texts))
    ids = waiting(studio)
    soundness = Soundness(studio)
    before = longest_pause(until=lambda: time.sleep(2))
    began = time.monotonic()
    checking = threading.Thread(target=soundness.check)
    checking.start()
    saved = list[float]()

    def label() -> None:
        while checking.is_alive():
            started = time.monotonic()
            decide(studio, "p", skips([ids.pop()]))
            saved.append(time.monotonic() - started)

    during = longest_pause(until=label)
    seconds = time.monotonic() - began
    assert soundness.view.state == "sound"
    assert during < max(0.25, 5 * before)
    size = studio.places.database.stat().st_size / 1e6
    measured(
        "check",
        f"{N_LARGE:,} texts, {size:.0f} MB: checked in {seconds:.2f} s beside {len(saved)} "
        f"decisions, of which one took {max(saved):.3f} s at most; another thread waited "
        f"{during:.3f} s at most, and {before:.3f} s without the check, at a load average of "
        f"{os.getloadavg()[0]:.1f}.",
    )


def longest_pause(until: Callable[[], None]) -> float:
    """Return the longest time in seconds that a waking thread is late while another one acts."""
    acting = threading.Thread(target=until)
    acting.start()
    longest = 0.0
    while acting.is_alive():
        slept = time.monotonic()
        time.sleep(0.001)
        longest = max(longest, time.monotonic() - slept - 0.001)
    return longest
