"""Marks and sets that changed in the project go back into a package, or are told of."""

import json
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from core.platforms.agent import Loss
from core.platforms.overlay import Labelled, overlay
from core.platforms.reading import read_agent
from core.templates.slots import Slot
from tests.core.platforms.exports import ES, EXPORTS, back, project_of, write_export

MARKING = sorted(EXPORTS.keys() - {"dialogflow-cx", "lex"})
LEFT = "marked values that differ in the project: left as they are"
FLIGHT = "fly from Rome to Oslo"
FROM, TO = Slot(9, 13, "city"), Slot(17, 21, "city")


def wider(slots: tuple[Slot, ...]) -> tuple[Slot, ...]:
    """Return marks that begin at the word before: “to Boston”."""
    return tuple(replace(one, start=one.start - 3) for one in slots)


@pytest.mark.parametrize("platform", MARKING)
def test_changed_marks_go_back_alone(platform: str, tmp_path: Path) -> None:
    """They stayed behind, and nothing told of it."""
    export = write_export(platform, tmp_path)
    agent = read_agent(export)
    found = overlay(agent, [replace(row, slots=wider(row.slots)) for row in project_of(agent)])
    assert (found.edited, found.moved, found.added, found.losses) == (1, 0, 0, ())
    assert (found.kept, found.changes, len(found.changed)) == (len(agent.phrases) - 1, (), 1)
    back(agent, found, tmp_path)
    again = read_agent(tmp_path / "out" / export.name)
    assert [(one.text, one.intent, one.split, one.slots) for one in again.phrases] == [
        (one.text, one.intent, one.split, wider(one.slots)) for one in agent.phrases
    ]
    if platform == "dialogflow-es":
        assert [one.fields for one in again.phrases] == [one.fields for one in agent.phrases]


def test_a_phrase_moves_with_its_new_marks(tmp_path: Path) -> None:
    path = tmp_path / "nlu.yml"
    path.write_text(
        "nlu:\n- intent: book\n  examples: |\n    - fly from [Rome](city) to Oslo\n"
        "- intent: refund\n  examples: |\n    - pay\n",
        encoding="utf-8",
    )
    rows = [Labelled(FLIGHT, ("refund",), (FROM, TO)), Labelled("pay", ("refund",))]
    found = overlay(read_agent(path), rows)
    assert (found.moved, found.edited, found.kept, found.losses) == (1, 0, 1, ())
    assert found.changed["nlu.yml"].decode() == (
        "nlu:\n- intent: book\n  examples: |\n"
        "- intent: refund\n  examples: |\n    - pay\n    - fly from [Rome](city) to [Oslo](city)\n"
    )


@pytest.mark.parametrize(
    ("value", "after"),
    [
        ("1", '[Rome]{"entity": "city", "value": 1} to [Oslo](city)'),
        ("null", '[Rome]{"entity": "city", "value": null} to [Oslo](city)'),
        ('"\\ud800"', ""),  # no file can hold it but as an escape
    ],
)
def test_a_value_on_a_line_stays_a_number(value: str, after: str, tmp_path: Path) -> None:
    """It came back as a text."""
    path = tmp_path / "nlu.yml"
    start = "nlu:\n- intent: book\n  examples: |\n    - fly from "
    line = f'[Rome]{{"entity": "city", "value": {value}}} to Oslo'
    path.write_text(f"{start}{line}\n", encoding="utf-8")
    found = overlay(read_agent(path), [Labelled(FLIGHT, ("book",), (FROM, TO))])
    written = {"nlu.yml": f"{start}{after}\n".encode()} if after else {}
    assert found.changed == written


@pytest.mark.parametrize(
    "mark",
    [
        '{"entity":"city","value":0.1234567890123456789}',
        '{"entity": "city", "role": "", "value": 1}',
        '{"entity": "city", "name": ["a"], "value": 1}',
        "(city:ROM)",
    ],
)
def test_a_mark_that_stays_on_a_line_is_written_as_it_was(mark: str, tmp_path: Path) -> None:
    """A long fraction lost digits, and keys that say nothing here were left out."""
    path = tmp_path / "nlu.yml"
    line = f"nlu:\n- intent: book\n  examples: |\n    - fly from [Rome]{mark} to Oslo\n"
    path.write_text(line, encoding="utf-8")
    found = overlay(read_agent(path), [Labelled(FLIGHT, ("book",), (FROM, TO))])
    assert found.changed["nlu.yml"].decode() == line.replace("Oslo", "[Oslo](city)")
    assert found.losses == ()


@pytest.mark.parametrize(
    "slots",
    [
        (Slot(0, 4, "city"), Slot(8, 12, "city")),
        (Slot(0, 4, "city"),),  # in the place of the other
    ],
)
def test_a_new_mark_takes_no_value_from_one_of_equal_words(
    slots: tuple[Slot, ...], tmp_path: Path
) -> None:
    """It got the value of the other."""
    path, text = tmp_path / "nlu.yml", "Rome to Rome"
    path.write_text("nlu:\n- intent: book\n  examples: |\n    - Rome to [Rome](city:ROM)\n")
    found = overlay(read_agent(path), [Labelled(text, ("book",), slots)])
    assert (found.changed, found.losses) == ({}, (Loss(LEFT, 1, (text,)),))


@pytest.mark.parametrize("sign", ["\x85", "\u2028", "\u2029"])
def test_a_line_with_a_rare_line_break_stays_as_it_is(sign: str, tmp_path: Path) -> None:
    """The break became a blank, and nothing told of it."""
    path, text = tmp_path / "nlu.yml", f"fly from Rome{sign}to Oslo"
    line = text.replace("Rome", "[Rome](city)")
    path.write_bytes(f"nlu:\n- intent: book\n  examples: |\n    - {line}\n".encode())
    found = overlay(read_agent(path), [Labelled(text, ("book",), (FROM, TO))])
    assert (found.changed, found.losses) == ({}, (Loss(LEFT, 1, (text,)),))


def test_a_mark_that_stays_keeps_what_else_it_says(tmp_path: Path) -> None:
    path = tmp_path / "nlu.json"
    mark = {"start": 9, "end": 13, "value": "ROM", "entity": "city", "confidence": 0.5}
    example = {"text": FLIGHT, "intent": "book", "entities": [mark], "note": 1}
    path.write_text(json.dumps({"rasa_nlu_data": {"common_examples": [example]}}))
    found = overlay(read_agent(path), [Labelled(FLIGHT, ("book",), (FROM, TO))])
    (after,) = json.loads(found.changed["nlu.json"])["rasa_nlu_data"]["common_examples"]
    new = {"start": 17, "end": 21, "value": "Oslo", "entity": "city"}
    assert after == example | {"entities": [mark, new]}


def test_a_mark_with_an_empty_role_stays_as_it_is(tmp_path: Path) -> None:
    """An empty role was no role, and the mark lost all that it said besides."""
    path = tmp_path / "nlu.json"
    mark = {"start": 9, "end": 13, "value": "ROM", "entity": "city", "role": ""}
    example = {"text": FLIGHT, "intent": "book", "entities": [mark]}
    path.write_text(json.dumps({"rasa_nlu_data": {"common_examples": [example]}}))
    found = overlay(read_agent(path), [Labelled(FLIGHT, ("book",), (FROM, TO))])
    (after,) = json.loads(found.changed["nlu.json"])["rasa_nlu_data"]["common_examples"]
    assert after["entities"][0] == mark


def test_half_of_a_character_in_a_field_stays_an_escape(tmp_path: Path) -> None:
    """A file with any sign beyond ASCII could not be written for it."""
    path = tmp_path / "nlu.json"
    mark = {"start": 9, "end": 13, "value": "Rome", "entity": "city"}
    example = {"text": FLIGHT, "intent": "book", "entities": [mark], "note": "\ud800"}
    other = {"text": "to Zurich", "intent": "book", "entities": []}
    text = json.dumps({"rasa_nlu_data": {"common_examples": [example, other]}})
    path.write_text(text.replace("Zurich", "Zürich"), encoding="utf-8")
    found = overlay(read_agent(path), [Labelled(FLIGHT, ("book",), (FROM, TO))])
    after, _ = json.loads(found.changed["nlu.json"])["rasa_nlu_data"]["common_examples"]
    assert (after["note"], len(after["entities"])) == ("\ud800", 2)


@pytest.mark.parametrize(
    ("number", "is_left"),
    [
        ("12345678901234567891", True),  # it became 12345678901234567000
        ("1e400", True),  # it became Infinity, which is no JSON
        ("0.12345678901234567891", True),  # it became 0.12345678901234568
        ("1e-400", True),  # it became 0.0
        ("12345678901234567", False),
        ("100000000000000000000", False),
        ("0.25", False),
        ("-0.0e-999", False),
    ],
)
def test_a_number_that_would_change_keeps_its_phrase_as_it_is(
    number: str, tmp_path: Path, *, is_left: bool
) -> None:
    path = tmp_path / "nlu.json"
    mark = {"start": 9, "end": 13, "value": "Rome", "entity": "city"}
    example = {
        "text": FLIGHT,
        "intent": "book",
        "entities": [mark],
        "metadata": {"ids": ["NUMBER"]},
    }
    text = json.dumps({"rasa_nlu_data": {"common_examples": [example]}})
    path.write_text(text.replace('"NUMBER"', number), encoding="utf-8")
    found = overlay(read_agent(path), [Labelled(FLIGHT, ("book",), (FROM, TO))])
    if is_left:
        assert (found.changed, found.losses) == ({}, (Loss(LEFT, 1, (FLIGHT,)),))
        return
    (after,) = json.loads(found.changed["nlu.json"])["rasa_nlu_data"]["common_examples"]
    assert (after["metadata"]["ids"], found.edited) == ([json.loads(number)], 1)


def test_marks_stand_at_their_places_in_a_phrase_with_blanks_before_it(tmp_path: Path) -> None:
    path = tmp_path / "utterances.json"
    mark = {"entity": "city", "startPos": 9, "endPos": 12}
    path.write_text(json.dumps([{"text": "  fly to Rome", "intent": "book", "entities": [mark]}]))
    agent = read_agent(path)
    assert overlay(agent, [Labelled("fly to Rome", ("book",), (Slot(7, 11, "city"),))]).edited == 0
    found = overlay(agent, [Labelled("fly to Rome", ("book",), (Slot(4, 11, "city"),))])
    (after,) = json.loads(found.changed["utterances.json"])
    assert after["entities"] == [{"entity": "city", "startPos": 6, "endPos": 12}]


def test_a_wider_mark_keeps_the_type_that_its_phrase_gives_it(tmp_path: Path) -> None:
    """It got the type that the last phrase of the agent gives to the same name."""
    name = "intents/book flight_usersays_en.json"
    first, second = json.loads(ES[name])
    second["data"] = [one | {"meta": "@sys.geo-city"} for one in first["data"] if "alias" in one]
    path = tmp_path / "agent.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for file, text in (ES | {name: json.dumps([first, second])}).items():
            archive.writestr(file, text)
    agent = read_agent(path)
    assert agent.marks == {"to_city": "@sys.geo-city"}
    rows = [
        replace(row, slots=wider(row.slots)) if row.text == "fly to Boston" else row
        for row in project_of(agent)
    ]
    after, _ = json.loads(overlay(agent, rows).changed[name])
    mark = {"text": "to Boston", "alias": "to_city", "meta": "@city", "userDefined": True}
    assert after["data"] == [{"text": "fly ", "userDefined": False}, mark]


def test_marks_that_cannot_be_written_are_told(tmp_path: Path) -> None:
    """Lex has no place for a value; elsewhere the name, or what else is marked, forbids it."""
    lex = read_agent(write_export("lex", tmp_path))
    found = overlay(lex, [replace(row, slots=wider(row.slots)) for row in project_of(lex)])
    assert (found.changed, found.edited) == ({}, 0)
    assert found.losses == (Loss(LEFT, 1, ("fly to Boston",)),)
    luis = read_agent(write_export("luis", tmp_path))
    now: dict[str, tuple[Slot, ...]] = {
        "🛫 fly to Boston": (),  # deleted marks stay, as deleted texts do
        "get my money back": (Slot(4, 6, "city"),),
        "refund my ticket": (Slot(10, 16, "thing"),),  # a name that the app does not have
    }
    rows = [replace(row, slots=now.get(row.text, ())) for row in project_of(luis)]
    found = overlay(luis, rows)
    assert (found.edited, found.kept) == (1, 3)
    assert found.losses == (Loss(LEFT, 2, ("🛫 fly to Boston", "refund my ticket")),)


def test_parts_inside_a_value_are_not_lost_for_a_changed_mark(tmp_path: Path) -> None:
    path = tmp_path / "x.lu"
    path.write_text("# book\n- fly {@trip=from {@city=Rome}} now\n- to {@city=Oslo}\n")
    agent = read_agent(path)
    assert agent.phrases[0].slots == (Slot(4, 13, "trip"),)
    rows = [
        replace(row, slots=(FROM,) if row.text[0] == "f" else row.slots)
        for row in project_of(agent)
    ]
    found = overlay(agent, rows)
    assert (found.changed, found.losses) == ({}, (Loss(LEFT, 1, ("fly from Rome now",)),))


def test_parts_inside_a_value_of_luis_are_not_lost_for_a_wider_mark(tmp_path: Path) -> None:
    """They vanished, and nothing told of it; where the mark stays, they do."""
    path = tmp_path / "utterances.json"
    part = {"entity": "name", "startPos": 9, "endPos": 12}
    mark = {"entity": "city", "startPos": 9, "endPos": 12, "children": [part]}
    path.write_text(json.dumps([{"text": FLIGHT, "intent": "book", "entities": [mark]}]))
    agent = read_agent(path)
    found = overlay(agent, [Labelled(FLIGHT, ("book",), (replace(FROM, start=4),))])
    assert (found.changed, found.losses) == ({}, (Loss(LEFT, 1, (FLIGHT,)),))
    found = overlay(agent, [Labelled(FLIGHT, ("book",), (FROM, TO))])
    (after,) = json.loads(found.changed["utterances.json"])
    assert after["entities"] == [mark, {"entity": "city", "startPos": 17, "endPos": 20}]


def test_a_project_without_marks_says_nothing_of_them(tmp_path: Path) -> None:
    agent = read_agent(write_export("clu", tmp_path))
    found = overlay(agent, [replace(row, slots=()) for row in project_of(agent)])
    assert (found.changed, found.losses) == ({}, ())


def test_a_text_that_is_marked_in_one_place_and_not_in_another_stays(tmp_path: Path) -> None:
    export = write_export("watson", tmp_path)
    twice = export.read_text(encoding="utf-8").replace(
        '{"text":"refund my ticket"}', '{"text":"refund my ticket"},{"text":"🛫 fly to Boston"}'
    )
    export.write_text(twice, encoding="utf-8")
    agent = read_agent(export)
    first = {row.text: row for row in reversed(project_of(agent))}
    assert overlay(agent, first.values()).changed == {}


def test_clu_is_told_which_texts_are_of_the_test_set(tmp_path: Path) -> None:
    """A text that changed its set kept the old one there, and new test texts were left out."""
    agent = read_agent(write_export("clu", tmp_path))
    before = json.loads(EXPORTS["clu"]["project.json"])["assets"]["utterances"]
    sets = {"get my money back": True, "refund my ticket": False, "who won the match": True}
    rows = [replace(row, is_test=sets.get(row.text, row.is_test)) for row in project_of(agent)]
    new = Labelled("money for my seat", ("refund",), is_test=True)
    found = overlay(agent, [*rows, new])
    assert (found.edited, found.moved, found.added, found.losses) == (3, 0, 1, ())
    *after, added = json.loads(found.changed["project.json"])["assets"]["utterances"]
    assert after == [
        one | ({"dataset": "Test" if sets[one["text"]] else "Train"} if one["text"] in sets else {})
        for one in before
    ]
    assert (added["text"], added["dataset"]) == (new.text, "Test")
    both = [*project_of(agent), Labelled("refund my ticket", ("refund",))]
    assert overlay(agent, both).changed == {}


def test_a_set_goes_back_where_the_marks_cannot(tmp_path: Path) -> None:
    """A text of CLU stayed in its old set for marks that could not be written."""
    said, name = "get my money back", "project.json"
    package = json.loads(EXPORTS["clu"][name])
    utterance = package["assets"]["utterances"][1]
    utterance["entities"] = [{"category": "city", "offset": 4, "length": 0}]  # marks no words
    (tmp_path / name).write_text(json.dumps(package))
    agent = read_agent(tmp_path / name)
    rows = [
        replace(row, slots=(Slot(7, 12, "city"),), is_test=True) if row.text == said else row
        for row in project_of(agent)
    ]
    found = overlay(agent, rows)
    assert (found.edited, found.losses) == (1, (Loss(LEFT, 1, (said,)),))
    after = json.loads(found.changed[name])["assets"]["utterances"][1]
    assert after == utterance | {"dataset": "Test"}
