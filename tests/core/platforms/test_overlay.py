"""What comes from a platform goes back into it: nothing changes but what was relabelled."""

import difflib
import json
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from core.platforms.overlay import Deleted, Labelled, overlay
from core.platforms.reading import read_agent
from core.templates.slots import Slot
from tests.core.platforms.exports import (
    EXPORTS,
    TABLES,
    back,
    project_of,
    read_export,
    write_export,
)

ALL = sorted({**EXPORTS, **TABLES})
REFUND = "get my money back"


@pytest.fixture(params=ALL)
def export(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return write_export(request.param, tmp_path)


def asked_refund(text: str) -> bool:
    return text in (REFUND, "get me my money back")


def test_unchanged_labels_change_no_byte(export: Path, tmp_path: Path) -> None:
    agent = read_agent(export)
    found = overlay(agent, project_of(agent))
    assert (found.moved, found.added, found.kept) == (0, 0, len(agent.phrases))
    assert back(agent, found, tmp_path) == read_export(export)


def test_a_deleted_phrase_leaves_the_package_if_it_is_asked_for(
    export: Path, tmp_path: Path
) -> None:
    agent = read_agent(export)
    (text,) = {one.text for one in agent.phrases if asked_refund(one.text)}
    rows = [row for row in project_of(agent) if row.text != text]
    deleted = Deleted(frozenset({text, "never in the package"}))
    left = overlay(agent, rows, deleted=deleted)
    assert (left.changed, left.missing, left.removed, left.changes) == ({}, 1, 0, ())
    assert [loss.what for loss in left.losses] == [
        "phrases deleted or reworded in the project: left as they are"
    ]
    found = overlay(agent, rows, deleted=replace(deleted, is_removed=True))
    assert (found.moved, found.added, found.removed, found.missing) == (0, 0, 1, 1)
    assert (found.kept, found.losses) == (len(agent.phrases) - 1, ())
    (change,) = found.changes
    assert (change.text, change.after) == (text, None)
    after = back(agent, found, tmp_path)
    again = read_agent(tmp_path / "out" / export.name)
    assert [(one.text, one.intent, one.slots) for one in again.phrases] == [
        (one.text, one.intent, one.slots) for one in agent.phrases if one.text != text
    ]
    for name, content in read_export(export).items():
        new = [one for one in after[name].split() if one not in content.split()]
        assert len(new) <= 1, new  # a count, or the name that a row had from the one before


def test_a_phrase_that_the_project_never_had_stays(export: Path) -> None:
    agent = read_agent(export)
    rows = [row for row in project_of(agent) if not asked_refund(row.text)]
    found = overlay(agent, rows, deleted=Deleted(is_removed=True))
    assert (found.changed, found.missing, found.removed) == ({}, 0, 0)
    assert [(loss.what, loss.count) for loss in found.losses] == [
        ("phrases that the project never had: left as they are", 1)
    ]


def test_one_relabel_moves_one_phrase(export: Path, tmp_path: Path) -> None:
    agent = read_agent(export)
    rows = [
        replace(row, intents=("refund",)) if asked_refund(row.text) else row
        for row in project_of(agent)
    ]
    found = overlay(agent, rows)
    assert (found.moved, found.added, found.losses, found.refusals) == (1, 0, (), ())
    after = back(agent, found, tmp_path)
    out = tmp_path / "out" / export.name
    again = read_agent(out)
    moved = {one.text: one.intent for one in again.phrases}
    assert moved == {
        one.text: "refund" if asked_refund(one.text) else one.intent for one in agent.phrases
    }
    slots = {one.text: one.slots for one in agent.phrases}
    assert {one.text: one.slots for one in again.phrases} == slots
    before = read_export(export)
    assert set(after) == set(before)
    for name, content in before.items():
        if after[name] != content:
            _differs_by_one_phrase(name, content.decode(), after[name].decode())


def _differs_by_one_phrase(name: str, before: str, after: str) -> None:
    """What is gone or new is about the relabelled phrase alone."""
    pieces = difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    changed = [one for one in pieces if one[0] != "equal"]
    assert len(changed) <= 6, (name, changed)
    if name.endswith(".json"):
        json.loads(after)


@pytest.mark.parametrize("platform", ALL)
def test_a_new_text_is_written_as_its_neighbours_are(platform: str, tmp_path: Path) -> None:
    export = write_export(platform, tmp_path)
    agent = read_agent(export)
    new = "I want the 💶 returned"
    marked = (Slot(11, 12, next(iter(agent.marks))),) if agent.marks else ()
    found = overlay(agent, [*project_of(agent), Labelled(new, ("refund",), marked)])
    assert (found.moved, found.added) == (0, 1)
    after = back(agent, found, tmp_path)
    again = read_agent(tmp_path / "out" / export.name)
    added = [one for one in again.phrases if one.intent == "refund"][-1]
    if platform == "lex":  # its intent has no such slot
        (loss,) = found.losses
        assert loss.what == "values of “city” where the intent has none: plain words"
        assert (added.text, added.slots) == (new, ())
    else:
        assert (added.text, added.slots, found.losses) == (new, marked, ())
    assert len(again.phrases) == len(agent.phrases) + 1
    changed = [name for name, content in read_export(export).items() if after[name] != content]
    for name in changed:
        old_lines = read_export(export)[name].decode().splitlines()
        new_lines = after[name].decode().splitlines()
        gone = [one for one in difflib.ndiff(old_lines, new_lines) if one.startswith("- ")]
        assert len(gone) <= 2, gone  # the line of the closing bracket, and a count


def test_a_new_phrase_names_its_language_where_its_neighbours_do(tmp_path: Path) -> None:
    export = write_export("dialogflow-es", tmp_path)
    with_lang = {
        name: content.replace(b'"count": 0,', b'"count": 0,\n    "lang": "en",')
        for name, content in read_export(export).items()
    }
    for files in (read_export(export), with_lang):
        with zipfile.ZipFile(export, "w") as archive:
            for name, content in files.items():
                archive.writestr(name, content)
        agent = read_agent(export)
        new = Labelled("I want my money", ("refund",))
        found = overlay(agent, [*project_of(agent), new])
        (changed,) = found.changed.values()
        first, added = json.loads(changed)
        assert list(added) == list(first)
        assert added.get("lang") == first.get("lang")


def test_what_a_package_has_no_place_for_is_told(tmp_path: Path) -> None:
    agent = read_agent(write_export("lex", tmp_path))
    rows = [
        *project_of(agent),
        Labelled("who won the match", ()),
        Labelled("open an account", ("account",)),
        Labelled("two things", ("book", "refund")),
        Labelled("not yet labelled", None),
        Labelled("of the test set", ("book",), is_test=True),
        Labelled("x" * 501, ("book",)),
        Labelled("fly at noon", ("book",), (Slot(7, 11, "time"),)),
    ]
    found = overlay(agent, rows)
    told = {loss.what: (loss.count, loss.examples) for loss in found.losses}
    assert told == {
        "texts out of scope, for which the package has no place": (1, ("who won the match",)),
        "texts of “account”, an intent that the package does not have": (1, ("open an account",)),
        "new texts with several intents: the platform has one for each": (1, ("two things",)),
        "values of “time” where the intent has none: plain words": (1, ("fly at noon",)),
    }
    assert [(one.what, one.count) for one in found.refusals] == [
        ("new texts of over 500 characters", 1)
    ]


def test_a_new_text_goes_to_watson_on_one_line(tmp_path: Path) -> None:
    """Watson takes no line break and no tab."""
    agent = read_agent(write_export("watson", tmp_path))
    rows = project_of(agent)
    intent = next(row.intents for row in rows if row.intents)
    found = overlay(agent, [*rows, Labelled("give\tit\nback", intent)])
    assert found.added == 1
    assert "line breaks and tabs inside texts: written as blanks" in {
        loss.what for loss in found.losses
    }
    assert b"give it back" in b"".join(found.changed.values())
    for name, content in found.changed.items():
        (tmp_path / "again" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "again" / name).write_bytes(content)
        again = read_agent(tmp_path / "again" / name)
    assert overlay(again, [*rows, Labelled("give\tit\nback", intent)]).changed == {}


@pytest.mark.parametrize("is_last", [True, False])
def test_of_a_text_in_test_and_training_the_label_in_training_counts(
    tmp_path: Path, *, is_last: bool
) -> None:
    """The one whose id came last was written."""
    agent = read_agent(write_export("lex", tmp_path))
    rows = project_of(agent)
    test = replace(rows[0], intents=("refund",), is_test=True)
    assert rows[0].intents != test.intents
    assert overlay(agent, [*rows, test] if is_last else [test, *rows]).changed == {}


@pytest.mark.parametrize("platform", ["dialogflow-es", "luis", "clu", "watson"])
def test_out_of_scope_goes_to_the_place_that_the_platform_has(
    platform: str, tmp_path: Path
) -> None:
    export = write_export(platform, tmp_path)
    agent = read_agent(export)
    out = "🛫 fly to Boston" if platform != "dialogflow-es" else "fly to Boston"
    rows = [replace(row, intents=()) if row.text == out else row for row in project_of(agent)]
    found = overlay(agent, rows)
    assert found.moved == 1
    plain = ["marked values of texts out of scope: written as plain words"]
    assert [loss.what for loss in found.losses] == (plain if platform == "watson" else [])
    back(agent, found, tmp_path)
    again = read_agent(tmp_path / "out" / export.name)
    assert {one.text for one in again.phrases if not one.intent} == {out, "who won the match"}


def test_an_intent_that_means_out_of_scope_stays_and_takes_what_is_out_of_scope(
    tmp_path: Path,
) -> None:
    """The import reads `out_of_scope` as out of scope; unedited, its phrases moved elsewhere."""
    watson = write_export("watson", tmp_path)
    text = watson.read_text(encoding="utf-8").replace('"intent":"empty"', '"intent":"out_of_scope"')
    text = text.replace('"description":"","examples":[]', '"examples":[{"text":"sing for me"}]')
    watson.write_text(text, encoding="utf-8")
    names = {"book", "refund"}
    agent = read_agent(watson)
    rows = [
        replace(row, intents=()) if row.intents == ("out_of_scope",) else row
        for row in project_of(agent)
    ]
    assert overlay(agent, rows, names).changed == {}
    rasa = tmp_path / "nlu.yml"
    rasa.write_text(
        "nlu:\n- intent: book\n  examples: |\n    - a room\n    - a joke\n"
        "- intent: out_of_scope\n  examples: |\n    - who won\n",
        encoding="utf-8",
    )
    agent = read_agent(rasa)
    rows = [Labelled("a room", ("book",)), Labelled("a joke", ()), Labelled("who won", ())]
    found = overlay(agent, [*rows, Labelled("sing", ())], names)
    assert (found.moved, found.added, found.losses) == (1, 1, ())
    assert found.changed["nlu.yml"].decode() == (
        "nlu:\n- intent: book\n  examples: |\n    - a room\n"
        "- intent: out_of_scope\n  examples: |\n    - who won\n    - a joke\n    - sing\n"
    )


def test_a_text_of_two_intents_stays_in_both(tmp_path: Path) -> None:
    """Without an edit, the project's one label moved the other copy."""
    export = write_export("watson", tmp_path)
    twice = export.read_text(encoding="utf-8").replace(
        '{"text":"refund my ticket"}', '{"text":"refund my ticket"},{"text":"get my money back"}'
    )
    export.write_text(twice, encoding="utf-8")
    agent = read_agent(export)
    rows = {row.text: row for row in reversed(project_of(agent))}
    assert overlay(agent, rows.values()).changed == {}


def test_the_second_intent_of_a_phrase_that_moves_is_told(tmp_path: Path) -> None:
    """It was told only of a phrase that stayed where it was."""
    agent = read_agent(write_export("watson", tmp_path))
    rows = [
        replace(row, intents=("refund", "empty")) if row.text == REFUND else row
        for row in project_of(agent)
    ]
    found = overlay(agent, rows)
    assert (found.moved, [one.after for one in found.changes]) == (1, ["refund"])
    assert [(one.what, one.examples) for one in found.losses] == [
        ("phrases with several intents: they stand under one of them", (REFUND,))
    ]


def test_the_count_of_a_cx_intent_follows(tmp_path: Path) -> None:
    export = write_export("dialogflow-cx", tmp_path)
    agent = read_agent(export)
    rows = [
        replace(row, intents=("empty",)) if row.text == REFUND else row for row in project_of(agent)
    ]
    after = back(agent, overlay(agent, rows), tmp_path)
    assert json.loads(after["intents/book/book.json"])["numTrainingPhrases"] == 1
    assert json.loads(after["intents/empty/empty.json"])["numTrainingPhrases"] == 1
    made = json.loads(after["intents/empty/trainingPhrases/en.json"])
    assert made["trainingPhrases"][0]["parts"] == [{"text": REFUND, "auto": True}]


@pytest.mark.parametrize(
    ("platform", "of", "to", "intent"),
    [
        ("dialogflow-es", "book flight_usersays_de", "refund_usersays_de", "refund"),
        ("dialogflow-cx", "book/trainingPhrases/en", "empty/trainingPhrases/en", "empty"),
    ],
)
def test_half_of_a_character_in_a_field_goes_into_a_new_file_as_an_escape(
    platform: str, of: str, to: str, intent: str, tmp_path: Path
) -> None:
    """The export broke."""
    path, before, after = tmp_path / "agent.zip", f"intents/{of}.json", f"intents/{to}.json"
    files = EXPORTS[platform]
    said = files[before].replace('"text"', '"note": "\\ud800", "text"')
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in {**files, before: said}.items():
            archive.writestr(name, text)
    agent = read_agent(path)
    moved = [one.text for one in agent.phrases if one.file == before]
    rows = [
        replace(row, intents=(intent,)) if row.text in moved else row for row in project_of(agent)
    ]
    found = overlay(agent, rows)
    assert (found.moved, len(moved) > 0, found.losses) == (len(moved), True, ())
    assert json.loads(found.changed[after]) == json.loads(said)


def test_texts_that_a_lex_package_would_misread_or_repeat_are_told(tmp_path: Path) -> None:
    """Words in braces became a slot, and a template that was there was written once more."""
    agent = read_agent(write_export("lex", tmp_path))
    rows = [
        Labelled("my name is {name}", ("book",)),
        Labelled("fly to Rome", ("book",), (Slot(7, 11, "city"),)),
        Labelled("off to Rome", ("book",), (Slot(7, 11, "city"),)),
        Labelled("off to Paris", ("book",), (Slot(7, 12, "city"),)),
    ]
    found = overlay(agent, [*project_of(agent), *rows])
    assert (found.added, [one.text for one in found.changes]) == (1, ["off to Rome"])
    assert {one.what: one.examples for one in found.losses} == {
        "texts with signs that the file gives another meaning": ("my name is {name}",),
        "texts that are another's template with other values": ("fly to Rome", "off to Paris"),
    }
    moved = [replace(row, intents=("refund",)) if row.slots else row for row in project_of(agent)]
    assert overlay(agent, [*moved, rows[2]]).added == 1


def test_a_lex_template_moved_to_an_intent_without_its_slot_is_plain_words(tmp_path: Path) -> None:
    """Lex refuses a bot whose phrase names a slot that its intent does not have."""
    export = write_export("lex", tmp_path)
    agent = read_agent(export)
    rows = [replace(row, intents=("refund",)) if row.slots else row for row in project_of(agent)]
    found = overlay(agent, rows)
    (loss,) = found.losses
    assert (loss.count, loss.examples) == (1, ("fly to Boston",))
    after = back(agent, found, tmp_path)
    intent = json.loads(after["shop/BotLocales/en_US/Intents/refund/Intent.json"])
    said = [one["utterance"] for one in intent["sampleUtterances"]]
    assert said == ["refund my ticket", "fly to Boston"]


def test_what_is_told_of_a_package_can_be_sent(tmp_path: Path) -> None:
    """Half of a character in a phrase or in the name of an intent broke the whole request."""
    path = write_export("luis", tmp_path)
    text = path.read_text("utf-8").replace("who won the match", "who won \\ud800")
    path.write_text(text.replace('"intent": "refund"', '"intent": "\\ud800"'), "utf-8")
    rows = [Labelled("refund my ticket", ("book",)), Labelled(REFUND, ("book",))]
    found = overlay(read_agent(path), rows, {"book"})
    (change,), (loss,) = found.changes, found.losses
    assert (change.text, change.before, change.after) == ("refund my ticket", "\ufffd", "book")
    assert loss.examples == ("🛫 fly to Boston", "who won \ufffd")
