"""Slots are events like labels, and what nobody said is never tested with."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import Conflict, InvalidInput
from core.templates.slots import Slot, slotted
from storage import database as opening
from storage import projects
from storage.backup import back_up, restore
from storage.database import Database, open_database
from storage.log import edits, events, versions
from storage.log.diff import diff_states
from storage.log.events import Action
from storage.log.replay import canonical_hash, canonical_lines
from storage.queries import dataset
from storage.records import UNMARKED, UtteranceRecord, utterance_record
from tests.storage.test_migrations import as_before_m0003

CITY = Slot(7, 13, "city")


def start(database: Database) -> int:
    with database.write() as connection:
        project = projects.create(connection, f"p{len(projects.list_all(connection))}").id
        made = edits.create_intent("a")
        rows = [
            edits.create_utterance(f"u{i}", f"fly to Boston {i}", "train", "f", [made.subject_id])
            for i in range(4)
        ]
        events.record(connection, project, Action("import", "local"), [made, *rows])
    return project


def invented(key: str, **other: object) -> UtteranceRecord:
    made = edits.create_utterance(key, "fly to Denver", "train", "slots", None)
    plain = utterance_record(key, made.after)
    return replace(plain, **{"slots": (CITY,), "synthetic": "u0", **other})


def do(database: Database, project: int, verb: str, change) -> None:
    """Record what `change` makes of the utterance u0."""
    with database.write() as connection:
        row = dataset.utterance_by_id(connection, project, "u0")
        made = change(row)
        made = made if isinstance(made, list) else [made]
        events.record(connection, project, Action(verb, "local", key=verb), made)


def row(database: Database, project: int, key: str = "u0") -> UtteranceRecord:
    with database.read() as connection:
        return dataset.utterance_by_id(connection, project, key)


def back(database: Database, project: int, of: str | None = None) -> None:
    with database.write() as connection:
        events.undo(connection, project, "local", of=of)


def test_marking_is_undone_redone_and_found_again_in_the_log_and_a_backup(
    database: Database, tmp_path: Path
) -> None:
    project = start(database)
    do(database, project, "mark", lambda r: edits.mark(r, [CITY]))
    assert row(database, project).slots == (CITY,)
    back(database, project)
    assert row(database, project).slots == ()
    with database.write() as connection:
        events.redo(connection, project, "local")
        state = versions.state_at(connection, project, events.head(connection, project))
        assert state.utterance_records() == list(dataset.utterances(connection, project))
    back_up(database, tmp_path / "artifacts", tmp_path / "all.zip")
    restore(tmp_path / "all.zip", tmp_path / "home")
    again = open_database(tmp_path / "home" / "studio.db")
    assert row(again, project).slots == (CITY,)
    again.close()


@pytest.mark.parametrize(
    ("slots", "said"),
    [
        ([Slot(7, 99, "city")], "holds no words"),
        ([Slot(6, 7, "city")], "holds no words"),
        ([CITY, Slot(9, 15, "n")], "overlaps the one before"),
        ([Slot(7, 13, " ")], "no usable name"),
    ],
)
def test_bad_slots_are_refused_by_name(database: Database, slots, said: str) -> None:
    project = start(database)
    with pytest.raises(InvalidInput, match=said):
        do(database, project, "mark", lambda r: edits.mark(r, slots))
    raw = [[slot.start, slot.end, slot.name] for slot in slots]
    with pytest.raises(InvalidInput, match=said):  # nor past the functions that make changes
        do(database, project, "mark", lambda r: replace(edits.mark(r, []), after=raw))


def test_another_wording_keeps_the_slots_whose_values_stand_and_undo_restores_both(
    database: Database,
) -> None:
    project = start(database)
    do(database, project, "mark", lambda r: edits.mark(r, [Slot(0, 3, "how"), CITY]))
    before = row(database, project)
    do(database, project, "text", lambda r: edits.reword(r, "please take me to Boston, now"))
    now = row(database, project)
    assert [(now.text[s.start : s.end], s.name) for s in now.slots] == [("Boston", "city")]
    back(database, project)
    assert row(database, project) == before
    do(database, project, "gone", lambda r: edits.reword(r, "hello"))
    assert row(database, project).slots == ()
    back(database, project)
    assert row(database, project) == before


def test_slots_of_a_newer_wording_are_not_left_in_an_older_one(database: Database) -> None:
    project = start(database)
    do(database, project, "text", lambda r: edits.reword(r, "take me to Oslo"))
    do(database, project, "mark", lambda r: edits.mark(r, [Slot(11, 15, "city")]))
    with pytest.raises(Conflict, match="Values are marked"):
        back(database, project, of="text")
    assert row(database, project).text == "take me to Oslo"


def test_marks_of_many_go_in_one_statement_and_are_checked_each(database: Database) -> None:
    project = start(database)
    with database.write() as connection:
        rows = list(dataset.utterances(connection, project))
        changes = [edits.mark(r, [CITY]) for r in rows]
        events.record(connection, project, Action("mark", "local"), changes)
        assert {r.slots for r in dataset.utterances(connection, project)} == {(CITY,)}
        wrong = replace(changes[2], before=changes[2].after, after=[[7, 70, "city"]])
        with pytest.raises(InvalidInput, match="holds no words"):
            events.record(connection, project, Action("mark", "local"), [wrong, changes[3]])


def test_versions_say_what_is_marked_and_older_ones_keep_their_hash(database: Database) -> None:
    project = start(database)
    with database.write() as connection:
        record = projects.get(connection, project)
        old = versions.cut(connection, record, "before")
        rows = list(dataset.utterances(connection, project))
        names = dataset.intent_names(connection, project)
        lines = b"".join(canonical_lines(rows, names, "rows-1"))
        assert lines.splitlines()[0] == b'["u0","fly to Boston 0",["a"],"train"]'
        connection.exec_driver_sql(
            f"UPDATE dataset_version SET scheme = 'rows-1', "
            f"sha256 = '{canonical_hash(rows, names, 'rows-1')}' WHERE id = {old.id}"
        )
        events.record(
            connection, project, Action("mark", "local"), [edits.mark(r, [CITY]) for r in rows[:3]]
        )
        new = versions.cut(connection, record, "after")
        assert new.scheme == "rows-2"
        assert new.sha256 != old.sha256
        for number in (1, 2):
            version = versions.find(connection, project, number)
            state = versions.state_at(connection, project, version.revision)
            assert versions.is_whole(state, version)
        states = versions.states_between(connection, project, old.revision, new.revision)
        assert diff_states(*states).words == ("3 with other slots",)
        first = canonical_lines(dataset.utterances(connection, project), names)
        assert next(iter(first)).endswith(b'"train",[[7,13,"city"]],""]\n')


def test_a_home_from_before_there_were_slots_opens_and_undoes_its_past(tmp_path: Path) -> None:
    new = open_database(tmp_path / "new.db")
    project = start(new)
    new.close()
    as_before_m0003(tmp_path / "new.db", tmp_path / "old.db")
    plain = '{"text":"old","split":"train","source":"f","labels":null,"skipped":0,"flagged":""}'
    with pytest.MonkeyPatch.context() as patch:  # a row of the log as it was written then
        patch.setattr(opening, "_copy_aside", lambda *_: None)
        old = open_database(tmp_path / "old.db")
    with old.write() as connection:
        change = edits.create_utterance("old", "old", "train", "f", None)
        bare = {k: v for k, v in change.after.items() if k not in UNMARKED}
        assert len(bare) == plain.count(":")
        events.record(
            connection, project, Action("add", "local", key="add"), [replace(change, after=bare)]
        )
        read = dataset.utterance_by_id(connection, project, "old")
        assert (read.slots, read.synthetic) == ((), "")
        events.record(
            connection, project, Action("mark", "local"), [edits.mark(read, [Slot(0, 3, "age")])]
        )
    with pytest.raises(Conflict, match="changed meanwhile"):
        back(old, project, of="add")
    back(old, project)
    back(old, project, of="add")
    assert opening.damage(Path(old.engine.url.database or "")) == ()
    old.close()


def test_what_is_synthetic_stays_so(database: Database) -> None:
    project = start(database)
    with database.write() as connection:
        events.record(
            connection, project, Action("augment", "local"), [edits.create(invented("s"))]
        )
        made = dataset.utterance_by_id(connection, project, "s")
        with pytest.raises(InvalidInput, match="another kind of text"):
            events.record(
                connection, project, Action("x", "local"), [edits.edit(made, "synthetic", "")]
            )
        with pytest.raises(InvalidInput, match="asks for what people said"):
            edits.create(invented("t", split="test"))
        with pytest.raises(InvalidInput, match="asks for what people said"):
            events.record(
                connection, project, Action("x", "local"), [edits.edit(made, "split", "test")]
            )
        events.record(
            connection, project, Action("delete", "local"), [edits.delete_utterance(made)]
        )
        events.undo(connection, project, "local")
        assert dataset.utterance_by_id(connection, project, "s") == made


KINDS = ("add", "invent", "reword", "mark", "split", "many", "copy", "label", "delete")
Steps = st.lists(
    st.tuples(st.sampled_from([*KINDS, "undo", "redo"]), st.integers(0, 9), st.sampled_from("ptx")),
    max_size=25,
)
SPLITS = {"p": "pool", "t": "test", "x": "train"}


def act(connection, project: int, kind: str, place: int, choice: str) -> None:
    rows = list(dataset.utterances(connection, project))
    key, split = f"n{events.head(connection, project)}", SPLITS[choice]
    if kind in ("undo", "redo"):
        (events.undo if kind == "undo" else events.redo)(connection, project, "local")
        return
    if not rows and kind != "add":
        return
    one = rows[place % len(rows)] if rows else None
    changes = {
        "add": lambda: [edits.create_utterance(key, f"to Boston {key}", split, "f", None)],
        "invent": lambda: [edits.create(invented(key, split=split, synthetic=one.id))],
        "reword": lambda: edits.reword(one, f"{'Oslo' if choice == 'p' else one.text} {key}"),
        "mark": lambda: [edits.mark(one, [Slot(0, 2 + place % 3, "w")])],
        "split": lambda: [edits.edit(one, "split", split)],
        "many": lambda: [edits.edit(r, "split", split) for r in rows],
        "copy": lambda: [edits.create(replace(one, id=key, split=split))],
        "label": lambda: edits.decide(one, []),
        "delete": lambda: [edits.delete_utterance(one)],
    }[kind]()
    events.record(connection, project, Action(kind, "local"), changes)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory):
    opened = open_database(tmp_path_factory.mktemp("slots") / "studio.db")
    yield opened
    opened.close()


@settings(deadline=None, max_examples=60)
@given(steps=Steps)
def test_whatever_is_done_nothing_synthetic_is_tested_and_slots_fit(shared, steps) -> None:
    project = start(shared)
    made: set[str] = set()
    with shared.write() as connection:
        for one in steps:
            try:
                with connection.begin_nested():
                    act(connection, project, *one)
            except (InvalidInput, Conflict):
                continue
            rows = list(dataset.utterances(connection, project))
            made |= {r.id for r in rows if r.synthetic}
            assert not [r for r in rows if r.split == "test" and r.id in made]
            assert {r.id for r in rows if r.synthetic} == made & {r.id for r in rows}
            assert all(slotted(r.text, r.slots).slots == r.slots for r in rows)
        state = versions.state_at(connection, project, events.head(connection, project))
        assert state.utterance_records() == list(dataset.utterances(connection, project))
