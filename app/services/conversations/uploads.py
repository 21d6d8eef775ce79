"""Conversation logs dropped on the page: previewed, then imported."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import islice

from app.services.conversations.logs import DialogueImport, DialogueReport, import_dialogues
from app.services.data.uploads import (
    delete_upload,
    discard,
    naming_upload,
    store_upload,
    upload_path,
)
from app.services.studio import Studio
from core.formats.dialogues import Dialogue, read_dialogues
from core.formats.masking import count_masked, mask_dialogue
from storage import projects
from storage.people.request_keys import Keep, keep_nothing

_MOST_BYTES = 500_000_000
_SHOWN, _SHOWN_TURNS = 2, 8


@dataclass(frozen=True, slots=True)
class WaitingLog:
    """An uploaded log: its key, its name, and its first conversations."""

    key: str
    name: str
    beginning: tuple[Dialogue, ...]


def receive_log(studio: Studio, project: str, name: str, chunks: Iterable[bytes]) -> WaitingLog:
    """Store an uploaded log and preview it; an unreadable one is deleted.

    Raises:
        InvalidInput: It is too large, or its first conversations cannot be read.
        NotFound: There is no such project.
    """
    with studio.database.read() as connection:
        projects.find(connection, project)
    key = store_upload(studio, name, chunks, _MOST_BYTES)
    try:
        return preview_log(studio, key, mask=False)
    except BaseException:
        delete_upload(studio, key)
        raise


def preview_log(studio: Studio, key: str, *, mask: bool) -> WaitingLog:
    """Return an uploaded log's first conversations, as they would be stored.

    Raises:
        InvalidInput: It cannot be read.
        NotFound: The upload was deleted.
    """
    path = upload_path(studio, key)
    with naming_upload(path):
        first = [_cut(dialogue) for dialogue in islice(read_dialogues(path), _SHOWN)]
    shown = tuple(mask_dialogue(dialogue) if mask else dialogue for dialogue in first)
    return WaitingLog(key, path.name, shown)


def count_personal(studio: Studio, key: str) -> dict[str, int]:
    """Count the pieces of personal data by kind in all turns of an uploaded log; {} without any.

    They are what an import without masking would store.

    Raises:
        InvalidInput: It cannot be read.
        NotFound: The upload was deleted.
    """
    path, counts = upload_path(studio, key), Counter[str]()
    with naming_upload(path):
        for dialogue in read_dialogues(path):
            for before, after in zip(dialogue.turns, mask_dialogue(dialogue).turns, strict=True):
                counts.update(count_masked(before.text, after.text))
    return dict(counts)


def _cut(dialogue: Dialogue) -> Dialogue:
    return replace(dialogue, turns=dialogue.turns[:_SHOWN_TURNS])


def import_received_log(
    studio: Studio,
    project: str,
    key: str,
    keep: Keep[DialogueReport] = keep_nothing,
    *,
    mask: bool,
    pool: int,
) -> DialogueReport:
    """Import an uploaded log, all or nothing, and delete the upload.

    `keep` is called with the report in the transaction that imports it.
    """
    path = upload_path(studio, key)
    with naming_upload(path):
        report = import_dialogues(studio, DialogueImport(project, path, mask, pool), keep)
    discard(path)
    return report
