"""What quotes an erased text: notes that flag texts, and names of saved filters."""

from pathlib import Path

import pytest

from app.services import upkeep
from app.services.data.bulk import BulkAct, Edit
from app.services.data.erasing import erase_texts
from app.services.data.history import undo_last
from app.services.data.importing import ImportRequest, import_file
from app.services.data.projects import create_project
from app.services.data.saved_filters import save_filter, saved_filters
from app.services.data.utterances import change_many
from app.services.studio import Studio
from storage.queries import dataset
from storage.queries.utterances import Filter
from tests.builders.trained_home import EVERY_TEXT

SAID = "Zaphod lives in Betelgeuse Road 5"
OTHER = "where is my parcel"


@pytest.fixture
def told(studio: Studio, tmp_path: Path) -> Studio:
    create_project(studio, "p")
    file = tmp_path / "said.csv"
    file.write_text(f"text,intent\n{SAID},address\n{OTHER},parcel\nFord,name\n", "utf-8")
    import_file(studio, ImportRequest("p", file))
    return studio


def flag(studio: Studio, text: str, note: str) -> None:
    with studio.database.read() as connection:
        rows = {row.text: row for row in dataset.utterances(connection, 1)}
    which = Filter(ids=(rows[text].id,))
    change_many(studio, "p", which, Edit("flag", note), BulkAct(1, EVERY_TEXT))


def notes(studio: Studio) -> dict[str, str]:
    with studio.database.read() as connection:
        return {row.text: row.flagged for row in dataset.utterances(connection, 1)}


def holds(studio: Studio, words: bytes) -> bool:
    files = studio.places.home.glob("studio.db*")
    return any(words in file.read_bytes() for file in files)


def test_a_note_on_an_erased_text_goes_with_it(told: Studio) -> None:
    """The note stayed in the log, and the erasure wrote it there once more."""
    flag(told, SAID, "asks about Betelgeuse again")
    flag(told, SAID, "Zaphod of Betelgeuse was called back")
    assert erase_texts(told, "p", [SAID], now=True).done
    assert not holds(told, b"Betelgeuse")
    assert {check.subject: check.healthy for check in upkeep.examine(told)}["data"]


def test_a_note_on_another_text_loses_what_it_quotes(told: Studio) -> None:
    flag(told, OTHER, f"the same person: {SAID}")
    flag(told, OTHER, f"as before, see “{SAID}”, and call back")
    assert erase_texts(told, "p", [SAID], now=True).done
    assert notes(told)[OTHER] == "as before, see “[erased]”, and call back"
    assert not holds(told, b"Betelgeuse")
    assert {check.subject: check.healthy for check in upkeep.examine(told)}["data"]
    undo_last(told, "p")
    assert notes(told)[OTHER] == "the same person: [erased]"


def test_a_deleted_text_takes_its_note_along(told: Studio) -> None:
    flag(told, OTHER, f"see {SAID}")
    flag(told, SAID, "Betelgeuse")
    with told.database.read() as connection:
        ids = tuple(row.id for row in dataset.utterances(connection, 1))
    change_many(told, "p", Filter(ids=ids), Edit("delete"), BulkAct(3, EVERY_TEXT))
    assert erase_texts(told, "p", [SAID], now=True).done
    assert not holds(told, b"Betelgeuse")


def test_a_filter_that_is_named_by_an_erased_text_gets_another_name(told: Studio) -> None:
    """Only what a filter looks for was taken out."""
    for name in (SAID, "Ford", "all of “Ford”", "of others"):
        save_filter(told, "p", name, {"text": name})
    assert erase_texts(told, "p", [SAID, "Ford"], now=True).preferences == 3
    assert not holds(told, b"Betelgeuse")
    assert not holds(told, b"Ford")
    kept = {one.name: one.query["text"] for one in saved_filters(told, "p")}
    assert len(kept) == 4
    assert kept.pop("of others") == "of others"
    assert all("[erased " in name and "[erased]" in text for name, text in kept.items())
