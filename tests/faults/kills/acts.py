"""The acts on a home that are killed at each of their write points, and what holds afterwards."""

import dataclasses
import json
import math
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from app.bootstrap import open_studio, workplace_of
from app.jobs.worker import work
from app.services import upkeep
from app.services.data.erasing import erase_texts
from app.services.data.importing import ImportRequest, import_file
from app.services.data.projects import create_project
from app.services.discover.runs import start_grouping
from app.services.discover.stored import list_groups
from app.services.labelling.decisions import Operation, decide
from app.services.live.live_studio import open_live_studio
from app.services.studio import Studio
from app.services.traffic.receiving import Sent, receive_traffic
from app.services.training.runs import TrainingRequest, start_training
from app.settings import Settings
from core.errors import InvalidInput
from storage import database as opening
from storage import jobs, models, projects
from storage.database import open_database
from storage.migrations import steps
from storage.queries import dataset
from storage.records import UtteranceRecord
from storage.said import traffic
from storage.soundness.checksums import add_checksum
from tests.builders.served_studio import copy_home
from tests.builders.trained_home import Idle, train_here

ERASED = "where is my parcel"
DECISION = "decision-1"
SAID, SAID_AT_ONCE = 502, 500
"""Texts of a request with traffic, and how many of them are one transaction."""

NEWS = ("a first new text", "a second new text", "a third new text")


def opened(home: Path) -> Studio:
    return dataclasses.replace(open_studio(Settings(home=home, device="cpu")), executor=Idle())


def make_home(home: Path, labelled: Path, encoder: Path) -> Path:
    """Make a home with a trained model, texts that wait, and a training that is queued."""
    studio = opened(home)
    create_project(studio, "p")
    import_file(studio, ImportRequest("p", labelled))
    pool = labelled.with_name("pool.txt")
    pool.write_text("please label this\nand this, too\n", encoding="utf-8")
    import_file(studio, ImportRequest("p", pool))
    request = TrainingRequest("p", "instant", {}, str(encoder))
    train_here(studio, request)
    label(home, "and this, too", "earlier")  # the second version has other files than the first
    start_training(studio, request)
    studio.database.close()
    return home


def soundness(home: Path) -> list[str]:
    """Return all that `doctor` finds amiss in a home: database, artifacts, data."""
    found = [*opening.damage(home / "studio.db")]
    studio = opened(home)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(upkeep, "bundled_folder", lambda: None)
        patch.setattr(upkeep, "_MIN_FREE_BYTES", 0)
        found += [f"{c.subject}: {c.detail}" for c in upkeep.examine(studio) if not c.healthy]
    studio.database.close()
    return found


def texts_of(home: Path) -> dict[str, UtteranceRecord]:
    database = open_database(home / "studio.db")
    with database.read() as connection:
        project = projects.find(connection, "p")
        rows = {row.text: row for row in dataset.utterances(connection, project.id)}
    database.close()
    return rows


def events_of(home: Path, key: str) -> int:
    """Count the actions in the log under a key."""
    database = open_database(home / "studio.db")
    with database.read() as connection:
        query = sa.text("SELECT count(*) FROM batch WHERE key = :key")
        count = int(connection.execute(query, {"key": key}).scalar_one())
    database.close()
    return count


@dataclasses.dataclass(frozen=True)
class Act:
    """Something done in a home, and what must hold of the home after a kill and a second try.

    Attributes:
        do: The act; done again it completes what a kill interrupted.
        between: Asserts what holds after the kill, before anything else opened the home.
        after: Asserts what holds when the act was done again.
        prepare: Changes the copied home before the act.
        is_job: Whether a failure is told by the job, which a person starts again.
    """

    name: str
    do: Callable[[Path], Any]
    after: Callable[[Path], None]
    between: Callable[[Path], None] = lambda _: None
    prepare: Callable[[Path], None] = lambda _: None
    is_job: bool = False

    def prepared(self, template: Path, home: Path) -> Path:
        """Make a home out of another, and prepare the act there."""
        copy_home(template, home)
        self.prepare(home)
        return home


def label(home: Path, text: str = "please label this", key: str = DECISION) -> list[str]:
    studio = opened(home)
    with studio.database.read() as connection:
        rows = {row.text: row.id for row in dataset.utterances(connection, 1)}
        refund = dataset.intent_named(connection, 1, "refund").id
    operation = Operation(key, "label", rows[text], (refund,))
    outcomes = decide(studio, "p", [operation])
    studio.database.close()
    return [outcome.state for outcome in outcomes]


def _labelled_once(home: Path) -> None:
    assert events_of(home, DECISION) == 1
    assert len(texts_of(home)["please label this"].labels or ()) == 1


def _labelled_or_not(home: Path) -> None:
    saved = events_of(home, DECISION)
    assert saved in (0, 1)
    assert (texts_of(home)["please label this"].labels is not None) == bool(saved)


def import_news(home: Path) -> Any:
    file = home.with_name(f"{home.name}-news.txt")
    file.write_text("".join(f"{text}\n" for text in NEWS), encoding="utf-8")
    studio = opened(home)
    import_file(studio, ImportRequest("p", file))
    studio.database.close()


def _all_news(home: Path) -> None:
    assert set(NEWS) <= texts_of(home).keys()
    database = open_database(home / "studio.db")
    with database.read() as connection:
        rows = [row.text for row in dataset.utterances(connection, 1) if row.text in NEWS]
    database.close()
    assert sorted(rows) == sorted(NEWS)


def _all_news_or_none(home: Path) -> None:
    assert len(set(NEWS) & texts_of(home).keys()) in (0, len(NEWS))


def receive(home: Path) -> None:
    """Send texts as a bot does that did not hear whether they arrived: with the same keys."""
    studio = opened(home)
    sent = [Sent(f"said {n % 2}", "2026-02-02T10:00:00Z", "app", f"key {n}") for n in range(SAID)]
    live = open_live_studio(studio)
    live.traffic.last = -math.inf  # nobody types: no pause before each transaction
    receive_traffic(live, "p", sent, mask=True)
    studio.database.close()


def _said_in(home: Path) -> tuple[int, int]:
    """Count the rows of the traffic, and the texts that it brought."""
    database = open_database(home / "studio.db")
    with database.read() as connection:
        rows = traffic.sample(connection, 1, "2026-02-02", "2026-02-03", 10 * SAID)
        texts = [row.text for row in dataset.utterances(connection, 1)]
    database.close()
    assert len({row.key for row in rows}) == len(rows)
    return len(rows), sum(text in ("said 0", "said 1") for text in texts)


def _all_said_once(home: Path) -> None:
    assert _said_in(home) == (SAID, 2)


def _said_by_transactions(home: Path) -> None:
    assert _said_in(home) in ((0, 0), (SAID_AT_ONCE, 2), (SAID, 2))


def do_queued(home: Path) -> int:
    """Do the job that is queued, as its supervisor and child do."""
    import torch

    torch.set_num_threads(1)  # the threads of the process that was forked are not there
    studio = opened(home)
    with studio.database.write() as connection:
        [job] = jobs.live(connection) or [None]
        if job is None:
            return 0
        if job.state == "running":  # its process was killed
            jobs.put_back(connection, job.id, job.attempt)
        claimed = jobs.claim(connection, job.id)
    code = work(workplace_of(studio), claimed)
    studio.database.close()
    return code


def _one_version_more(home: Path) -> None:
    studio = opened(home)
    with studio.database.write() as connection:
        assert jobs.live(connection) == []
        assert [job.state for job in jobs.list_all(connection)] == ["succeeded"] * 2
        assert [version.number for version in models.list_all(connection, 1)] == [1, 2]
        assert studio.artifacts.damaged(connection) == {}
        studio.artifacts.sweep(connection, grace_seconds=0)
        assert studio.artifacts.damaged(connection) == {}
    studio.database.close()


def _version_and_end_together(home: Path) -> None:
    studio = opened(home)
    with studio.database.read() as connection:
        ended = [job for job in jobs.list_all(connection) if job.state == "succeeded"]
        assert len(models.list_all(connection, 1)) == len(ended)
    studio.database.close()


def queue_grouping(home: Path) -> None:
    """Queue a grouping of the texts that wait, in the place of the training."""
    studio = opened(home)
    with studio.database.write() as connection:
        for job in jobs.live(connection):
            jobs.request_cancel(connection, job.id)
    start_grouping(studio, "p", 1)
    studio.database.close()


def _grouped_once(home: Path) -> None:
    studio = opened(home)
    view = list_groups(studio, "p")
    assert [card.size for card in view.groups] == [1]
    assert view.ungrouped == 0
    assert _groupings(studio) == ["succeeded"]
    studio.database.close()


def _groups_and_end(home: Path) -> None:
    studio = opened(home)
    view = list_groups(studio, "p")
    is_done = _groupings(studio) == ["succeeded"]
    assert (len(view.groups), view.ungrouped) == ((1, 0) if is_done else (0, 1))
    studio.database.close()


def _groupings(studio: Studio) -> list[str]:
    with studio.database.read() as connection:
        return [job.state for job in jobs.list_all(connection) if job.kind == "discover"]


def back_up(home: Path) -> int:
    studio = opened(home)
    count = upkeep.back_up(studio, home.with_name(f"{home.name}.zip"))
    studio.database.close()
    return count


def _whole_backup(home: Path) -> None:
    target = home.with_name(f"{home.name}-restored")
    shutil.rmtree(target, ignore_errors=True)
    upkeep.restore(home.with_name(f"{home.name}.zip"), target)
    assert soundness(target) == []
    assert texts_of(target).keys() == texts_of(home).keys()
    shutil.rmtree(target)


def _whole_backup_or_none(home: Path) -> None:
    if home.with_name(f"{home.name}.zip").exists():
        _whole_backup(home)


def to_backup(home: Path) -> None:
    """Put a backup in the place of a home."""
    back_up(home)
    shutil.rmtree(home)


def bring_back(home: Path) -> int:
    if (home / "studio.db").exists():
        return 0
    return upkeep.restore(home.with_name(f"{home.name}.zip"), home)


def _restored(home: Path) -> None:
    assert len(texts_of(home)) == 22
    assert [path.name for path in home.parent.iterdir() if path.name.startswith((".", "tmp"))] == []


def to_first_schema(home: Path) -> None:
    to_schema(home, 1)


def to_schema(home: Path, number: int) -> None:
    """Make the database one of an earlier release, with the rows that fit it."""
    new, old = home / "studio.db", home / "older.db"
    open_database(new).close()
    engine = sa.create_engine(f"sqlite:///{old}")
    sa.event.listen(engine, "connect", lambda raw, _: add_checksum(raw))
    with pytest.MonkeyPatch.context() as patch, engine.begin() as connection:
        patch.setattr(steps, "STEPS", steps.STEPS[:number])
        steps.migrate(connection)
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.exec_driver_sql("PRAGMA foreign_keys=OFF")
        connection.exec_driver_sql(f"ATTACH '{new}' AS new")
        for table in _tables(connection, "main"):
            _copy_rows(connection, table)
    engine.dispose()
    for name in ("studio.db", "studio.db-wal", "studio.db-shm"):
        (home / name).unlink(missing_ok=True)
    old.rename(new)


def _tables(connection: sa.Connection, schema: str) -> list[str]:
    query = f"SELECT name FROM {schema}.sqlite_master WHERE type = 'table'"
    names = [str(row[0]) for row in connection.exec_driver_sql(query)]
    return [name for name in names if not name.startswith(("sqlite_", "alembic"))]


def _copy_rows(connection: sa.Connection, table: str) -> None:
    def columns(schema: str) -> list[str]:
        rows = connection.exec_driver_sql(f"PRAGMA {schema}.table_info({table})")
        return [str(row[1]) for row in rows]

    both = [name for name in columns("main") if name in columns("new")]
    names = ", ".join(f'"{name}"' for name in both)
    connection.exec_driver_sql(
        f"INSERT INTO main.{table} ({names}) SELECT {names} FROM new.{table}"
    )


def upgrade(home: Path) -> None:
    open_database(home / "studio.db").close()


def _upgraded(home: Path) -> None:
    assert len(texts_of(home)) == 22
    assert sum(row.labels is not None for row in texts_of(home).values()) == 21
    left = json.dumps(sorted(path.name for path in home.glob("studio.db.before-*")))
    assert left.count("before-") == 1, left


def erase(home: Path) -> None:
    studio = opened(home)
    with studio.database.write() as connection:
        for job in jobs.live(connection):
            jobs.request_cancel(connection, job.id)
    with suppress(InvalidInput):  # said of a text that is gone for good already
        erase_texts(studio, "p", [ERASED], now=True)
    studio.database.close()


def _erased(home: Path) -> None:
    files = [path for path in home.rglob("*") if path.is_file()]
    holding = [str(path) for path in files if ERASED.encode() in path.read_bytes()]
    assert holding == [], holding


ACTS = (
    Act("label", label, _labelled_once, _labelled_or_not),
    Act("import", import_news, _all_news, _all_news_or_none),
    Act("traffic", receive, _all_said_once, _said_by_transactions),
    Act("training", do_queued, _one_version_more, _version_and_end_together, is_job=True),
    Act("grouping", do_queued, _grouped_once, _groups_and_end, queue_grouping, is_job=True),
    Act("backup", back_up, _whole_backup, _whole_backup_or_none),
    Act("restore", bring_back, _restored, prepare=to_backup),
    Act("migration", upgrade, _upgraded, prepare=to_first_schema),
    Act("erase", erase, _erased),
)
