"""Share one receipt or report by a link that expires and can be stopped."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal, get_args
from urllib.parse import quote

from app.services.reports.model_report import require_version
from app.services.reports.receipts import find_receipt
from app.services.studio import Studio
from core.errors import InvalidInput, NotFound, StudioError
from core.text import whole_number
from storage import projects
from storage.database import Transaction
from storage.people import shares
from storage.people.shares import Kind, Shared, ShareRecord

Days = Literal[7, 30, 90]
STANDARD: Days = 30
_OPENINGS_APART = timedelta(minutes=1)
"""An opening is noted again after this time: a reload is no news."""

_MANY = 200

_MOST_TOKENS = 30


@dataclass(frozen=True, slots=True)
class ShareView:
    """A link that opens one receipt or report.

    Attributes:
        path: Of the page that it opens, without a token.
        by: Who shared it.
        expires_at: None for a link without an end.
        opened_at: When it was last opened; None if never.
    """

    id: str
    kind: Kind
    target: str
    path: str
    by: str
    created_at: str
    expires_at: str | None
    opened_at: str | None


@dataclass(frozen=True, slots=True)
class NewShare:
    """A link just made; its token stands in `link` only, and cannot be read again."""

    share: ShareView
    link: str


def create_share(studio: Studio, project: str, what: Shared) -> NewShare:
    """Make a link to a receipt or to the report on a version.

    Raises:
        InvalidInput: The days are not offered, or the project shares too much.
        NotFound: There is no such project, receipt or version.
    """
    if what.days is not None and what.days not in get_args(Days):
        raise InvalidInput(
            f"A link cannot be open for {what.days} days.", "Choose 7, 30 or 90 days, or no end."
        )
    _require(studio, project, what)
    with studio.database.write() as connection:
        record = projects.find(connection, project)
        if len(shares.list_open(connection, record.id)) >= _MANY:
            raise InvalidInput(
                f"The project has {_MANY} links already.", "Stop sharing those nobody needs."
            )
        made, token = shares.create(connection, record.id, what, studio.settings.actor)
    view = _view(made, record.name)
    return NewShare(view, f"{view.path}?token={token}")


def list_shares(studio: Studio, project: str) -> list[ShareView]:
    """Return the links of a project that still open something, newest first."""
    with studio.database.read() as connection:
        record = projects.find(connection, project)
        return [_view(one, record.name) for one in shares.list_open(connection, record.id)]


def stop_sharing(studio: Studio, project: str, key: str) -> None:
    """Make a link open nothing any more.

    Raises:
        NotFound: There is no such project or link.
    """
    with studio.database.write() as connection:
        record = projects.find(connection, project)
        shares.stop(connection, record.id, key, studio.settings.actor)


@dataclass(frozen=True, slots=True)
class SharedLinks:
    """Answers what the links of a studio open."""

    studio: Studio

    def opens(self, tokens: Sequence[str], path: str) -> bool | None:
        """Whether one of some tokens opens a path of the server; None if they open nothing at all.

        The opening is noted, at most once a minute.
        """
        database, any_opens = self.studio.database, None
        with database.read() as connection:
            records = [shares.of_token(connection, token) for token in tokens[:_MOST_TOKENS]]
            for record in filter(None, records):
                any_opens = any_opens or False
                if path in _paths(connection, record):
                    break
            else:
                return any_opens
        if _is_news(record):
            with suppress(StudioError), database.write() as connection:
                shares.note_opening(connection, record.id)
        return True

    def path_now(self, token: str, path: str) -> str:
        """Return the path of today for that of a link to a report, whose project was renamed.

        The link tells the project, not its former name: another project may have that by now.
        """
        with self.studio.database.read() as connection:
            record = shares.of_token(connection, token)
            if record is None or record.kind != "report":
                return path
            project = projects.get(connection, record.project_id)
        _, _, number = path.removeprefix("/reports/").partition("/")
        is_its = path.startswith("/reports/") and number == record.target
        return _page(record, project.name) if is_its and project.deleted_name is None else path


def _is_news(record: ShareRecord) -> bool:
    if record.opened_at is None:
        return True
    since = datetime.now(UTC) - datetime.fromisoformat(record.opened_at)
    return not timedelta() <= since < _OPENINGS_APART


def _require(studio: Studio, project: str, what: Shared) -> None:
    if what.kind == "report":
        number = whole_number(what.target)
        if number is None:
            raise NotFound(f"There is no version '{what.target[:20]}'.", "Give its number.")
        require_version(studio, project, number)
        return
    with studio.database.read() as connection:
        project_id = projects.find(connection, project).id
    if find_receipt(studio, what.target).project_id != project_id:
        raise NotFound("There is no such receipt in this project.", "Make one on the Try page.")


def _view(record: ShareRecord, project: str) -> ShareView:
    return ShareView(
        id=record.id,
        kind=record.kind,
        target=record.target,
        path=quote(_page(record, project)),
        by=record.actor,
        created_at=record.created_at,
        expires_at=record.expires_at,
        opened_at=record.opened_at,
    )


def _page(record: ShareRecord, project: str) -> str:
    if record.kind == "receipt":
        return f"/receipts/{record.target}"
    return f"/reports/{project}/{record.target}"


def _paths(connection: Transaction, record: ShareRecord) -> frozenset[str]:
    """Return the page and its downloads, unquoted; nothing of a deleted project."""
    project = projects.get(connection, record.project_id)
    if project.deleted_name is not None:
        return frozenset()
    files = f"/api/receipts/{record.target}/receipt"
    if record.kind == "report":
        files = f"/api/projects/{project.name}/models/{record.target}/report"
    return frozenset({_page(record, project.name), f"{files}.html", f"{files}.pdf"})
