"""Links that show one receipt or report; of a token, only a hash is stored."""

import hashlib
import hmac
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from core.errors import NotFound
from storage.people import acts
from storage.people.acts import Act
from storage.records import now, record_of
from storage.tables import share

Kind = Literal["receipt", "report"]


@dataclass(frozen=True, slots=True)
class ShareRecord:
    """A link; `target` is a receipt's id or the number of a model version.

    Attributes:
        expires_at: None for a link that never expires.
        opened_at: When it was last opened; None if never.
        stopped_at: When somebody stopped sharing; None while it is shared.
    """

    id: str
    project_id: int
    kind: Kind
    target: str
    actor: str
    created_at: str
    expires_at: str | None
    opened_at: str | None
    stopped_at: str | None
    stopped_by: str | None

    @property
    def opens(self) -> bool:
        """Whether the link still opens what it shows."""
        return self.stopped_at is None and (self.expires_at is None or self.expires_at > now())


@dataclass(frozen=True, slots=True)
class Shared:
    """What a new link shows, and for how many days; None is without an end."""

    kind: Kind
    target: str
    days: int | None


def create(
    connection: Connection, project_id: int, what: Shared, actor: str
) -> tuple[ShareRecord, str]:
    """Create a link; return it with its token, which is not stored and cannot be read again."""
    token = secrets.token_urlsafe(24)
    end = None
    if what.days is not None:
        end = (datetime.now(UTC) + timedelta(days=what.days)).isoformat(timespec="milliseconds")
    values = {
        "id": secrets.token_hex(8),
        "project_id": project_id,
        "kind": what.kind,
        "target": what.target,
        "token_sha256": _digest(kept_for(token)),
        "actor": actor,
        "created_at": now(),
        "expires_at": end,
    }
    row = connection.execute(sa.insert(share).values(values).returning(share)).one()
    acts.note(connection, project_id, Act("share", actor, _about(what.kind, what.target)))
    return record_of(ShareRecord, row), token


def list_open(connection: Connection, project_id: int) -> Sequence[ShareRecord]:
    """Return the links of a project that still open something, newest first."""
    here = sa.and_(share.c.project_id == project_id, share.c.stopped_at.is_(None))
    rows = connection.execute(sa.select(share).where(here).order_by(share.c.created_at.desc()))
    return [record for record in (record_of(ShareRecord, row) for row in rows) if record.opens]


def kept_for(token: str) -> str:
    """Return what a browser keeps in place of a token, which nobody computes from it.

    Cookies know no ports: browsers send them to every server of this host name. The same token
    gives the same value, so that people stay in when a studio with a token of its own restarts.
    """
    return hmac.new(token.encode(), b"cookie", "sha256").hexdigest()


def of_token(connection: Connection, given: str) -> ShareRecord | None:
    """Return the link of a token, or of what is kept for it, while it opens something, else None.

    The lookup is by hash: how long it takes tells nothing about other tokens. Links of earlier
    releases are stored by the token itself.
    """
    known = (_digest(given), _digest(kept_for(given)))
    query = sa.select(share).where(share.c.token_sha256.in_(known))
    row = connection.execute(query).first()
    record = None if row is None else record_of(ShareRecord, row)
    return record if record is not None and record.opens else None


def note_opening(connection: Connection, key: str) -> None:
    """Keep when a link was last opened."""
    connection.execute(sa.update(share).where(share.c.id == key).values(opened_at=now()))


def stop(connection: Connection, project_id: int, key: str, actor: str) -> ShareRecord:
    """Make a link open nothing any more; stopping it again changes nothing.

    Raises:
        NotFound: The project has no such link.
    """
    this = sa.and_(share.c.project_id == project_id, share.c.id == key)
    standing = sa.and_(this, share.c.stopped_at.is_(None))
    end = sa.update(share).where(standing).values(stopped_at=now(), stopped_by=actor)
    stopped = connection.execute(end).rowcount
    row = connection.execute(sa.select(share).where(this)).first()
    if row is None:
        raise NotFound("There is no such link.", "Reload the page.")
    record = record_of(ShareRecord, row)
    if stopped:
        about = _about(record.kind, record.target)
        acts.note(connection, project_id, Act("stop sharing", actor, about))
    return record


def stop_receipts(connection: Connection, keys: Sequence[str], actor: str) -> None:
    """Make the links to receipts that end open nothing any more, and listed no longer."""
    gone = set(keys)
    rows = connection.execute(sa.select(share).where(share.c.kind == "receipt"))
    for record in [record_of(ShareRecord, row) for row in rows]:
        if record.opens and record.target in gone:
            stop(connection, record.project_id, record.id, actor)


def _about(kind: Kind, target: str) -> str:
    return f"report on version {target}" if kind == "report" else f"receipt {target[:8]}"


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
