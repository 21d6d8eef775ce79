"""A person's day at the card: the last decisions, labels today, how quick, and the goal."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from app.services.studio import Studio
from storage import projects
from storage.database import Transaction
from storage.log import decisions
from storage.people import preferences
from storage.queries import utterances

_STRIP = 10
_LONGEST_GAP = 60.0
"""Seconds; a longer pause between two labels is a break and not the pace."""

_GAPS = 30
_FEWEST_GAPS = 3


@dataclass(frozen=True, slots=True)
class LastDecision:
    """A decision that can be undone by its key.

    `labels` are intent ids; None after a skip. `before` is the label that it replaced.
    """

    key: str
    kind: str
    id: str
    text: str
    labels: tuple[str, ...] | None
    before: tuple[str, ...] | None
    at: str


@dataclass(frozen=True, slots=True)
class Today:
    """A person's labels since midnight, the goal if the person set one, and the pace.

    `decided` counts each text once that got a label on any page, out of scope too, and those that
    were labelled at once. A skipped text is none of them, as nothing was decided about it.
    `per_minute` is that of the last single labels without breaks; None before there are enough.
    """

    decided: int
    goal: int | None
    per_minute: float | None
    last: tuple[LastDecision, ...]


def load_today(studio: Studio, project: str, since: datetime) -> Today:
    """Count from the log; `since` is the person's midnight, with its time zone."""
    actor = studio.settings.actor
    with studio.database.read() as connection:
        project_id = projects.find(connection, project).id
        made = decisions.count_labelled(connection, project_id, actor, _utc(since))
        times = decisions.times_of_labels(connection, project_id, actor, _utc(since))
        last = _last(connection, project_id, actor)
        goal = preferences.kept(connection, project_id, actor, "goal").get("")
    return Today(made, goal, pace([datetime.fromisoformat(t) for t in times]), last)


def set_goal(studio: Studio, project: str, goal: int | None) -> None:
    """Keep a person's goal of labels a day; None drops it."""
    with studio.database.write() as connection:
        project_id = projects.find(connection, project).id
        actor = studio.settings.actor
        if goal is None:
            preferences.drop(connection, project_id, actor, "goal", "")
        else:
            preferences.keep(connection, project_id, actor, "goal", {"": goal})


def pace(times: Sequence[datetime]) -> float | None:
    """Return labels a minute over the last gaps of at most a minute; None with too few gaps."""
    gaps = [(b - a).total_seconds() for a, b in pairwise(times)]
    working = [gap for gap in gaps if gap <= _LONGEST_GAP][-_GAPS:]
    if len(working) < _FEWEST_GAPS or sum(working) <= 0.0:
        return None
    return 60.0 * len(working) / sum(working)


def _utc(at: datetime) -> str:
    """Return a time as the log writes times; a time without a zone is UTC."""
    zoned = at.replace(tzinfo=UTC) if at.tzinfo is None else at
    now, days = datetime.now(UTC), timedelta(days=2)  # no day is longer, wherever the person is
    near = min(max(zoned, now - days), now + days)  # years 1 and 9999 have times that UTC has not
    return near.astimezone(UTC).isoformat(timespec="milliseconds")


def _last(connection: Transaction, project_id: int, actor: str) -> tuple[LastDecision, ...]:
    found = decisions.last_decisions(connection, project_id, actor, _STRIP)
    texts = utterances.by_ids(connection, project_id, [one.id for one in found])
    return tuple(
        LastDecision(d.key, d.verb, d.id, texts[d.id].text, d.labels, d.before, d.at)
        for d in found
        if d.id in texts
    )
