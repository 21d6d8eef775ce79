"""A file may say of each row whether it is for training or a test."""

import pytest

from app.services.data import uploads
from app.services.data.projects import create_project
from app.services.data.uploads import ColumnMapping, Incoming
from app.services.studio import Studio
from storage import projects
from storage.queries import dataset

SHEET = (
    "Utterance,Intent,Set\n"
    + "".join(f"where is card {n},lost card,train\n" for n in range(5))
    + "".join(f"what about pin {n},pin,test\n" for n in range(3))
    + "sing a song,out of scope,test\nwhere is my money,money,dev\nplease wait,,\n"
)


@pytest.fixture
def key(studio: Studio) -> str:
    create_project(studio, "p")
    return uploads.store_upload(studio, "team sheet.csv", [SHEET.encode()])


def look(studio: Studio, key: str, mapping: ColumnMapping) -> Incoming:
    return uploads.preview_upload(studio, "p", key, mapping)


def splits(studio: Studio) -> dict[str, str]:
    with studio.database.read() as connection:
        project = projects.find(connection, "p")
        return {row.text: row.split for row in dataset.utterances(connection, project.id)}


def test_test_rows_of_a_sheet_become_test_texts_and_the_preview_counts_them(
    studio: Studio, key: str
) -> None:
    """The column was passed over, and the model learned from what it was then judged on."""
    looked = look(studio, key, ColumnMapping())
    assert looked.preview.split_column == "Set"
    assert looked.report is not None
    assert looked.report.added_to == {"train": 6, "test": 4, "pool": 1}
    assert looked.report.validation == 1
    report = uploads.import_upload(studio, "p", key, ColumnMapping())
    assert (report.added, report.added_to) == (11, looked.report.added_to)
    found = splits(studio)
    tests = {text for text, split in found.items() if split == "test"}
    assert tests == {*(f"what about pin {n}" for n in range(3)), "sing a song"}
    assert (found["where is my money"], found["please wait"]) == ("train", "pool")


def test_a_label_of_test_rows_that_may_mean_no_intent_is_asked_about_as_ever(
    studio: Studio, key: str
) -> None:
    for column in (None, ""):
        looked = look(studio, key, ColumnMapping(split_column=column))
        assert looked.report is not None
        asked = {one.label: (one.rows, one.meaning) for one in looked.report.doubtful}
        assert asked["out of scope"] == (1, "out-of-scope")
        assert "out of scope" not in looked.report.new_intents


def test_no_column_reads_the_rows_as_before(studio: Studio, key: str) -> None:
    looked = look(studio, key, ColumnMapping(split_column="", split="test"))
    assert looked.preview.split_column == ""
    assert looked.report is not None
    assert (looked.report.added_to, looked.report.validation) == ({"test": 11}, 0)
