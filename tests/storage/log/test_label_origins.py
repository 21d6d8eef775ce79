"""The log tells where a label came from, also after acts that were undone and redone."""

import time
from pathlib import Path

import pytest
from sqlalchemy.engine import Connection

from storage import projects
from storage.database import open_database
from storage.log import edits, events
from storage.log.events import Action
from storage.log.label_origins import (
    GROUP,
    LabelOrigin,
    LabelWays,
    label_origins,
    label_ways,
    labelled_singly,
    labelled_with_groups,
)
from storage.queries import dataset


@pytest.fixture
def connection(tmp_path: Path):
    opened = open_database(tmp_path / "studio.db")
    with opened.write() as connection:
        yield connection
    opened.close()


def start(connection: Connection) -> int:
    project = projects.create(connection, "p").id
    made = [edits.create_intent(name) for name in "ab"]
    rows = [
        edits.create_utterance(f"u{i}", f"text {i}", "train", "f", [made[0].subject_id])
        for i in range(3)
    ]
    action = Action("import", "Ann", "import labelled.csv")
    events.record(connection, project, action, [*made, *rows])
    return project


def origins(connection: Connection, project: int) -> tuple[dict[str, LabelOrigin], LabelWays]:
    ids, head = [f"u{i}" for i in range(3)], events.head(connection, project)
    found = label_origins(connection, project, ids, head)
    return found, label_ways(connection, project, ids, head)


def relabel(connection: Connection, project: int, many: int) -> None:
    other = dataset.intents(connection, project)[1].id
    rows = list(dataset.utterances(connection, project))[:many]
    changes = [edits.label(row, [other]) for row in rows]
    events.record(connection, project, Action("relabel", "Bob", "page"), changes)


def merge(connection: Connection, project: int) -> None:
    changes = edits.merge_intents(connection, project, "a", "b")
    events.record(connection, project, Action("merge", "Bob", "page"), changes)


@pytest.mark.parametrize("act", ["merge", "relabel one", "relabel all"])
def test_an_undo_gives_back_where_labels_came_from(connection: Connection, act: str) -> None:
    """After an undone merge a receipt called imported examples labelled by hand, many at a time."""
    project = start(connection)
    before = origins(connection, project)
    assert before[0]["u0"].origin == "import labelled.csv"
    assert before[1] == LabelWays(by_file=3)
    if act == "merge":
        merge(connection, project)
    else:
        relabel(connection, project, 1 if act == "relabel one" else 3)
    done = origins(connection, project)
    assert done[0]["u0"].actor == "Bob"
    at_the_time = events.head(connection, project)
    events.undo(connection, project, "Cid")
    assert origins(connection, project) == before
    assert label_origins(connection, project, ["u0"], at_the_time) == {"u0": done[0]["u0"]}
    events.redo(connection, project, "Cid")
    assert origins(connection, project) == done
    events.undo(connection, project, "Cid")
    assert origins(connection, project) == before


def test_an_undone_deletion_leaves_the_origin(connection: Connection) -> None:
    project = start(connection)
    before = origins(connection, project)
    row = next(iter(dataset.utterances(connection, project)))
    events.record(connection, project, Action("delete", "local"), [edits.delete_utterance(row)])
    assert row.id not in origins(connection, project)[0]
    events.undo(connection, project, "local")
    assert origins(connection, project) == before


def test_thousands_of_labels_by_groups_are_found_at_once(connection: Connection) -> None:
    """Each utterance was compared with each event: 5,800 took 29 s, and all pages stood still."""
    project = start(connection)
    ids = [f"g{i:04}" for i in range(4_000)]
    texts = [edits.create_utterance(key, f"said {key}", "train", "f", None) for key in ids]
    events.record(connection, project, Action("import", "Ann", "import chats.csv"), texts)
    first, second = (intent.id for intent in dataset.intents(connection, project))

    def label(keys: list[str], intent: str, origin: str) -> None:
        rows = {row.id: row for row in dataset.utterances(connection, project)}
        changes = [edits.label(rows[key], [intent]) for key in keys]
        events.record(connection, project, Action("label", "Bob", origin), changes)

    for at in range(0, 3_000, 500):
        label(ids[at : at + 500], second, GROUP)
    for key in ids[:5]:  # these were labelled once more, each by itself
        label([key], first, "page")
    began = time.process_time()
    groups = labelled_with_groups(connection, project, events.head(connection, project))
    singly = labelled_singly(connection, project)
    assert time.process_time() - began < 1.0
    assert groups == set(ids[5:3_000])
    assert singly.keys() == {"u0", "u1", "u2", *ids[:5], *ids[3_000:]}
