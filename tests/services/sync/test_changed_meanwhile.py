"""What is done in the project while a folder is read stays, and so does what several wrote."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from app.services.data.history import undo_action
from app.services.data.projects import delete_project
from app.services.studio import Studio
from app.services.sync import landing, syncing
from app.services.sync.authors import Author
from core.errors import NotFound
from storage import pinned_texts
from tests.builders.trained_home import intent_ids, rows
from tests.services.sync.test_syncing import label_of, relabel_line, sync


def pin(studio: Studio, intent: str) -> None:
    with studio.database.write() as connection:
        pinned_texts.add(connection, 1, "hello", [intent], "local")


def test_a_pin_that_was_set_meanwhile_stays(
    studio: Studio, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder's answer replaced it, and nobody was told."""
    keys, content, acts = intent_ids(studio), landing.folder_content, [pin]
    pin(studio, keys["parcel"])
    sync(studio, folder)
    line = json.dumps({"text": "hello", "intents": [keys["refund"]]})
    (folder / "pins.jsonl").write_text(line + "\n", encoding="utf-8")

    def computed(*given: object) -> object:
        if acts:
            acts.pop()(studio, keys["greeting"])
        return content(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(landing, "folder_content", computed)
    done = sync(studio, folder)
    assert [(one.kind, one.key) for one in done.conflicts] == [("pin", "hello")]
    with studio.database.read() as connection:
        assert [one.intents for one in pinned_texts.list_all(connection, 1)] == [
            (keys["greeting"],)
        ]


def test_nothing_goes_into_a_project_that_was_deleted_meanwhile(
    studio: Studio, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    relabel_line(folder, "hi", intent_ids(studio)["parcel"])
    content = landing.folder_content

    def computed(*given: object) -> object:
        delete_project(studio, "p")
        return content(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(landing, "folder_content", computed)
    with pytest.raises(NotFound, match="'p' was deleted meanwhile"):
        sync(studio, folder)
    assert label_of(studio, "hi") == ("greeting",)


def test_each_of_two_authors_labels_with_an_intent_that_the_other_made(
    studio: Studio, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No action of the log leaves a label without an intent, and their undos take all back."""
    before, known = rows(studio), intent_ids(studio)
    with (folder / "intents.jsonl").open("a", encoding="utf-8") as stream:
        for key, name in (("abc", "by Anna"), ("abd", "by Ben")):
            stream.write(json.dumps({"id": key, "name": name}) + "\n")
    relabel_line(folder, "hi", "abd")
    relabel_line(folder, "money back", "abc")

    def told(where: Path, file: str, lines: Sequence[int], _otherwise: str) -> list[Author]:
        written = (where / file).read_text(encoding="utf-8").splitlines()
        of_ben = ("by Ben", "money back")
        found = [json.loads(written[line - 1]) for line in lines]
        return [
            Author("Ben" if row.get("name") in of_ben or row.get("text") in of_ben else "Anna")
            for row in found
        ]

    monkeypatch.setattr(syncing, "authors_of", told)
    done = sync(studio, folder)
    assert done.authors == ("Anna", "Ben", "Anna", "Ben")
    assert (label_of(studio, "hi"), label_of(studio, "money back")) == (("by Ben",), ("by Anna",))
    for key in reversed(done.keys):
        undo_action(studio, "p", key)
    assert (rows(studio), intent_ids(studio)) == (before, known)
