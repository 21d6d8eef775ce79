"""Remove conversation logs, with or without the utterances of them; bring them back.

For a while a removed log keeps its files, so that Undo brings it back. Then they are deleted:
people remove logs to be rid of what was said in them.
"""

import threading
import uuid
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta

from app.services.data.bulk import Allowed, Edit, plan
from app.services.data.utterances import touched_texts
from app.services.studio import Studio
from core.errors import Conflict, NotFound, StudioError
from core.text import counted
from storage import conversation_logs, jobs, projects
from storage.artifacts import drop_tree
from storage.database import Transaction
from storage.log import events
from storage.log.events import Action
from storage.people import acts
from storage.people.acts import Act
from storage.queries.from_logs import from_log
from storage.records import ConversationLogRecord

KEPT_SECONDS = 600.0
"""For so long a removed log can come back."""


@dataclass(frozen=True, slots=True)
class TextsToo:
    """How the utterances that came from a log are deleted with it.

    Attributes:
        allowed: Whether labelled ones and those of the test set go, too.
        expected: How many came from it when the page showed them; None: any number.
        key: Of the action that deletes them, by which it is undone; empty: one of its own.
    """

    allowed: Allowed = field(default_factory=Allowed)
    expected: int | None = None
    key: str = ""


@dataclass(frozen=True, slots=True)
class RemovedLog(ConversationLogRecord):
    """A log that was removed; `texts_deleted` of its utterances were deleted with it."""

    texts_deleted: int = 0


def remove_log(
    studio: Studio, project: str, log_id: int, texts: TextsToo | None = None
) -> RemovedLog:
    """Remove a log so that it can come back; utterances that came from it are kept.

    With `texts` these are deleted, too, as one action, which can be undone. The rule for bulk acts
    holds for it (`app/services/data/bulk.py`).

    Raises:
        Conflict: A training is using it, or another number of utterances came from it.
        NotFound: There is no such project or log.
    """
    actor = studio.settings.actor
    with studio.database.write() as connection:
        target = projects.find(connection, project)
        record = conversation_logs.find(connection, target.id, log_id)
        for job in jobs.live(connection):
            if log_id in job.payload.get("logs", ()):
                raise Conflict(
                    f"A training learns from '{record.source}'.",
                    "Wait for its end, or cancel it on the Train page.",
                )
        conversation_logs.set_aside(connection, record)
        acts.note(connection, target.id, Act("remove conversations", actor, record.source))
        n_deleted = 0 if texts is None else _delete_texts(connection, record, texts, actor)
    return RemovedLog(**asdict(record), texts_deleted=n_deleted)


def _delete_texts(
    connection: Transaction, record: ConversationLogRecord, texts: TextsToo, actor: str
) -> int:
    """Delete the utterances of a log that may go; return their number."""
    found = from_log(connection, record)
    if texts.expected is not None and texts.expected != len(found):
        raise Conflict(
            f"Meanwhile {counted(len(found), 'text')} of '{record.source}' can be deleted, "
            f"not {texts.expected:,}.",
            "Nothing was deleted. Look at the list again, then delete it.",
        )
    touched = touched_texts(connection, record.project_id, texts.allowed.revision)
    made = plan(found, Edit("delete"), touched, joins=False)
    action = Action("delete", actor, "page", texts.key or uuid.uuid4().hex)
    events.record(connection, record.project_id, action, made.changes(texts.allowed))
    return len(made.allowed(texts.allowed))


def restore_log(studio: Studio, project: str, log_id: int) -> ConversationLogRecord:
    """Bring a removed log back; one that is there stays as it is, such as at a second click.

    Raises:
        Conflict: Another log came since.
        NotFound: There is no such project, or the log's files are deleted.
    """
    with studio.database.write() as connection:
        project_id = projects.find(connection, project).id
        for log in conversation_logs.list_all(connection, project_id):
            if log.id == log_id:
                return log
        record = conversation_logs.bring_back(connection, project_id, log_id)
        if record is None:
            raise NotFound("The log is deleted for good.", "Add its file again.")
        done = Act("restore conversations", studio.settings.actor, record.source)
        acts.note(connection, project_id, done)
    return record


def delete_removed(studio: Studio, seconds: float = 0.0, log_id: int | None = None) -> int:
    """Delete the logs that were removed at least so many seconds ago; return their number.

    With a log's id it is deleted alone.
    """
    until = (datetime.now(UTC) - timedelta(seconds=seconds)).isoformat(timespec="milliseconds")
    with studio.database.write() as connection:
        every = conversation_logs.removed(connection, until)
        found = [record for record in every if log_id in (None, record.id)]
        freed = [key for record in found for key in _dropped(connection, record)]
    # Files are deleted after the rows' deletion has been committed, as for model versions.
    if freed:
        with studio.database.write() as connection, suppress(FileNotFoundError):
            studio.artifacts.remove_unused(connection, freed)
    return len(found)


def delete_removed_later(studio: Studio) -> None:
    """Delete what is removed now once it can no longer come back."""
    timer = threading.Timer(KEPT_SECONDS, _delete_quietly, args=(studio,))
    timer.daemon = True
    timer.start()


def _delete_quietly(studio: Studio) -> None:
    with suppress(StudioError):  # a busy database or a full disk: the next start deletes them
        delete_removed(studio, KEPT_SECONDS - 1)


def _dropped(connection: Transaction, record: ConversationLogRecord) -> list[str]:
    conversation_logs.delete(connection, record)
    return list(drop_tree(connection, record.tree_sha256))
