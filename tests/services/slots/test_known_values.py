"""Lists of values that an agent keeps come into the slot book, are proposed, and go out again."""

import json
from pathlib import Path

import pytest

from app.services.data.history import redo_last, undo_last
from app.services.data.importing import ImportRequest, import_file
from app.services.data.projects import create_project
from app.services.exchange.handover import HandoverChoice, write_project
from app.services.slots.book import view_book
from app.services.slots.marking import AcceptRequest, preview_proposals, rename_slot
from app.services.studio import Studio
from storage import projects
from storage.log import versions
from tests.core.platforms.exports import EXPORTS, read_export, write_export

_SLOT = {"dialogflow-es": "to_city", "rasa": "city.to", "rasa-json": "city.to"}
_WITH_LISTS = ("clu", "dialogflow-es", "lex", "rasa", "rasa-json", "watson")


def _values(studio: Studio) -> dict[str, dict[str, tuple[int, tuple[str, ...]]]]:
    return {
        slot.name: {one.value: (one.count, one.synonyms) for one in slot.values}
        for slot in view_book(studio, "shop").slots
    }


@pytest.mark.parametrize("platform", [name for name in _WITH_LISTS if name in EXPORTS])
def test_lists_come_in_are_undone_and_come_back(
    platform: str, studio: Studio, tmp_path: Path
) -> None:
    create_project(studio, "shop")
    package = write_export(platform, tmp_path)
    if platform == "clu":
        project = json.loads(package.read_text(encoding="utf-8"))
        said = [{"language": "en", "values": ["Boston", "Bean Town"]}]
        lists = {"sublists": [{"listKey": "Boston", "synonyms": said}]}
        project["assets"]["entities"][0]["list"] = lists
        package.write_text(json.dumps(project), encoding="utf-8")
    seen = import_file(studio, ImportRequest("shop", package, dry_run=True))
    assert seen.package is not None
    slot = _SLOT.get(platform, "city")
    assert seen.package.values == {slot: 1}
    assert _values(studio) == {}
    import_file(studio, ImportRequest("shop", package))
    word, synonym = ("BOS", "Boston") if "rasa" in platform else ("Boston", "Bean Town")
    count, synonyms = _values(studio)[slot][word]
    assert (count, synonyms) == (0 if word == "BOS" else 1, (synonym,))
    undo_last(studio, "shop")
    assert _values(studio) == {}
    redo_last(studio, "shop")
    assert _values(studio)[slot][word][1] == (synonym,)


def test_values_of_a_list_move_along_when_their_slot_is_renamed(
    studio: Studio, tmp_path: Path
) -> None:
    """They stayed under the old name, which no text had any more."""
    create_project(studio, "shop")
    import_file(studio, ImportRequest("shop", write_export("watson", tmp_path)))
    with studio.database.write() as connection:
        versions.cut(connection, projects.find(connection, "shop"), "before")
    before = _values(studio)
    assert before["city"]["Boston"] == (1, ("Bean Town",))
    rename_slot(studio, "shop", "city", "place")
    renamed = {"place" if slot == "city" else slot: known for slot, known in before.items()}
    assert _values(studio) == renamed
    rename_slot(studio, "shop", "place", "town")
    undo_last(studio, "shop")
    assert _values(studio) == renamed
    undo_last(studio, "shop")
    assert _values(studio) == before
    redo_last(studio, "shop")
    assert _values(studio) == renamed
    for version, slot in ((None, "place"), (1, "city")):
        out = tmp_path / f"{slot}.zip"
        write_project(studio, "shop", HandoverChoice("dialogflow-es", version=version), out)
        entries = {name for name in read_export(out) if name.endswith("_entries_en.json")}
        assert entries == {f"entities/{slot}_entries_en.json"}


def test_a_value_of_a_list_is_proposed_and_written_for_the_next_platform(
    studio: Studio, tmp_path: Path
) -> None:
    create_project(studio, "shop")
    import_file(studio, ImportRequest("shop", write_export("watson", tmp_path)))
    more = tmp_path / "more.csv"
    more.write_text("text,intent\nto Bean Town please,book\n", encoding="utf-8")
    import_file(studio, ImportRequest("shop", more))
    found = preview_proposals(studio, "shop", AcceptRequest())
    assert "to Bean Town please" in str(found)
    out = tmp_path / "agent.zip"
    write_project(studio, "shop", HandoverChoice("dialogflow-es"), out)
    entries = json.loads(read_export(out)["entities/city_entries_en.json"])
    assert entries == [{"value": "Boston", "synonyms": ["Boston", "Bean Town"]}]
    rasa = tmp_path / "rasa.zip"
    write_project(studio, "shop", HandoverChoice("rasa"), rasa)
    assert (
        "- lookup: city\n  examples: |\n    - Boston\n- synonym: Boston\n  examples: |\n"
        "    - Bean Town\n"
    ) in read_export(rasa)["data/nlu.yml"].decode()


def test_values_that_no_database_keeps_are_left_out_and_told(
    studio: Studio, tmp_path: Path
) -> None:
    """They came in with the import, and the slot book could never be shown again."""
    create_project(studio, "shop")
    cities = [{"value": "Boston", "synonyms": ["Bean Town", "\ud800"]}, {"value": "\udfff"}]
    entities = [{"entity": "city", "values": cities}, {"entity": "\ud800", "values": cities}]
    intent = {"intent": "book", "examples": [{"text": "fly to Boston"}]}
    path = tmp_path / "skill.json"
    path.write_text(json.dumps({"intents": [intent], "entities": entities}))
    report = import_file(studio, ImportRequest("shop", path)).package
    assert report is not None
    assert report.values == {"city": 1}
    assert [(one.what, one.count, one.examples) for one in report.losses] == [
        ("values and synonyms with a NUL or half of a character", 2, ("\ufffd", "\ufffd")),
        ("values of an entity with a NUL or half of a character in its name", 2, ("\ufffd",)),
    ]
    assert _values(studio) == {"city": {"Boston": (0, ("Bean Town",))}}
