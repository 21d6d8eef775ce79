"""The clock jumps a day back and a year ahead: order and life of things do not hang on it."""

import itertools
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from app.services.labelling.decisions import Operation, decide
from storage import jobs, records
from storage.log import events
from storage.queries import dataset
from tests.builders.served_studio import copy_home
from tests.faults.kills.acts import do_queued, opened, soundness
from tests.faults.shims.write_points import do
from tests.faults.table import Fault

FAULTS = (
    Fault(
        9,
        "The clock jumps both ways",
        "A day back and a year ahead at each reading, under labels, undo and a training",
        "Order is by revision, no job is taken for dead, no file that is needed is swept",
    ),
)


def jump() -> None:
    """Let each reading of the clock be far from the one before."""
    leaps, real = itertools.cycle([-86_400.0, 31_536_000.0]), time.time

    class Jumping(datetime):
        @classmethod
        def now(cls, tz: object = None) -> datetime:
            return datetime.fromtimestamp(real(), UTC) + timedelta(seconds=next(leaps))

    records.datetime = Jumping
    time.time = lambda: real() + next(leaps)


def label_and_train(home: Path) -> tuple[list[str], int]:
    jump()
    studio = opened(home)
    with studio.database.read() as connection:
        rows = {row.text: row.id for row in dataset.utterances(connection, 1)}
        names = [intent.id for intent in dataset.intents(connection, 1)]
    key = rows["please label this"]
    for turn, name in enumerate(names[:3]):
        seen = (names[turn - 1],) if turn else None
        assert decide(studio, "p", [Operation(f"{turn}", "label", key, (name,), seen=seen)])
    with studio.database.write() as connection:
        actions = events.history(connection, 1)[:3]
        labelled = [events.changes_of(connection, action.id)[0].after for action in actions]
        order = [str(names.index(after[0])) for after in labelled]
        studio.artifacts.sweep(connection)
        assert studio.artifacts.damaged(connection) == {}
        events.undo(connection, 1, "local")
        undone = {row.text: row.labels for row in dataset.utterances(connection, 1)}
    assert undone["please label this"] == (names[1],)
    studio.database.close()
    return order, do_queued(home)


def test_order_and_jobs_do_not_hang_on_the_clock(template: Path, tmp_path: Path) -> None:
    copy = copy_home(template, tmp_path / "copy")
    ended = do(lambda: label_and_train(copy))
    assert ended.error is None
    assert ended.value == (["2", "1", "0"], 0)
    studio = opened(copy)
    with studio.database.read() as connection:
        states = [(job.state, job.attempt) for job in jobs.list_all(connection)]
    studio.database.close()
    assert states == [("succeeded", 1), ("succeeded", 1)]
    assert soundness(copy) == []
