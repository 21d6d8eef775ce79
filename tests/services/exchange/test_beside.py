"""What a file says beside a text survives: in the project, in its versions, and on the way out."""

import json
from pathlib import Path

import pytest

from app.services.data.erasing import erase_texts
from app.services.data.exporting import export_file
from app.services.data.history import undo_last
from app.services.data.importing import ImportRequest, import_file
from app.services.data.projects import create_project
from app.services.exchange.handover import HandoverChoice, write_project
from app.services.slots.marking import mark_slots
from app.services.studio import Studio
from app.services.sync.syncing import SyncRequest, sync_folder
from core.exports.targets import TARGETS, Target
from core.formats.beside import LONGEST, beside, completed, is_beside
from core.formats.rows import ImportedRow
from core.platforms.agent import Loss
from core.templates.slots import Slot
from storage.queries import dataset
from tests.core.formats.tools.tool_files import WRITERS
from tests.core.platforms.exports import read_export, write_export


def _beside(studio: Studio) -> dict[str, dict[str, object]]:
    with studio.database.read() as connection:
        records = list(dataset.utterances(connection, 1))
    return {one.text: json.loads(one.beside) for one in records if one.beside}


@pytest.fixture
def agent(studio: Studio, tmp_path: Path) -> Studio:
    create_project(studio, "shop")
    import_file(studio, ImportRequest("shop", write_export("dialogflow-es", tmp_path)))
    return studio


def test_ids_counts_and_languages_of_phrases_go_out_again(agent: Studio, tmp_path: Path) -> None:
    assert _beside(agent)["flieg nach Köln 🛫"] == {
        "language": "de",
        "dialogflow-es": {"id": "p-3", "isTemplate": False, "count": 0, "updated": 0},
    }
    out = tmp_path / "out.zip"
    write_project(agent, "shop", HandoverChoice("dialogflow-es"), out)
    before, after = (read_export(one) for one in (tmp_path / "dialogflow-es.zip", out))
    for name in ("refund_usersays_en", "book flight_usersays_de"):
        file = f"intents/{name}.json"
        assert json.loads(after[file]) == json.loads(before[file])
    flight = json.loads(after["intents/book flight_usersays_en.json"])
    ids = {
        "".join(part["text"] for part in one["data"]): (one["id"], one["count"]) for one in flight
    }
    assert ids == {"fly to Boston": ("p-1", 3), "get me my money back": ("p-2", 0)}
    assert json.loads(after["agent.json"])["supportedLanguages"] == ["de"]


def test_new_intents_get_the_descriptions_of_a_package(studio: Studio, tmp_path: Path) -> None:
    """They were read and thrown away."""
    create_project(studio, "shop")
    import_file(studio, ImportRequest("shop", write_export("lex", tmp_path)))
    with studio.database.read() as connection:
        told = {one.name: one.description for one in dataset.intents(connection, 1)}
    assert told == {"book": "to book", "refund": ""}


def test_descriptions_that_cannot_be_kept_are_told(studio: Studio, tmp_path: Path) -> None:
    """A description of over 5,000 characters was left out without a word."""
    create_project(studio, "shop")
    told = {"pay": "x" * 5_001, "buy": "to buy", "book": "\ud800"}
    intents = [
        {"intent": name, "description": about, "examples": [{"text": f"I want to {name}"}]}
        for name, about in told.items()
    ]
    path = tmp_path / "skill.json"
    path.write_text(json.dumps({"intents": intents}))
    report = import_file(studio, ImportRequest("shop", path)).package
    assert report is not None
    assert [(one.what, one.count, one.examples) for one in report.losses] == [
        ("descriptions of intents of over 5,000 characters", 1, ("pay",)),
        ("descriptions of intents with a NUL or half of a character", 1, ("book",)),
    ]
    with studio.database.read() as connection:
        kept = {one.name: one.description for one in dataset.intents(connection, 1)}
    assert kept == {"pay": "", "buy": "to buy", "book": ""}


@pytest.mark.parametrize("tool", ["argilla", "doccano", "humanfirst", "label-studio", "prodigy"])
def test_fields_of_a_tool_are_written_for_that_tool_alone(
    tool: Target, studio: Studio, tmp_path: Path
) -> None:
    create_project(studio, "shop")
    folder = tmp_path / "in"
    folder.mkdir()
    import_file(studio, ImportRequest("shop", WRITERS[tool](folder)))
    kept = {text: one for text, one in _beside(studio).items() if tool in one}
    assert len(kept) == 1
    ((text, said),) = kept.items()
    write_project(studio, "shop", HandoverChoice(tool), tmp_path / f"out{TARGETS[tool].ending}")
    create_project(studio, "again")
    import_file(studio, ImportRequest("again", tmp_path / f"out{TARGETS[tool].ending}"))
    with studio.database.read() as connection:
        records = {one.text: one for one in dataset.utterances(connection, 2)}
    assert json.loads(records[text].beside) == said
    other = tmp_path / "other.jsonl"
    write_project(studio, "shop", HandoverChoice("spacy"), other)
    assert set(json.loads(other.read_text(encoding="utf-8").splitlines()[0])) <= {
        "text",
        "ents",
        "cats",
    }


def test_jsonl_undo_and_a_folder_for_git_keep_it(agent: Studio, tmp_path: Path) -> None:
    before = _beside(agent)
    lines = tmp_path / "shop.jsonl"
    export_file(agent, "shop", lines)
    create_project(agent, "copy")
    import_file(agent, ImportRequest("copy", lines))
    again = tmp_path / "again.jsonl"
    export_file(agent, "copy", again)
    assert again.read_bytes() == lines.read_bytes()
    folder = tmp_path / "folder"
    sync_folder(agent, SyncRequest("shop", folder))
    text = (folder / "utterances.jsonl").read_text(encoding="utf-8")
    rows = {row["text"]: row for row in map(json.loads, text.splitlines())}
    assert {said: json.loads(row["beside"]) for said, row in rows.items()} == before
    done = undo_last(agent, "shop")
    assert done is not None
    assert _beside(agent) == {}


def test_a_text_that_is_here_already_gets_what_it_lacks(studio: Studio, tmp_path: Path) -> None:
    """The language and the ids of a later package were lost, and nothing told of it."""
    create_project(studio, "shop")
    table = tmp_path / "table.csv"
    table.write_text("text,intent\nrefund my ticket,refund\nfly to Boston,book flight\n")
    import_file(studio, ImportRequest("shop", table))
    package = write_export("dialogflow-es", tmp_path)
    report = import_file(studio, ImportRequest("shop", package))
    assert (report.added, report.completed, report.already_there) == (3, 2, 0)
    before = _beside(studio)["refund my ticket"]
    phrase = {"id": "p-4", "isTemplate": False, "count": 0, "updated": 0}
    assert before == {"language": "en", "dialogflow-es": phrase}
    again = import_file(studio, ImportRequest("shop", package))
    assert (again.completed, again.already_there, again.key) == (0, 5, "")
    more = tmp_path / "more.jsonl"
    kept = {"dialogflow-es": {"id": "other"}, "prodigy": {"meta": 1}}
    said = {"text": "refund my ticket", "intent": "refund", "language": "de", "kept": kept}
    more.write_text(json.dumps(said) + "\n")
    assert import_file(studio, ImportRequest("shop", more)).completed == 1
    assert _beside(studio)["refund my ticket"] == before | {"prodigy": {"meta": 1}}
    undo_last(studio, "shop")
    assert _beside(studio)["refund my ticket"] == before


def test_a_language_is_kept_where_there_is_no_room_for_all() -> None:
    """It was left in the file with the fields that are too long together."""
    kept = {name: {"note": name * 10_000} for name in "ab"}
    stored = json.dumps(kept, ensure_ascii=False, sort_keys=True)
    more = json.dumps({"c": {"note": "c" * 19_950}})
    row = ImportedRow("pay", ("refund",), language="de", kept=more)
    assert len(stored) + len(more) > 2 * LONGEST
    assert json.loads(completed(stored, row)) == kept | {"language": "de"}
    assert completed(completed(stored, row), row) == completed(stored, row)
    assert json.loads(completed("", row)) == json.loads(beside(row))


def test_what_finds_no_room_beside_a_known_text_is_told(studio: Studio, tmp_path: Path) -> None:
    """It stayed in the file, and only that of new texts was counted."""
    create_project(studio, "shop")
    kept = {name: {"note": name * 19_950} for name in "ab"}
    said = {"text": "refund my ticket", "intent": "refund", "kept": kept}
    lines = tmp_path / "lines.jsonl"
    lines.write_text(json.dumps(said) + "\n")
    import_file(studio, ImportRequest("shop", lines))
    report = import_file(studio, ImportRequest("shop", write_export("dialogflow-es", tmp_path)))
    assert report.completed == 1
    assert _beside(studio)["refund my ticket"] == kept | {"language": "en"}
    assert report.package is not None
    what = "fields without room beside a text that is here already"
    assert Loss(what, 1, ("refund my ticket",)) in report.package.losses


def test_a_text_of_the_test_set_gets_what_it_lacks_and_stays_there(
    studio: Studio, tmp_path: Path
) -> None:
    """It was left out with all that the package says of it."""
    create_project(studio, "shop")
    table = tmp_path / "table.csv"
    table.write_text("text,intent\nrefund my ticket,refund\n")
    import_file(studio, ImportRequest("shop", table, split="test"))
    package = write_export("dialogflow-es", tmp_path)
    report = import_file(studio, ImportRequest("shop", package))
    assert (report.added, report.completed, report.already_there) == (4, 1, 0)
    assert _beside(studio)["refund my ticket"]["language"] == "en"
    with studio.database.read() as connection:
        records = list(dataset.utterances(connection, 1))
    assert [one.split for one in records if one.text == "refund my ticket"] == ["test"]
    again = import_file(studio, ImportRequest("shop", package))
    assert (again.completed, again.already_there) == (0, 5)


def test_it_is_erased_with_its_text(agent: Studio, tmp_path: Path) -> None:
    erase_texts(agent, "shop", ["flieg nach Köln 🛫"], now=True)
    assert "p-3" not in json.dumps(_beside(agent))
    with agent.database.read() as connection:
        rows = connection.exec_driver_sql("SELECT before, after FROM event").all()
    assert not any("p-3" in str(row) for row in rows)


def test_what_a_mark_of_rasa_says_beside_its_name_goes_out_again(
    studio: Studio, tmp_path: Path
) -> None:
    create_project(studio, "shop")
    path = tmp_path / "nlu.yml"
    line = '- fly to [Boston]{"entity": "city", "role": "to", "group": "1", "value": "BOS"}'
    path.write_text(
        f"nlu:\n- intent: book\n  examples: |\n    {line}\n    - from [Rome](city:ROM)\n",
        encoding="utf-8",
    )
    import_file(studio, ImportRequest("shop", path))
    out = tmp_path / "out"
    write_project(studio, "shop", HandoverChoice("rasa"), out)
    text = (out / "data" / "nlu.yml").read_text(encoding="utf-8")
    assert line in text
    assert '- from [Rome]{"entity": "city", "value": "ROM"}' in text


@pytest.mark.parametrize("values", [("Rome", "ROM"), ("ROM", "Rome"), ("ROM", "RO")])
def test_equal_words_keep_their_own_values(
    values: tuple[str, str], studio: Studio, tmp_path: Path
) -> None:
    """All got the value of the first that had one."""
    create_project(studio, "shop")
    said = [f"[Rome](city:{one})" if one != "Rome" else "[Rome](city)" for one in values]
    lines, path = tmp_path / "nlu.yml", tmp_path / "nlu.json"
    lines.write_text(f"nlu:\n- intent: book\n  examples: |\n    - {' or '.join(said)}\n")
    places = zip(((0, 4), (8, 12)), values, strict=True)
    marks = [
        {"start": start, "end": end, "value": value, "entity": "city"}
        for (start, end), value in places
    ]
    example = {"text": "Rome to Rome", "intent": "book", "entities": marks}
    backwards = example | {"entities": marks[::-1]}
    path.write_text(json.dumps({"rasa_nlu_data": {"common_examples": [backwards]}}))
    for file in (lines, path):
        import_file(studio, ImportRequest("shop", file))
    out = tmp_path / "out"
    write_project(studio, "shop", HandoverChoice("rasa"), out)
    marked = [
        f'[Rome]{{"entity": "city", "value": "{one}"}}' if one != "Rome" else "[Rome](city)"
        for one in values
    ]
    assert f"- {' or '.join(marked)}\n" in (out / "data" / "nlu.yml").read_text(encoding="utf-8")
    write_project(studio, "shop", HandoverChoice("rasa-json"), tmp_path / "out.json")
    written = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))["rasa_nlu_data"]
    assert example in written["common_examples"]


@pytest.mark.parametrize(
    ("values", "after"),
    [
        (("ROM",), ("ROM", "ROM", "ROM")),  # the one that is told, which the last had
        (("ROM", "RO"), ("", "", "")),  # open which of three has which
    ],
)
def test_a_new_mark_takes_no_value_from_equal_words(
    values: tuple[str, ...], after: tuple[str, ...], studio: Studio, tmp_path: Path
) -> None:
    """A mark before the one with a value got the value, and that one lost it."""
    create_project(studio, "shop")
    places = [(0, 4), (8, 12), (16, 20)]
    names = ["Rome"] * (3 - len(values)) + [f"[Rome](city:{one})" for one in values]
    lines, path = tmp_path / "nlu.yml", tmp_path / "nlu.json"
    lines.write_text(f"nlu:\n- intent: book\n  examples: |\n    - {' or '.join(names)}\n")
    marks = [
        {"start": start, "end": end, "value": value, "entity": "city"}
        for (start, end), value in zip(places[-len(values) :], values, strict=True)
    ]
    example = {"text": "Rome to Rome to Rome", "intent": "book", "entities": marks}
    path.write_text(json.dumps({"rasa_nlu_data": {"common_examples": [example]}}))
    for file in (lines, path):
        import_file(studio, ImportRequest("shop", file))
    with studio.database.read() as connection:
        keys = [one.id for one in dataset.utterances(connection, 1)]
    for key in keys:
        mark_slots(studio, "shop", key, [Slot(start, end, "city") for start, end in places])
    write_project(studio, "shop", HandoverChoice("rasa"), tmp_path / "out")
    said = [
        f'[Rome]{{"entity": "city", "value": "{one}"}}' if one else "[Rome](city)" for one in after
    ]
    written = (tmp_path / "out" / "data" / "nlu.yml").read_text(encoding="utf-8")
    assert f"- {' or '.join(said)}\n" in written
    write_project(studio, "shop", HandoverChoice("rasa-json"), tmp_path / "out.json")
    data = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))["rasa_nlu_data"]
    found = {
        one["text"]: [mark["value"] for mark in one["entities"]] for one in data["common_examples"]
    }
    assert found["Rome to Rome to Rome"] == [one or "Rome" for one in after]


def test_what_a_mark_of_rasas_json_says_goes_out_again(studio: Studio, tmp_path: Path) -> None:
    """The value behind the words was lost: the export said “Boston” in the place of “BOS”."""
    create_project(studio, "shop")
    mark = {"start": 7, "end": 13, "value": "BOS", "entity": "city", "confidence": 0.5}
    plain = {"start": 5, "end": 9, "value": "Rome", "entity": "city"}
    examples = [
        {"text": "fly to Boston", "intent": "book", "entities": [mark], "metadata": {"n": 1}},
        {"text": "from Rome", "intent": "book", "entities": [plain]},
    ]
    path = tmp_path / "nlu.json"
    path.write_text(json.dumps({"rasa_nlu_data": {"common_examples": examples}}))
    report = import_file(studio, ImportRequest("shop", path))
    assert report.package is not None
    assert report.package.values == {"city": 1}
    assert set(_beside(studio)) == {"fly to Boston"}
    out = tmp_path / "out.json"
    write_project(studio, "shop", HandoverChoice("rasa-json"), out)
    written = json.loads(out.read_text(encoding="utf-8"))["rasa_nlu_data"]
    assert written["common_examples"] == examples
    assert written["entity_synonyms"] == [{"value": "BOS", "synonyms": ["Boston"]}]


@pytest.mark.parametrize("value", ["NaN", "1e400", '"\\ud800"', '"\\u0000"'])
def test_what_cannot_be_written_again_is_refused_in_a_folder(value: str) -> None:
    """A number that is none, or half of a character, broke the next import of the text."""
    assert is_beside('{"rasa": {"id": 1}}')
    assert not is_beside(f'{{"rasa": {{"id": {value}}}}}')


def test_what_a_file_claims_to_be_kept_cannot_stand_for_text_or_label(
    studio: Studio, tmp_path: Path
) -> None:
    create_project(studio, "shop")
    path = tmp_path / "shop.jsonl"
    marks = [3, {"name": [], "said": {}}]
    kept = {"prodigy": {"text": 7, "answer": "reject", "meta": 1}, "rasa": {"entities": marks}}
    path.write_text(json.dumps({"text": "pay me", "intent": "refund", "kept": kept}) + "\n")
    import_file(studio, ImportRequest("shop", path))
    out = tmp_path / "out.jsonl"
    write_project(studio, "shop", HandoverChoice("prodigy"), out)
    task = json.loads(out.read_text(encoding="utf-8"))
    assert (task["text"], task["answer"], task["meta"]) == ("pay me", "accept", 1)
    write_project(studio, "shop", HandoverChoice("rasa"), tmp_path / "rasa")
    assert "- pay me" in (tmp_path / "rasa" / "data" / "nlu.yml").read_text(encoding="utf-8")
