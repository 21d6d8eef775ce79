"""An answer is kept with what it tells, or neither is: if a server ends, or a disk is full."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi.testclient import TestClient
from sqlalchemy.engine import Connection

from app.jobs.local import LocalExecutor
from core.errors import DiskFull
from storage import jobs
from storage.database import Database
from storage.people import request_keys
from storage.people.request_keys import AnsweredRequest
from tests.builders.conversation_logs import write_log

KEY = {"Idempotency-Key": "nightly"}
FILE = b"text,intent\nsend it back,refund\nis it there yet,parcel\n"

Send = Callable[[], httpx.Response]
Prepare = Callable[[TestClient, Path], Send]


def training(client: TestClient, folder: Path) -> Send:
    return lambda: client.post("/api/projects/p/train", json={"recipe": "instant"}, headers=KEY)


def texts(client: TestClient, folder: Path) -> Send:
    rows = {"texts": [{"text": "send it back", "intents": ["refund"]}]}
    return lambda: client.post("/api/projects/p/texts", json=rows, headers=KEY)


def table(client: TestClient, folder: Path) -> Send:
    sent = client.post("/api/projects/p/uploads", files={"file": ("rows.csv", FILE)}).json()
    path = f"/api/projects/p/uploads/{sent['key']}/import"
    return lambda: client.post(path, json={}, headers=KEY)


def log(client: TestClient, folder: Path) -> Send:
    file = {"file": ("chats.jsonl", write_log(folder / "chats.jsonl").read_bytes())}
    sent = client.post("/api/projects/p/dialogues", files=file).json()
    path = f"/api/projects/p/dialogues/waiting/{sent['key']}/import"
    return lambda: client.post(path, json={"pool": 10}, headers=KEY)


def bundle(client: TestClient, folder: Path) -> Send:
    packed = client.get("/api/projects/p/models/1/bundle").content
    client.post("/api/projects", json={"name": "q"})
    file = {"file": ("b.zip", packed)}
    return lambda: client.post("/api/projects/q/bundles", files=file, headers=KEY)


@pytest.fixture(autouse=True)
def idle(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start no process for the jobs that are queued: it would write, too."""
    monkeypatch.setattr(LocalExecutor, "ensure_running", lambda _: None)


KINDS = pytest.mark.parametrize("prepare", [training, texts, table, log, bundle])


def rows_of(database: Database) -> dict[str, int]:
    """Count the rows of each table."""
    with database.read() as connection:
        names = connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE type = 'table'")
        return {
            name: connection.exec_driver_sql(f'SELECT count(*) FROM "{name}"').scalar_one()
            for name in names.scalars()
        }


def ends_after_the_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a server do nothing more once the transaction that keeps an answer is committed."""
    kept, keep = list[AnsweredRequest](), request_keys.keep

    def note(connection: Connection, answered: AnsweredRequest) -> None:
        keep(connection, answered)
        kept.append(answered)

    def ending(write: Callable[..., Any]) -> Callable[..., Any]:
        @contextmanager
        def ends(database: Database, *given: Any) -> Iterator[Connection]:
            with write(database, *given) as connection:
                yield connection
            if kept:
                message = "killed"
                raise SystemError(message)

        return ends

    monkeypatch.setattr(request_keys, "keep", note)
    for name in ("write", "write_beside"):
        monkeypatch.setattr(Database, name, ending(getattr(Database, name)))


@KINDS
def test_a_request_whose_server_ended_gets_its_first_answer(
    client, trained, studio, tmp_path: Path, monkeypatch, prepare: Prepare
) -> None:
    """The repeat was 404 for an import, whose file was deleted already, and 409 for a bundle."""
    send = prepare(client, tmp_path)
    with monkeypatch.context() as patch:
        ends_after_the_commit(patch)
        assert send().status_code == 500
    done = rows_of(studio.database)
    again = send()
    assert (again.status_code in (200, 201, 202), again.text) == (True, again.text)
    assert again.headers["idempotent-replayed"] == "true"
    assert send().json() == again.json()
    assert rows_of(studio.database) == done


@KINDS
def test_where_the_answer_cannot_be_kept_nothing_is_done(
    client, trained, studio, tmp_path: Path, monkeypatch, prepare: Prepare
) -> None:
    """The answer was “nothing was saved”, and the import was saved all the same."""

    def full(connection: Connection, answered: AnsweredRequest) -> None:
        raise DiskFull("There is no space left.", "Make room.")

    send = prepare(client, tmp_path)
    before = rows_of(studio.database)
    with monkeypatch.context() as patch:
        patch.setattr(request_keys, "keep", full)
        assert send().status_code == 507
    assert rows_of(studio.database) == before
    done = send()
    assert (done.status_code in (200, 201, 202), done.text) == (True, done.text)
    assert "idempotent-replayed" not in done.headers
    assert rows_of(studio.database) != before


def test_an_import_that_brings_nothing_new_keeps_its_answer(client, labelled) -> None:
    rows = {"texts": [{"text": "send it back", "intents": ["refund"]}]}
    client.post("/api/projects/p/texts", json=rows)
    first, again = (client.post("/api/projects/p/texts", json=rows, headers=KEY) for _ in range(2))
    assert (first.json()["already_there"], again.json()) == (1, first.json())
    assert again.headers["idempotent-replayed"] == "true"


@pytest.mark.parametrize("forgotten", ["after a day", "by an erasure"])
def test_a_key_that_is_forgotten_trains_what_is_asked_now(
    client, labelled, studio, monkeypatch, forgotten: str
) -> None:
    """The job of a key was found for ever, in any project and for any recipe."""
    client.post("/api/projects", json={"name": "q"})
    rows = [{"text": t, "intents": [i]} for t, i in zip("abcd", "xxyy", strict=True)]
    client.post("/api/projects/q/texts", json={"texts": rows})
    first = client.post("/api/projects/p/train", json={"recipe": "instant"}, headers=KEY)
    other = {"recipe": "instant", "settings": {"out_of_scope_rejection": 0.25}}
    assert client.post("/api/projects/q/train", json=other, headers=KEY).status_code == 409
    if forgotten == "after a day":
        monkeypatch.setattr(request_keys, "KEPT_HOURS", -1)
    else:
        erased = {"texts": ["a"], "now": True}
        assert client.post("/api/projects/q/erase", json=erased).json()["done"]
    second = client.post("/api/projects/q/train", json=other, headers=KEY)
    assert second.status_code == 202
    assert second.json() != first.json()
    with studio.database.read() as connection:
        queued = jobs.get(connection, second.json()["job"])
    assert queued.payload["recipe"]["out_of_scope_rejection"] == 0.25
