"""Intents that were downloaded alone, and what early versions of tools wrote."""

import json
from pathlib import Path

from core.formats.platform_rows import export_in, export_rows
from core.formats.rows import ImportedRow, ReadOptions
from core.platforms.overlay import Labelled, overlay
from core.platforms.reading import read_agent


def _intent(name: str, *texts: str, fallback: bool = False) -> str:
    said = [{"id": f"{name}-{at}", "data": [{"text": one}]} for at, one in enumerate(texts)]
    value = {"id": name, "name": name, "fallbackIntent": fallback, "userSays": said}
    return json.dumps(value, indent=2)


def _read(path: Path) -> tuple[str, list[tuple[str, tuple[str, ...] | None]]]:
    export = export_in(path, ReadOptions())
    assert export is not None
    rows = export_rows(export, ReadOptions())
    return export.platform, [(r.text, r.intents) for r in rows if isinstance(r, ImportedRow)]


def test_intents_of_dialogflow_that_were_downloaded_alone_go_back(tmp_path: Path) -> None:
    """A folder of them was no export of anything."""
    folder = tmp_path / "downloads"
    folder.mkdir()
    (folder / "book.json").write_text(_intent("book", "a room", "my money"), encoding="utf-8")
    (folder / "refund.json").write_text(_intent("refund", "pay back"), encoding="utf-8")
    (folder / "else.json").write_text(_intent("else", "who won", fallback=True), encoding="utf-8")
    platform, rows = _read(folder)
    assert platform == "dialogflow-es"
    assert dict(rows) == {
        "a room": ("book",),
        "my money": ("book",),
        "pay back": ("refund",),
        "who won": (),
    }
    agent = read_agent(folder)
    wanted = [Labelled(text, ("refund",) if text == "my money" else of) for text, of in rows]
    found = overlay(agent, wanted)
    assert (found.moved, found.losses) == (1, ())
    after = {name: json.loads(content) for name, content in found.changed.items()}
    assert [one["id"] for one in after["book.json"]["userSays"]] == ["book-0"]
    assert [one["id"] for one in after["refund.json"]["userSays"]] == ["refund-0", "book-1"]
    assert _read(folder / "book.json")[1] == [("a room", ("book",)), ("my money", ("book",))]


def test_synonyms_of_every_language_are_kept(tmp_path: Path) -> None:
    """Only those of the language that was read first were."""
    entities = tmp_path / "agent" / "entities"
    entities.mkdir(parents=True)
    (tmp_path / "agent" / "agent.json").write_text("{}", encoding="utf-8")
    (entities / "city.json").write_text('{"name": "city"}', encoding="utf-8")
    for language, word in (("de", "Mailand"), ("en", "Milan")):
        entries = [{"value": "MIL", "synonyms": ["MIL", word]}]
        path = entities / f"city_entries_{language}.json"
        path.write_text(json.dumps(entries), encoding="utf-8")
    intents = tmp_path / "agent" / "intents"
    intents.mkdir()
    (intents / "book.json").write_text(_intent("book", "a room"), encoding="utf-8")
    assert read_agent(tmp_path / "agent").values == {"city": {"MIL": ("Mailand", "Milan")}}


def test_an_early_agent_is_found_among_the_files_of_its_app(tmp_path: Path) -> None:
    """Only the first five documents were looked at, and none of them was an intent."""
    folder = tmp_path / "app" / "intents"
    folder.mkdir(parents=True)
    for name in ("action", "agent", "app", "entities/city", "fixtures", "jest"):
        path = tmp_path / "app" / f"{name}.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text("{}", encoding="utf-8")
    (folder / "book.json").write_text(_intent("book", "a room"), encoding="utf-8")
    assert _read(tmp_path / "app") == ("dialogflow-es", [("a room", ("book",))])


def test_an_early_bot_of_botpress_has_its_phrases_in_one_list(tmp_path: Path) -> None:
    folder = tmp_path / "bot" / "intents"
    folder.mkdir(parents=True)
    value = {"name": "login", "utterances": ["let me in"], "slots": [], "contexts": ["global"]}
    (folder / "login.json").write_text(json.dumps(value), encoding="utf-8")
    assert _read(tmp_path / "bot") == ("botpress", [("let me in", ("login",))])


def test_a_workspace_of_humanfirst_that_nobody_labelled_is_read(tmp_path: Path) -> None:
    path = tmp_path / "workspace.json"
    example = {"id": "e1", "text": "hello", "intents": [], "metadata": {"call": "7"}}
    path.write_text(json.dumps({"examples": [example]}, indent=1), encoding="utf-8")
    assert _read(path) == ("humanfirst", [("hello", None)])


def test_a_phrase_of_another_platform_may_be_the_word_of_dialogflows_key(tmp_path: Path) -> None:
    """A Watson skill with the phrase "userSays" was taken for Dialogflow's, and held no phrase."""
    path = tmp_path / "skill.json"
    examples = [{"text": "userSays"}, {"text": '"userSays": []'}]
    value = {"intents": [{"intent": "help", "examples": examples}], "counterexamples": []}
    path.write_text(json.dumps(value), encoding="utf-8")
    assert _read(path) == ("watson", [("userSays", ("help",)), ('"userSays": []', ("help",))])
