"""Whatever stands in a tool's file, it is read or refused with its name; nothing else happens."""

import json
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import InvalidInput
from core.formats.platform_rows import export_in, export_rows
from core.formats.rows import ReadOptions
from core.formats.tools.json_items import json_items
from core.formats.tools.tool import ToolFile
from core.platforms.packages import open_package
from tests.core.formats.tools.tool_files import TEXTS, WRITERS, write_folder, write_routes_in_yaml
from tests.core.platforms.exports import LU, RASA_YAML

_ALL = {**WRITERS, "routes-yaml": write_routes_in_yaml, "rasa": write_folder(RASA_YAML)}
_ALL["lu"] = write_folder(LU)
_DEEP: Any = []
for _ in range(300):
    _DEEP = [_DEEP]
_VALUES = [None, True, -1, 2**70, 1e300, "", " ", "\0", "\ud800", "{}", [], {}, [[]], [None]]
_VALUES += [{"id": {}}, [{"a": 1}], [["x", "y", "z"]], "x" * 200_000, _DEEP]


def _paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path] if path else []
    items = enumerate(value) if isinstance(value, list) else ()
    for key, one in value.items() if isinstance(value, dict) else items:
        found += _paths(one, (*path, key))
    return found


def _changed(text: str, data: st.DataObject) -> str:
    """Put another value, of a wrong kind perhaps, in a place of the JSON of a file."""
    lines = text.splitlines() if text.count("\n{") else [text]
    at = data.draw(st.integers(0, len(lines) - 1))
    try:
        document = json.loads(lines[at])
    except ValueError:
        return text
    *path, last = data.draw(st.sampled_from(_paths(document) or [("x",)]))
    place = document
    for key in path:
        place = place[key]
    if isinstance(place, list | dict):
        place[last] = data.draw(st.sampled_from(_VALUES))
    lines[at] = json.dumps(document)
    return "\n".join(lines)


def _damaged(content: bytes, data: st.DataObject) -> bytes:
    kind = data.draw(st.sampled_from(["cut", "byte", "latin-1", "utf-16", "twice", "again"]))
    at = data.draw(st.integers(0, len(content)))
    match kind:
        case "cut":
            return content[:at]
        case "byte":
            return content[:at] + data.draw(st.binary(min_size=1, max_size=3)) + content[at:]
        case "latin-1":
            return content.decode(errors="replace").encode("latin-1", errors="replace") + b"\xe9"
        case "utf-16":
            return content.decode(errors="replace").encode("utf-16")
        case "twice":
            return content.replace(b'"text":', b'"text": 1, "text":')
        case _:
            return content + content


def _fault(path: Path) -> str | None:
    """Read a file; return why it is refused, if it is."""
    try:
        found = export_in(path, ReadOptions())
        if found is not None:
            list(export_rows(found, ReadOptions(slots=True)))
    except InvalidInput as error:
        return error.message
    return None


@settings(max_examples=200, deadline=None)
@given(tool=st.sampled_from(sorted(_ALL)), data=st.data())
def test_any_file_is_read_or_refused_by_its_name(tool: str, data: st.DataObject) -> None:
    with TemporaryDirectory() as folder:
        path = _ALL[tool](Path(folder))
        files = sorted(one for one in path.rglob("*") if one.is_file()) if path.is_dir() else [path]
        file = data.draw(st.sampled_from(files))
        content = file.read_bytes()
        if file.suffix in (".json", ".jsonl") and data.draw(st.booleans()):
            file.write_bytes(_changed(content.decode(), data).encode(errors="surrogatepass"))
        else:
            file.write_bytes(_damaged(content, data))
        fault = _fault(path)
        assert fault is None or any(one.name in fault for one in (*files, path)), fault


@pytest.mark.parametrize(
    ("tool", "old", "new", "says"),
    [
        (
            "prodigy",
            '"text": "get my',
            '"text": "a", "text": "get my',
            "row 2.*'text' occurs twice",
        ),
        ("prodigy", '"answer": "accept"}\n{"text": "ref', '"answer": NaN}\n{"text": "ref', "row 2"),
        ("doccano", '"start_offset": 9', '"start_offset": "9"', "row 1.*no whole numbers"),
        ("doccano", '"id": 2', '"id": ' + "9" * 5_000, "row 2.*cannot be read"),
        ("argilla", '"id": "a-2"', '"id": "\\ud800"', "row 2, column 'id': half of a character"),
        ("doccano", '"id": 2', '"id": "\\ud800"', "row 2, column 'id': half of a character"),
        ("humanfirst", '"id": "e2"', '"id": "\\ud800"', "row 2, column 'id': half of a character"),
        ("label-studio", '"id": 2', '"id": "\\ud800"', "row 2, column 'id': half of a character"),
        ("humanfirst", "fly to Boston", "fly to \\ud800oston", "row 1: half of a character"),
        ("spacy", '"book": 0.7', '"book": "high"', "row 2.*is no number"),
        ("label-studio", '"text": "get my money back"', '"text": 5', "row 2.*there is no text"),
        ("label-studio", '"id": 3', '"id": ' + "[" * 100_000, "row 3.*no JSON"),
        ("humanfirst", '"intent_id": "i3"', '"intent_id": "i9"', "no intent with the id 'i9'"),
        ("cx-csv", "book,en", ",en", "row 2.*no row names an intent"),
        ("cx-csv", "refund my", '"refund" my', "row 4.*no CSV"),
        ("routes-yaml", "- name: refund", "- name: a\n  name: refund", "row 9.*occurs twice"),
        ("routes-yaml", "[refund my ticket]", "*a", "row 9.*alias"),
        ("routes-yaml", "[refund my ticket]", "[" * 60 + "]" * 60, "row 9.*nested too deeply"),
    ],
)
def test_a_fault_is_told_with_its_row(
    tool: str, old: str, new: str, says: str, tmp_path: Path
) -> None:
    path = _ALL[tool](tmp_path)
    content = path.read_bytes()
    assert old.encode() in content
    path.write_bytes(content.replace(old.encode(), new.encode(), 1))
    found = export_in(path, ReadOptions())
    assert isinstance(found, ToolFile)
    with pytest.raises(InvalidInput, match=says) as caught:
        list(export_rows(found, ReadOptions()))
    assert path.name in caught.value.message


def test_a_key_that_occurs_twice_among_many_is_soon_found(tmp_path: Path) -> None:
    """Each key was compared with all: 4 MB took half an hour in one request."""
    path = tmp_path / "x.json"
    keys = [*map(str, range(20_000)), "19999"]
    path.write_text("[{" + ", ".join(f'"{key}": 0' for key in keys) + "}]")
    began = time.process_time()
    with pytest.raises(InvalidInput, match="the key '19999' occurs twice"):
        list(json_items(open_package(path), path.name))
    assert time.process_time() - began < 1.0


@settings(max_examples=40, deadline=None)
@given(
    texts=st.lists(st.sampled_from([*TEXTS, "  ", "x" * 6_000]), max_size=40),
    answers=st.lists(st.sampled_from(["accept", "reject", "ignore"]), min_size=40, max_size=40),
    end=st.sampled_from(["\n", "\r\n", "\n\n"]),
)
def test_each_line_of_a_file_is_a_row_or_a_problem(
    texts: list[str], answers: list[str], end: str
) -> None:
    tasks = [
        {"text": text, "label": "a", "answer": answer, "_task_hash": 1}
        for text, answer in zip(texts, answers, strict=False)
    ]
    with TemporaryDirectory() as folder:
        path = Path(folder, "x.jsonl")
        path.write_bytes(end.join(map(json.dumps, tasks)).encode())
        found = export_in(path, ReadOptions())
        if found is None:
            assert not tasks
            return
        assert sum(1 for _ in export_rows(found, ReadOptions())) == len(tasks)
        assert sum(found.files.values()) == len(tasks)
        left = sum(answer != "accept" for answer in answers[: len(tasks)])
        assert sum(one.count for one in found.losses) == left
