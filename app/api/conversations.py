"""Routes for conversation logs, and for replies to a conversation."""

from collections.abc import Iterator
from typing import Annotated

from fastapi import Query, Response, UploadFile

from app.api.http.bodies import DialogueBody, RepliesBody
from app.api.http.repeats import Once
from app.api.http.routers import rest_router
from app.api.http.server_state import OpenStudio
from app.api.http.text_bodies import LogRemovalQuery
from app.services.conversations import replies, uploads
from app.services.conversations.logs import DialogueReport, LogView, view_logs
from app.services.conversations.reading import conversations_of_log
from app.services.conversations.removing import (
    RemovedLog,
    delete_removed_later,
    remove_log,
    restore_log,
)
from app.services.conversations.uploads import WaitingLog
from app.services.data.uploads import delete_upload
from core.formats.dialogues import Dialogue
from storage.records import ConversationLogRecord

router = rest_router("dialogues")
_PIECE = 1 << 20


@router.get("/projects/{project}/dialogues")
def logs(studio: OpenStudio, project: str) -> list[LogView]:
    """List the project's conversation logs, oldest first."""
    return view_logs(studio, project)


@router.post("/projects/{project}/dialogues", status_code=201)
def upload(studio: OpenStudio, project: str, file: UploadFile) -> WaitingLog:
    """Store an uploaded log, and preview its first conversations."""
    pieces: Iterator[bytes] = iter(lambda: file.file.read(_PIECE), b"")
    return uploads.receive_log(studio, project, file.filename or "log.jsonl", pieces)


@router.get("/projects/{project}/dialogues/waiting/{key}")
def look(studio: OpenStudio, project: str, key: str, mask: bool = False) -> WaitingLog:  # noqa: ARG001
    """Preview an uploaded log again, as it would be stored."""
    return uploads.preview_log(studio, key, mask=mask)


@router.get("/projects/{project}/dialogues/waiting/{key}/personal")
def personal(studio: OpenStudio, project: str, key: str) -> dict[str, int]:  # noqa: ARG001
    """Count the personal data by kind that an import without masking would store."""
    return uploads.count_personal(studio, key)


@router.post("/projects/{project}/dialogues/waiting/{key}/import")
def bring_in(
    studio: OpenStudio, once: Once, project: str, key: str, body: DialogueBody
) -> DialogueReport:
    """Import an uploaded log, all or nothing."""
    return once.answer(
        body,
        lambda keep: uploads.import_received_log(
            studio, project, key, keep, mask=body.mask, pool=body.pool
        ),
    )


@router.delete("/projects/{project}/dialogues/waiting/{key}", status_code=204)
def forget(studio: OpenStudio, key: str) -> Response:
    """Delete an uploaded log."""
    delete_upload(studio, key)
    return Response(status_code=204)


@router.delete("/projects/{project}/dialogues/{log}")
def remove(
    studio: OpenStudio, project: str, log: int, how: Annotated[LogRemovalQuery, Query()]
) -> RemovedLog:
    """Remove a log; with `texts`, also the utterances that came from it, undone by their `key`.

    For ten minutes it can be restored; then its files are deleted.
    """
    record = remove_log(studio, project, log, how.read())
    delete_removed_later(studio)
    return record


@router.post("/projects/{project}/dialogues/{log}/restore")
def restore(studio: OpenStudio, project: str, log: int) -> ConversationLogRecord:
    """Bring a removed log back."""
    return restore_log(studio, project, log)


@router.get("/projects/{project}/dialogues/{log}/conversations")
def conversations(
    studio: OpenStudio,
    project: str,
    log: int,
    first: Annotated[int, Query(ge=0, le=1_000_000_000)] = 0,
    count: Annotated[int, Query(ge=1, le=100)] = 1,
) -> list[Dialogue]:
    """Return conversations of a log with their turns, from number `first` (counted from 0) on."""
    return conversations_of_log(studio, project, log, first, count)


@router.post("/projects/{project}/replies")
def rank(studio: OpenStudio, project: str, body: RepliesBody) -> replies.Replies:
    """Rank replies to a conversation; without candidates, draw some from the project's logs."""
    return replies.rank_replies(studio, project, body.turns, body.candidates, body.n)
