"""A sync with a folder, both ways at once and for the first time, to be killed at each write."""

import json
from pathlib import Path

import pytest

from app.services.sync import landing, syncing
from app.services.sync.syncing import SyncRequest, sync_folder
from core.sync.folder import read_folder
from storage import projects
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
        names = dataset.intent_names(connection, 1)
    studio.database.close()
    assert len(done) == 1
    assert set(rows[_THERE].labels or ()) <= names.keys()
    before = {path.name: path.read_bytes() for path in _folder(home).iterdir()}
    sync(home)
    assert {path.name: path.read_bytes() for path in _folder(home).iterdir()} == before


def bring_in(home: Path) -> None:
    """Make a new project of the folder, a few texts at a time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(syncing, "_LARGE", 1)
        patch.setattr(landing, "_STAGE", 10)
        studio = opened(home)
        sync_folder(studio, SyncRequest("q", _folder(home)))
        studio.database.close()


def _brought(home: Path) -> dict[str, list[str] | None] | None:
    """Return the labels of the new project's texts; None if there is no such project."""
    studio = opened(home)
    with studio.database.read() as connection:
        known = {one.name: one.id for one in projects.list_all(connection)}
        found = dataset.utterances(connection, known["q"]) if "q" in known else None
        labels = None if found is None else {one.text: _sorted(one.labels) for one in found}
    studio.database.close()
    return labels


def _sorted(labels: tuple[str, ...] | None) -> list[str] | None:
    return None if labels is None else sorted(labels)


def _in_the_folder(home: Path) -> dict[str, list[str] | None]:
    found = read_folder(_folder(home), known=True)
    assert found is not None
    return {row["text"]: row["labels"] for row in found.utterances.values()}


def _all_or_nothing(home: Path) -> None:
    assert _brought(home) in (None, _in_the_folder(home))


def _brought_once(home: Path) -> None:
    assert _brought(home) == _in_the_folder(home)
    studio = opened(home)
    with studio.database.read() as connection:
        assert projects.list_deleted(connection) == []
    studio.database.close()


SYNC = Act("sync", sync, _merged_once, _readable, change_both)
FIRST_SYNC = Act("first sync", sync, _same, _readable)
LARGE_SYNC = Act("large sync", bring_in, _brought_once, _all_or_nothing, sync)
