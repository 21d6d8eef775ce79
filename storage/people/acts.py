"""Who did what and from where: the actions of the log, and acts outside it."""

from collections.abc import Sequence
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Row

from core.errors import StudioError
from storage.database import Database
from storage.people.touched import Touched, cut, touched_by
from storage.records import now
from storage.tables import act, batch, event

Via = Literal["page", "REST", "command", "job", "agent"]

VIA: ContextVar[Via] = ContextVar("via", default="command")
"""Where the present request comes from; each entrance of the program sets it."""

_ALSO = ("erase", "keep")
"""Verbs of actions that may change nothing in the log, and are acts all the same."""


@dataclass(frozen=True, slots=True)
class ActRecord:
    """One act.

    Attributes:
        via: As `Via` lists; empty where an earlier release did not keep it.
        verb: What was done: `label`, `import`, `merge`, `train`, `use version`, `share`, ...
        about: What it was done to, such as a file, a version or a text; may be empty.
        n: Number of texts that it changed; 0 for an act outside the log.
        undone: Whether it was taken back.
        idle: Whether it changed nothing in the log, for all was so already.
    """

    at: str
    actor: str
    via: str
    verb: str
    about: str
    n: int
    undone: bool
    idle: bool = False


@dataclass(frozen=True, slots=True)
class ActFilter:
    """Which acts to list; None does not restrict. At most `limit` are listed after `offset`."""

    actor: str | None = None
    verb: str | None = None
    offset: int = 0
    limit: int = 50


@dataclass(frozen=True, slots=True)
class ActPage:
    """Some acts, newest first, the number of all that fit, and what can be filtered by."""

    acts: Sequence[ActRecord]
    total: int
    actors: Sequence[str]
    verbs: Sequence[str]


@dataclass(frozen=True, slots=True)
class Act:
    """An act outside the log; `about` says what it was done to.

    A text stands in it whole and in quotes, so that it is found when it is to be erased.
    """

    verb: str
    actor: str
    about: str = ""


def note(connection: Connection, project_id: int, done: Act) -> None:
    """Keep an act that is no action of the log."""
    values = {
        "project_id": project_id,
        "at": now(),
        "actor": done.actor,
        "via": VIA.get(),
        "verb": done.verb,
        "about": done.about,
    }
    connection.execute(sa.insert(act).values(values))


def note_aside(database: Database, project_id: int, done: Act) -> None:
    """Keep an act that only read; a full disk or a busy database does not stop it."""
    with suppress(StudioError), database.write() as connection:
        note(connection, project_id, done)


def read_page(connection: Connection, project_id: int, which: ActFilter) -> ActPage:
    """Return some acts of a project, newest first."""
    every = _every(project_id).subquery()
    wanted = ((every.c.actor, which.actor), (every.c.verb, which.verb))
    fitting = sa.and_(
        sa.true(), *(column == value for column, value in wanted if value is not None)
    )
    query = sa.select(every).where(fitting)
    order = (every.c.at.desc(), every.c.batch_id.desc(), every.c.act_id.desc())
    rows = connection.execute(query.order_by(*order).limit(which.limit).offset(which.offset)).all()
    total = sa.select(sa.func.count()).select_from(every).where(fitting)
    touched = touched_by(connection, [row.batch_id for row in rows if row.batch_id])
    return ActPage(
        [_record(row, touched.get(row.batch_id, Touched())) for row in rows],
        int(connection.execute(total).scalar_one()),
        list(
            connection.execute(
                sa.select(every.c.actor).distinct().order_by(every.c.actor)
            ).scalars()
        ),
        list(
            connection.execute(sa.select(every.c.verb).distinct().order_by(every.c.verb)).scalars()
        ),
    )


def _every(project_id: int) -> sa.CompoundSelect[Any]:
    changes = sa.exists().where(event.c.batch_id == batch.c.id) | batch.c.verb.in_(_ALSO)
    in_log = sa.select(
        *(batch.c.at, batch.c.actor, batch.c.via, batch.c.verb, batch.c.origin.label("about")),
        *(batch.c.undone_by.is_not(None).label("undone"), sa.not_(changes).label("idle")),
        *(batch.c.id.label("batch_id"), sa.literal(0).label("act_id")),
    ).where(batch.c.project_id == project_id)
    outside = sa.select(
        *(act.c.at, act.c.actor, act.c.via, act.c.verb, act.c.about, sa.false().label("undone")),
        *(sa.false().label("idle"), sa.literal(0).label("batch_id"), act.c.id.label("act_id")),
    ).where(act.c.project_id == project_id)
    return sa.union_all(in_log, outside)


def _record(row: Row[Any], touched: Touched) -> ActRecord:
    about, via = _shortened(row.about), row.via
    if row.batch_id:
        via = via or ("page" if about == "page" else "")  # as earlier releases kept it
        about = touched.about
    undone, idle = bool(row.undone), bool(row.idle)
    return ActRecord(row.at, row.actor, via, row.verb, about, touched.n, undone, idle)


_ABOUT = 200


def _shortened(about: str) -> str:
    """Cut a quoted text, or else the end."""
    start, end = about.find("“") + 1, about.rfind("”")
    if 0 < start < end:
        return f"{about[:start]}{cut(about[start:end])}{about[end:]}"[:_ABOUT]
    return about[:_ABOUT]
