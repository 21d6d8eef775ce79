"""Slots and marks come in with files and go out again as they were."""

import json
from pathlib import Path

import pytest

from app.services.data.exporting import export_file
from app.services.data.importing import ImportRequest, import_file
from app.services.studio import Studio
from core.errors import InvalidInput
from storage import projects
from storage.queries import dataset
from storage.records import UtteranceRecord


def rows(studio: Studio, name: str) -> dict[str, UtteranceRecord]:
    with studio.database.read() as connection:
        project = projects.find(connection, name)
        return {r.id: r for r in dataset.utterances(connection, project.id)}


def bring(studio: Studio, path: Path, *lines: dict, name: str = "p", **how: object):
    if lines:
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    with studio.database.write() as connection:
        if not any(p.name == name for p in projects.list_all(connection)):
            projects.create(connection, name)
    return import_file(studio, ImportRequest(name, path, **how))


BOSTON = {"slot": "city", "value": "Boston", "start": 9, "end": 15}
FIRST = {"id": "u0", "text": "  fly to Boston ", "intent": "flight", "slots": [BOSTON]}
SECOND = {"id": "u1", "text": "fly to Oslo", "intent": "flight", "synthetic": "u0"}


@pytest.mark.parametrize("kind", ["jsonl", "csv"])
def test_what_was_imported_is_exported_and_comes_back(
    studio: Studio, tmp_path: Path, kind: str
) -> None:
    report = bring(studio, tmp_path / "in.jsonl", FIRST, SECOND)
    assert (report.added, report.marked) == (2, 1)
    first = rows(studio, "p")
    assert [first["u0"].text[s.start : s.end] for s in first["u0"].slots] == ["Boston"]
    assert first["u1"].synthetic == "u0"
    out = tmp_path / f"out.{kind}"
    export_file(studio, "p", out)
    bring(studio, out, name="q")
    again = rows(studio, "q")
    assert again["u1"].synthetic == "u0"
    assert again["u0"].slots == (first["u0"].slots if kind == "jsonl" else ())


def test_slots_are_added_to_a_known_text_and_never_replaced(studio: Studio, tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    bare = {"text": "fly to Boston", "intent": "flight"}
    bring(studio, path, bare)
    report = bring(studio, path, FIRST)
    assert (report.added, report.marked, report.already_there) == (0, 1, 0)
    other = {**bare, "slots": [{"slot": "verb", "start": 0, "end": 3}]}
    report = bring(studio, path, other)
    assert (report.marked, report.conflicting) == (0, 1)
    assert "marks other values" in report.examples[0]
    assert [slot.name for slot in next(iter(rows(studio, "p").values())).slots] == ["city"]


@pytest.mark.parametrize(
    ("slot", "says"),
    [
        ({"start": 7, "end": 40}, "row 2.*'slots'.*city.*at 7 to 40.*holds no words"),
        ({"start": 0, "end": 3, "value": "Rome"}, "row 2.*said to hold 'Rome', and 'to '"),
    ],
)
def test_slots_that_do_not_fit_stop_the_import_by_line_and_value(
    studio: Studio, tmp_path: Path, slot: dict, says: str
) -> None:
    wrong = {"text": "to Rome", "intent": "a", "slots": [{"slot": "city", **slot}]}
    with pytest.raises(InvalidInput, match=says):
        bring(studio, tmp_path / "in.jsonl", FIRST, wrong)
    assert rows(studio, "p") == {}


def test_no_file_brings_what_is_synthetic_into_the_test_split(
    studio: Studio, tmp_path: Path
) -> None:
    with pytest.raises(InvalidInput, match=r"Row 2: .*asks for what people said"):
        bring(studio, tmp_path / "in.jsonl", FIRST, SECOND, split="test")
    with pytest.raises(InvalidInput, match=r"Row 1: .*asks for what people said"):
        bring(studio, tmp_path / "in.jsonl", {**SECOND, "split": "test"})
    assert rows(studio, "p") == {}
