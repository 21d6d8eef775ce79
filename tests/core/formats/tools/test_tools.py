"""Each tool's file is recognised by its content; every record becomes a row or is told of."""

import json
import zipfile
from pathlib import Path

import pytest

from core.errors import InvalidInput
from core.formats.platform_rows import export_in, export_rows
from core.formats.preview import preview_file
from core.formats.reading import read_rows
from core.formats.rows import ImportedRow, ReadOptions
from core.formats.tools.tool import ToolFile
from core.templates.slots import Slot
from tests.core.formats.tools.tool_files import TEXTS, WRITERS, write_routes_in_yaml

BOTH, CITY = ("book",), (Slot(9, 15, "city"),)
# labels of the four texts, and what is told of beside them
EXPECTED = {
    "argilla": (BOTH, BOTH, None, None),
    "botpress": (BOTH, BOTH, ("refund",), ()),
    "cx-csv": (BOTH, BOTH, ("refund",), ("chat",)),
    "datasets": (BOTH, BOTH, ("refund",), None),
    "doccano": (BOTH, BOTH, None, None),
    "humanfirst": (("trips/book",), ("trips/book",), ("refund",), None),
    "label-studio": (BOTH, BOTH, None, None),
    "prodigy": (BOTH, BOTH, None, ()),
    "semantic-router": (BOTH, BOTH, ("refund",), ("chat",)),
    "spacy": (BOTH, BOTH, None, ()),
    "watson-csv": (BOTH, BOTH, ("refund",), ("chat",)),
}
TOLD = {
    "argilla": {
        "suggestions of a model": 2,
        "answers to “rating”": 1,
        "labels of people who disagree": 1,
    },
    "botpress": {
        "“slots”": 1,
        "“contexts”": 1,
    },
    "cx-csv": {"rows without a phrase": 1},
    "datasets": {
        "the column “hour”": 3,
        "the split “validation”, whose rows are read as for training": 1,
    },
    "doccano": {},
    "humanfirst": {
        "“metadata of an intent”": 1,
        "“settings of an entity”": 1,
        "what agents said": 1,
    },
    "label-studio": {
        "answers that skip a text": 1,
        "labels of people who disagree": 2,
    },
    "prodigy": {"rejected labels": 1},
    "semantic-router": {
        "“encoder_type”": 1,
        "“description”": 1,
        "“score_threshold”": 1,
        "utterances that are no text": 1,
    },
    "spacy": {"scores between 0 and 1, of which those from 0.5 on are read as a label": 2},
    "watson-csv": {},
}
KEPT = {
    "argilla": {"a-2": {"metadata": {"source": "log"}}},
    "doccano": {"2": {"Comments": ["check"]}},
    "humanfirst": {"e1": {"tags": [{"id": "t", "name": "seen", "color": "#fff"}]}},
    "label-studio": {"1": {"predictions": [{"model_version": "v1", "result": []}]}},
    "prodigy": {"🛫 fly to Boston": {"meta": {"source": "log"}}},
}
"""What is kept beside a text, by its id, or by the text where there is none."""
MARKED = ("argilla", "botpress", "doccano", "humanfirst", "label-studio", "prodigy", "spacy")
WITH_IDS = {
    "argilla": ["a-1", "a-2", "a-3", "a-4"],
    "doccano": ["1", "2", "3", "4"],
    "humanfirst": ["e1", "e2", "e3", "e4"],
    "label-studio": ["1", "2", "3", "4"],
}


def read(path: Path) -> tuple[ToolFile, dict[str, ImportedRow]]:
    found = export_in(path, ReadOptions())
    assert isinstance(found, ToolFile)
    rows = [row for row in export_rows(found, ReadOptions(slots=True)) if row]
    assert all(isinstance(row, ImportedRow) for row in rows)
    return found, {row.text: row for row in rows if isinstance(row, ImportedRow)}


@pytest.mark.parametrize("tool", sorted(WRITERS))
def test_a_file_is_recognised_and_read_with_all_that_it_says(tool: str, tmp_path: Path) -> None:
    path = WRITERS[tool](tmp_path)
    found, rows = read(path)
    assert found.platform == tool
    assert [rows[text].intents for text in TEXTS] == list(EXPECTED[tool])
    assert {one.what: one.count for one in found.losses} == TOLD[tool]
    assert len(rows) == sum(found.files.values()) == len(TEXTS)
    assert rows[TEXTS[0]].slots == (CITY if tool in MARKED else ())
    assert [rows[text].id for text in TEXTS] == WITH_IDS.get(tool, [None] * 4)
    kept = {row.id or row.text: json.loads(row.kept)[tool] for row in rows.values() if row.kept}
    assert kept == KEPT.get(tool, {})
    splits = ["train", "train", "test", None] if tool == "datasets" else [None] * 4
    assert [rows[text].split for text in TEXTS] == splits
    # a second pass counts anew, and a preview shows the same
    _, again = read(path)
    assert again == rows
    assert preview_file(path, ReadOptions()).format == tool


@pytest.mark.parametrize("tool", sorted(WRITERS))
def test_a_zip_is_read_as_the_file_or_folder_in_it_is(tool: str, tmp_path: Path) -> None:
    path = WRITERS[tool](tmp_path)
    packed = tmp_path / "packed.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            archive.write(file, file.relative_to(tmp_path))
    found, rows = read(packed)
    assert (found.platform, list(rows)) == (tool, list(read(path)[1]))


def test_routes_are_read_of_yaml_too(tmp_path: Path) -> None:
    found, rows = read(write_routes_in_yaml(tmp_path))
    assert found.platform == "semantic-router"
    assert [rows[text].intents for text in TEXTS] == list(EXPECTED["semantic-router"])


def test_marks_are_left_out_where_nobody_asks_and_labels_where_none_is_wanted(
    tmp_path: Path,
) -> None:
    path = WRITERS["prodigy"](tmp_path)
    assert all(row.slots == () for row in read_rows(path) if isinstance(row, ImportedRow))
    rows = list(read_rows(path, ReadOptions(intent_column="")))
    assert [row.intents for row in rows if isinstance(row, ImportedRow)] == [None] * 4


@pytest.mark.parametrize(
    ("name", "text", "format"),
    [
        ("a.jsonl", '{"text": "a", "label": ["b"]}\n{"text": "c", "label": []}\n', "jsonl"),
        ("a.csv", "text,intent\na,b\n", "csv"),
        ("a.md", "## intent:a\n- b\n", "rasa"),
    ],
)
def test_plain_files_are_read_as_before(name: str, text: str, format: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    assert preview_file(tmp_path / name, ReadOptions()).format == format


@pytest.mark.parametrize(
    ("start", "end", "value"),
    [(9, 13, "Köln"), (12, 17, "Köln"), (12, 17, None)],
    ids=["characters", "bytes", "bytes of no value"],
)
def test_a_mark_of_humanfirst_stands_at_its_bytes_or_characters(
    start: int, end: int, value: str | None, tmp_path: Path
) -> None:
    span = {"from_character": start, "to_character": end}
    marked = {"name": "city", "span": span} | ({"text": value} if value else {})
    example = {"text": "🛫 fly to Köln", "intents": [], "entities": [marked]}
    path = tmp_path / "workspace.json"
    path.write_text(json.dumps({"$schema": "humanfirst", "examples": [example]}))
    _, rows = read(path)
    assert rows["🛫 fly to Köln"].slots == (Slot(9, 13, "city"),)


def test_the_entities_of_humanfirst_go_to_the_slot_book(tmp_path: Path) -> None:
    found, _ = read(WRITERS["humanfirst"](tmp_path))
    assert found.slot_values == {"city": {"BOS": ("Boston",)}}


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ({"image": "/image1"}, None),
        ({"photo": "https://example.org/1.jpg"}, None),
        ({"photo": "/data/upload/1.jpg"}, None),
        (
            {"saying": "see https://example.org", "audio": "s3://calls/1.wav"},
            "see https://example.org",
        ),
    ],
)
def test_label_studio_takes_no_address_of_an_image_for_a_text(
    data: dict[str, str], text: str | None, tmp_path: Path
) -> None:
    """A project of images became utterances such as “/data/upload/1.jpg”."""
    path = tmp_path / "tasks.json"
    path.write_text(json.dumps([{"id": 1, "data": data, "annotations": []}]))
    if text is None:
        with pytest.raises(InvalidInput, match="there is no text"):
            read(path)
    else:
        assert list(read(path)[1]) == [text]


@pytest.mark.parametrize("tool", ["prodigy", "humanfirst", "label-studio"])
def test_a_text_of_any_length_is_counted_and_stops_nothing(tool: str, tmp_path: Path) -> None:
    """One page among a thousand texts refused them all, and asked for a closing quote."""
    path = WRITERS[tool](tmp_path)
    long = "x" * 150_000
    path.write_text(path.read_text("utf-8").replace(TEXTS[2], long), "utf-8")
    found = export_in(path, ReadOptions())
    assert found is not None
    rows = list(export_rows(found, ReadOptions()))
    assert sum(isinstance(row, ImportedRow) for row in rows) == len(TEXTS) - 1
    assert [row.kind for row in rows if not isinstance(row, ImportedRow)] == ["too-long"]
    assert sum(found.files.values()) == len(TEXTS)


def test_what_is_told_of_a_file_can_be_sent(tmp_path: Path) -> None:
    """A field whose name has half of a character broke the request that told of it."""
    route = {"name": "a", "utterances": ["hi there", 5], "\ud800": 1}
    (tmp_path / "routes.json").write_text(json.dumps([route]))
    found, _ = read(tmp_path / "routes.json")
    told = {one.what: one.count for one in found.losses}
    assert told == {"“\ufffd”": 1, "utterances that are no text": 1}


def test_other_fields_of_a_task_and_of_a_record_are_told(tmp_path: Path) -> None:
    """They vanished without a word."""
    data = {"text": "pay me", "customer": "c-1", "day": 3, "note": ""}
    path = tmp_path / "tasks.json"
    path.write_text(json.dumps([{"id": 1, "data": data, "annotations": []}]))
    found, rows = read(path)
    assert list(rows) == ["pay me"]
    told = {"“customer of a task”": 1, "“day of a task”": 1}
    assert {one.what: one.count for one in found.losses} == told
    record = {"id": "1", "responses": {}, "fields": {"saying": "pay me", "day": 3}}
    (tmp_path / "records.json").write_text(json.dumps([record]))
    found, rows = read(tmp_path / "records.json")
    assert list(rows) == ["pay me"]
    assert {one.what: one.count for one in found.losses} == {"“day of a record”": 1}


def test_a_row_of_cx_csv_that_ends_early_is_told(tmp_path: Path) -> None:
    """A row without a cell for its intent stopped the import with an incident."""
    path = tmp_path / "phrases.csv"
    path.write_text("Language,Intent Display Name,Phrase\nen\nde,book,hallo\n")
    found, rows = read(path)
    assert rows["hallo"].intents == ("book",)
    assert {one.what: one.count for one in found.losses} == {"rows without a phrase": 1}
