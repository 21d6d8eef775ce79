"""Each platform's export is recognised by its content, and read with its marks."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from core.errors import InvalidInput
from core.formats.reading import read_rows
from core.formats.rows import ImportedRow, ReadOptions
from core.platforms.json_places import parse
from core.platforms.packages import open_package
from core.platforms.reading import find_agent, read_agent
from core.templates.slots import Slot
from tests.core.platforms.exports import CLU, ES, EXPORTS, write_export


@pytest.mark.parametrize("platform", sorted(EXPORTS))
def test_an_export_is_recognised_and_imported(platform: str, tmp_path: Path) -> None:
    path = write_export(platform, tmp_path)
    agent = read_agent(path)
    assert agent.platform == platform
    rows = list(read_rows(path, ReadOptions(slots=True)))
    assert all(isinstance(row, ImportedRow) for row in rows)
    assert [row.text for row in rows if isinstance(row, ImportedRow)] == [
        phrase.text for phrase in agent.phrases
    ]
    assert sum(agent.files.values()) == len(agent.phrases)


def test_dialogflow_es_is_read_with_aliases_languages_and_fallback(tmp_path: Path) -> None:
    agent = read_agent(write_export("dialogflow-es", tmp_path))
    found = {one.text: (one.intent, one.language, one.slots) for one in agent.phrases}
    assert found == {
        "fly to Boston": ("book flight", "en", (Slot(7, 13, "to_city"),)),
        "get me my money back": ("book flight", "en", ()),
        "flieg nach Köln 🛫": ("book flight", "de", ()),
        "refund my ticket": ("refund", "en", ()),
        "who won the match": ("", "en", ()),
    }
    assert agent.values == {"city": {"Boston": ("Bean Town",)}}


@pytest.mark.parametrize("code", ["es-419", "en_US", "zh-Hant-TW"])
def test_dialogflow_es_is_read_in_each_language_that_a_file_names(
    code: str, tmp_path: Path
) -> None:
    """The phrases of `es-419` were lost: their file was read as an intent without a name."""
    for name, text in ES.items():
        file = tmp_path / "agent" / name.replace("_de.json", f"_{code}.json")
        file = file.with_name(file.name.replace("entries_en.json", f"entries_{code}.json"))
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    agent = read_agent(tmp_path / "agent")
    found = {one.text: (one.intent, one.language) for one in agent.phrases}
    assert found["flieg nach Köln 🛫"] == ("book flight", code)
    assert list(agent.intents) == ["book flight", "refund"]
    assert agent.values == {"city": {"Boston": ("Bean Town",)}}


def test_the_languages_of_lex_become_the_tags_that_other_platforms_know(tmp_path: Path) -> None:
    """An agent got `en_US`, which Dialogflow does not know."""
    path = write_export("lex", tmp_path)
    assert {one.language for one in read_agent(path).phrases} == {"en_US"}
    rows = [row for row in read_rows(path) if isinstance(row, ImportedRow)]
    assert {row.language for row in rows} == {"en-US"}


@pytest.mark.parametrize("platform", ["luis", "clu", "watson", "rasa-json"])
def test_marks_stand_on_the_value_behind_an_emoji(platform: str, tmp_path: Path) -> None:
    """Three platforms count UTF-16 units, one counts characters; LUIS ends on the last sign."""
    agent = read_agent(write_export(platform, tmp_path))
    flight = agent.phrases[0]
    (slot,) = flight.slots
    assert flight.text[slot.start : slot.end] == "Boston"


def test_a_test_phrase_of_clu_is_one_here(tmp_path: Path) -> None:
    rows = read_rows(write_export("clu", tmp_path))
    splits = {row.text: row.split for row in rows if isinstance(row, ImportedRow)}
    assert splits["refund my ticket"] == "test"
    assert splits["who won the match"] is None


def test_a_folder_is_read_as_its_zip_is(tmp_path: Path) -> None:
    path = write_export("dialogflow-es", tmp_path)
    with zipfile.ZipFile(path) as archive:
        archive.extractall(tmp_path / "agent")
    folder, packed = read_agent(tmp_path / "agent"), read_agent(path)
    assert sorted(one.text for one in folder.phrases) == sorted(one.text for one in packed.phrases)


def test_other_files_are_no_platforms(tmp_path: Path) -> None:
    lines = tmp_path / "lines.json"
    lines.write_text('{"text": "hi", "intent": "greet"}\n{"text": "bye", "intent": "bye"}\n')
    assert find_agent(lines) is None
    assert len(list(read_rows(lines))) == 2
    other = tmp_path / "other.json"
    other.write_text('{"hello": [1, 2]}')
    assert find_agent(other) is None
    with pytest.raises(InvalidInput, match="no export of a platform"):
        read_agent(other)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"a": 1, "a": 2}', "the key 'a' occurs twice"),
        ('{"a": 1} x', "more follows the value"),
        ('{"a": tru}', "a value is missing"),
        ('{"a" 1}', "':' is missing"),
        ("[1 2]", "',' is missing"),
        ("[" * 200 + "]" * 200, "nested too deeply"),
        ('["a\nb"]', "Invalid control character"),
    ],
)
def test_a_fault_of_json_is_told_with_its_place(text: str, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        parse(text, "x.json")


def test_values_and_places_agree_with_the_standard_library() -> None:
    text = json.dumps(json.loads(CLU["project.json"]), indent=3) + "\n"

    def plain(node: object) -> object:
        value = getattr(node, "value", node)
        if isinstance(value, dict):
            return {key: plain(one) for key, one in value.items()}
        return [plain(one) for one in value] if isinstance(value, list) else value

    root = parse(text, "x.json")
    assert plain(root) == json.loads(text)
    assets = root.get("assets")
    assert assets is not None
    for one in assets.under("utterances"):
        assert json.loads(text[one.start : one.end])["text"] == one.text("text")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("../out.json", "climbs out"),
        ("/etc/x.json", "is absolute"),
        ("C:x.json", "names a drive"),
    ],
)
def test_a_hostile_zip_is_refused_with_its_entry(name: str, words: str, tmp_path: Path) -> None:
    path = write_export("dialogflow-es", tmp_path)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(name, "x")
    with pytest.raises(InvalidInput, match=words):
        open_package(path)


def test_bombs_doubles_and_damage_are_refused(tmp_path: Path) -> None:
    bomb = tmp_path / "bomb.zip"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("intents/a.json", "0" * 50_000_000)
    with pytest.raises(InvalidInput, match="is a bomb"):
        open_package(bomb)
    twice = tmp_path / "twice.zip"
    with zipfile.ZipFile(twice, "w") as archive:
        archive.writestr("intents/a.json", "{}")
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("intents/a.json", "{}")
    with pytest.raises(InvalidInput, match="occurs twice"):
        open_package(twice)
    whole = write_export("lex", tmp_path)
    whole.write_bytes(whole.read_bytes()[:-700] + b"\0" * 300)
    with pytest.raises(InvalidInput):
        read_agent(whole)


@pytest.mark.parametrize("read", [read_agent, lambda path: next(read_rows(path))])
def test_a_zip_whose_end_is_missing_is_told_as_one(read: Any, tmp_path: Path) -> None:
    whole = write_export("dialogflow-es", tmp_path).read_bytes()
    cut = tmp_path / "cut.zip"
    cut.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InvalidInput, match=r"^cut\.zip is a damaged or incomplete ZIP archive"):
        read(cut)


def test_an_empty_file_is_no_package(tmp_path: Path) -> None:
    (tmp_path / "none.zip").touch()
    with pytest.raises(InvalidInput, match=r"^none\.zip is empty"):
        read_agent(tmp_path / "none.zip")


def test_a_file_in_another_encoding_is_named(tmp_path: Path) -> None:
    path = tmp_path / "es.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in ES.items():
            archive.writestr(name, text.replace("🛫", "").encode("latin-1"))
    with pytest.raises(InvalidInput, match=r"usersays_de\.json is not UTF-8, at byte"):
        read_agent(path)


def test_a_wrong_folder_is_refused_by_its_names(tmp_path: Path, monkeypatch: Any) -> None:
    """Naming the folder of downloads read all of it, up to 1 GiB, to say that it is no agent."""
    (tmp_path / "films").mkdir()
    (tmp_path / "films" / "film.bin").write_bytes(b"0" * 1_000)
    (tmp_path / "list.json").write_text("[1, 2]")
    monkeypatch.setattr(Path, "read_bytes", lambda path: pytest.fail(f"{path} was read"))
    assert find_agent(tmp_path) is None


def test_a_document_without_a_key_of_a_platform_is_not_parsed(tmp_path: Path) -> None:
    """It would take minutes and a hundred times its size in memory."""
    for number, text in enumerate(
        ('{"a": ' + "[" * 5_000, '[{"topic": "calls", "offset": 1}, ' + "[" * 5_000, '["offset"'),
    ):
        (tmp_path / f"other{number}.json").write_text(text)
        assert find_agent(tmp_path / f"other{number}.json") is None


@pytest.mark.parametrize("location", [[True, False], [True, 3], [0, 2, True], ["0", "2"]])
def test_a_mention_of_watson_whose_place_is_no_number_marks_nothing(
    location: list[Any], tmp_path: Path
) -> None:
    """`true` was taken for a number, and the import ended in an incident."""
    example = {"text": "hi there", "mentions": [{"entity": "a", "location": location}]}
    path = tmp_path / "skill.json"
    path.write_text(json.dumps({"intents": [{"intent": "greet", "examples": [example]}]}))
    (phrase,) = read_agent(path).phrases
    assert (phrase.text, phrase.slots) == ("hi there", ())
