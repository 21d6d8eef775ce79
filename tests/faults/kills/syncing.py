"""A sync with a folder, both ways at once and for the first time, to be killed at each write."""

import json
from pathlib import Path

from app.services.sync.syncing import SyncRequest, sync_folder
from core.sync.folder import read_folder
from storage.log import events
from storage.queries import dataset
from tests.faults.kills.acts import Act, label, opened, texts_of

_HERE, _THERE, _NEW = "please label this", "where is my parcel", "written in the folder"


def _folder(home: Path) -> Path:
    return home.with_name(f"{home.name}-folder")


def sync(home: Path) -> None:
    studio = opened(home)
    sync_folder(studio, SyncRequest("p", _folder(home), author="Ben"))
    studio.database.close()


def change_both(home: Path) -> None:
    """Sync once; then label a text here, and relabel one and add one in the folder."""
    sync(home)
    label(home, _HERE, "mine")
    file = _folder(home) / "utterances.jsonl"
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    labels = sorted({key for row in rows for key in row["labels"] or ()})
    there = next(row for row in rows if row["text"] == _THERE)
    there["labels"] = [next(key for key in labels if [key] != there["labels"])]
    new = {"id": "f" * 32, "text": _NEW, "labels": None, "split": "pool"}
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in [*rows, new])
    file.write_text("".join(lines), encoding="utf-8")


def _readable(home: Path) -> None:
    """The folder can be read; the project has all that the folder brought, or nothing."""
    folder = _folder(home)
    found = read_folder(folder, known=False) if folder.exists() else None
    rows = texts_of(home)
    if found is not None:
        said = {row["text"]: row for row in found.utterances.values()}
        if _NEW in rows:
            assert list(rows[_THERE].labels or ()) == said[_THERE]["labels"]
            assert said[_HERE]["labels"] == list(rows[_HERE].labels or ())


def _same(home: Path) -> None:
    """Both sides say the same of each text."""
    found = read_folder(_folder(home), known=True)
    assert found is not None
    told = {row["text"]: (row["labels"], row["split"]) for row in found.utterances.values()}
    rows = texts_of(home)
    assert told == {
        text: (None if row.labels is None else sorted(row.labels), row.split)
        for text, row in rows.items()
    }


def _merged_once(home: Path) -> None:
    _same(home)
    rows = texts_of(home)
    assert _NEW in rows
    assert rows[_HERE].labels is not None
    studio = opened(home)
    with studio.database.read() as connection:
        done = [one for one in events.history(connection, 1, 100) if one.verb == "sync"]
        names = {one.id: one.name for one in dataset.intents(connection, 1)}
    studio.database.close()
    assert len(done) == 1
    assert set(rows[_THERE].labels or ()) <= names.keys()
    before = {path.name: path.read_bytes() for path in _folder(home).iterdir()}
    sync(home)
    assert {path.name: path.read_bytes() for path in _folder(home).iterdir()} == before


SYNC = Act("sync", sync, _merged_once, _readable, change_both)
FIRST_SYNC = Act("first sync", sync, _same, _readable)
