"""Utterances as a list without their app, and folders that hold more than one document."""

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from core.errors import InvalidInput
from core.formats.platform_rows import export_in
from core.formats.reading import read_rows
from core.formats.rows import ImportedRow, ReadOptions
from core.platforms.agent import Platform
from core.platforms.overlay import Labelled, overlay
from core.platforms.packages import write_package
from core.platforms.reading import find_agent, read_agent
from core.templates.slots import Slot
from tests.core.platforms.exports import write_export

_LUIS = [
    {
        "text": "🛫 fly to Boston",
        "intent": "book",
        "entities": [{"entity": "city", "startPos": 10, "endPos": 15}],
    },
    {"text": "who won", "intent": "None", "entities": []},
]
_CLU = [
    {
        "text": "🛫 fly to Boston",
        "intent": "book",
        "language": "en-us",
        "entities": [{"category": "city", "offset": 10, "length": 6}],
    },
    {"text": "who won", "intent": "None", "language": "en-us", "dataset": "Test", "entities": []},
]


def _write(path: Path, value: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False), encoding="utf-8")
    return path


def _rasa(text: str, intent: str, **more: Any) -> dict[str, Any]:
    examples = [{"text": text, "intent": intent, "entities": []}]
    return {"rasa_nlu_data": {"common_examples": examples, **more}}


@pytest.mark.parametrize(("platform", "utterances"), [("luis", _LUIS), ("clu", _CLU)])
def test_a_list_of_utterances_keeps_its_marks_and_goes_back(
    platform: str, utterances: list[dict[str, Any]], tmp_path: Path
) -> None:
    """It was refused as “one JSON document”."""
    path = _write(tmp_path / "utterances.json", utterances)
    agent = read_agent(path)
    assert agent.platform == platform
    assert [(one.text, one.intent) for one in agent.phrases] == [
        ("🛫 fly to Boston", "book"),
        ("who won", ""),
    ]
    assert agent.phrases[0].slots == (Slot(9, 15, "city"),)
    assert agent.phrases[1].split == ("test" if platform == "clu" else None)
    other = Labelled("who won", (), is_test=platform == "clu")
    assert overlay(agent, [Labelled("🛫 fly to Boston", ("book",)), other]).changed == {}
    moved = overlay(agent, [Labelled("🛫 fly to Boston", ()), other])
    after = json.loads(moved.changed["utterances.json"])
    assert after == [utterances[0] | {"intent": "None"}, utterances[1]]


def test_a_dot_in_the_name_of_an_entity_parts_off_no_role(tmp_path: Path) -> None:
    """Of `Home.Device` a new phrase made an entity `Home` in the role `Device`."""
    entities = [
        {"entity": "Home.Device", "startPos": 5, "endPos": 8},
        {"entity": "room", "role": "to", "startPos": 13, "endPos": 16},
    ]
    said = {"text": "dim  lamp in hall", "intent": "light", "entities": entities}
    agent = read_agent(_write(tmp_path / "utterances.json", [said]))
    slots = (Slot(4, 7, "Home.Device"), Slot(11, 15, "room.to"))
    old = Labelled("dim  lamp in hall", ("light",))
    found = overlay(agent, [old, Labelled("dim fan in hall", ("light",), slots)])
    added = json.loads(found.changed["utterances.json"])[1]
    assert added["entities"] == [
        {"entity": "Home.Device", "startPos": 4, "endPos": 6},
        {"entity": "room", "role": "to", "startPos": 11, "endPos": 14},
    ]


def test_a_list_without_places_is_read_row_by_row(tmp_path: Path) -> None:
    """A list of objects was refused, whatever these said."""
    rows = [
        {"text": "fly to Boston", "intent": "book", "language": "en"},
        {"text": "pay me and fly", "intents": ["book", "refund"], "id": 7},
        {"text": "  ", "label": "book"},
    ]
    path = _write(tmp_path / "rows.json", rows)
    assert find_agent(path) is None
    found = list(read_rows(path))
    assert [(r.text, r.intents, r.id) for r in found if isinstance(r, ImportedRow)] == [
        ("fly to Boston", ("book",), None),
        ("pay me and fly", ("book", "refund"), "7"),
    ]
    assert [(r.line, r.kind) for r in found if not isinstance(r, ImportedRow)] == [(3, "empty")]
    other = _write(tmp_path / "other.json", [{"saying": "hello"}])
    with pytest.raises(InvalidInput, match="one JSON document"):
        read_rows(other)
    assert len(list(read_rows(other, ReadOptions(text_column="saying")))) == 1


@pytest.mark.parametrize(
    "content",
    ['{\n  "name": "x"\n}', '{"name": "x", "steps": [1]}', "[1, 2]", "5", '"text"', '{"a": \n'],
)
def test_a_document_of_nobody_is_called_one(content: str, tmp_path: Path) -> None:
    """It was called JSONL with a fault in its first row."""
    path = tmp_path / "workspace.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InvalidInput, match="one JSON document, and none of a platform or tool"):
        read_rows(path)


_FOLDERS: Mapping[str, Mapping[str, object]] = {
    "one among others": {
        "nlu.json": _rasa("hello", "greet"),
        "config.json": {"language": "en", "pipeline": []},
    },
    "several that belong together": {
        "data/a.json": _rasa("hello", "greet", lookup_tables=[{"name": "x", "elements": ["y"]}]),
        "data/b.json": _rasa("bye", "leave"),
        "domain.json": {"intents": ["greet", "leave"]},
    },
}


@pytest.mark.parametrize("name", sorted(_FOLDERS))
def test_a_folder_with_more_documents_is_read(name: str, tmp_path: Path) -> None:
    """It was no export, so that “Name a file in it” was all one heard."""
    for file, value in _FOLDERS[name].items():
        _write(tmp_path / "agent" / file, value)
    agent = read_agent(tmp_path / "agent")
    texts = ["hello", "bye"] if "several" in name else ["hello"]
    assert (agent.platform, [one.text for one in agent.phrases]) == ("rasa-json", texts)
    found = overlay(agent, [Labelled(one, ("greet",)) for one in texts])
    assert list(found.changed) == (["data/b.json"] if "several" in name else [])


def test_a_folder_of_several_agents_asks_which(tmp_path: Path) -> None:
    for name in ("a.json", "b.json"):
        _write(tmp_path / "apps" / name, {"luis_schema_version": "7.0.0", "utterances": _LUIS})
    with pytest.raises(InvalidInput, match=r"apps holds 2 exports, such as a\.json, b\.json"):
        export_in(tmp_path / "apps", ReadOptions())


_BESIDE = b"\x00\x05\x16\x07\x00\x02\x00\x00Mac OS X \xb0\xff"


@pytest.mark.parametrize("is_folder", [False, True])
@pytest.mark.parametrize("platform", ["dialogflow-es", "dialogflow-cx", "lu", "luis"])
def test_what_a_mac_puts_beside_each_file_is_copied_and_not_read(
    platform: Platform, tmp_path: Path, *, is_folder: bool
) -> None:
    """A zip that was made on a Mac was refused, since “._agent.json” is no JSON."""
    source = write_export(platform, tmp_path)
    names = [source.name]
    path = tmp_path / "mac.zip"
    with zipfile.ZipFile(path, "w") as archive:
        if zipfile.is_zipfile(source):
            with zipfile.ZipFile(source) as before:
                names = before.namelist()
                for name in names:
                    archive.writestr(name, before.read(name))
        else:
            archive.write(source, source.name)
        for name in names:
            folder, _, last = name.rpartition("/")
            archive.writestr(f"__MACOSX/{folder}{'/' * bool(folder)}._{last}", _BESIDE)
    if is_folder:
        with zipfile.ZipFile(path) as archive:
            archive.extractall(tmp_path / "mac")
        path = tmp_path / "mac"
    agent = read_agent(path)
    assert len(agent.phrases) == len(read_agent(source).phrases)
    out = tmp_path / "out"
    write_package(agent.package, {}, out)
    with zipfile.ZipFile(out if not is_folder else tmp_path / "mac.zip") as archive:
        beside = [name for name in archive.namelist() if name.startswith("__MACOSX/")]
    assert len(beside) == len(names)
    assert not is_folder or all((out / name).read_bytes() == _BESIDE for name in beside)
