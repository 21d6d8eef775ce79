"""Read a project's stored conversations."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import islice
from pathlib import Path

from app.services.answering.opened import laid_out
from app.services.studio import Studio
from core.errors import InvalidInput
from core.formats.dialogues import Dialogue, Pair, pairs_of, read_dialogues
from core.formats.digests import digest
from core.formats.rows import LONGEST_TEXT
from storage import conversation_logs, projects
from storage.database import Transaction
from storage.records import ConversationLogRecord, ProjectRecord

LOG, DIGESTS = "dialogues.jsonl.gz", "digests.u64"


def require_logs(connection: Transaction, project: ProjectRecord) -> list[ConversationLogRecord]:
    """Return a project's logs; raise `InvalidInput` if it has none."""
    logs = conversation_logs.list_all(connection, project.id)
    if not logs:
        raise InvalidInput(
            f"'{project.name}' has no conversations to learn from.",
            "Import a log on the page Conversations.",
        )
    return logs


@contextmanager
def stored_logs(studio: Studio, logs: Sequence[ConversationLogRecord]) -> Iterator[list[Path]]:
    """Copy or link each log's files into a temporary folder.

    Raises:
        ArtifactDamaged: Files are missing or changed.
    """
    with ExitStack() as stack:
        yield [stack.enter_context(laid_out(studio, record.tree_sha256)) for record in logs]


def read_conversations(folders: Sequence[Path]) -> Iterator[Dialogue]:
    """Stream the conversations in the folders of `stored_logs`; no two are equal."""
    for folder in folders:
        yield from read_dialogues(folder / LOG)


def conversations_of_log(
    studio: Studio, project: str, log_id: int, first: int, count: int
) -> list[Dialogue]:
    """Return `count` conversations of a log from number `first` on, which counts from 0.

    Raises:
        NotFound: There is no such project or log.
        ArtifactDamaged: The log's files are missing or changed.
    """
    with studio.database.read() as connection:
        project_id = projects.find(connection, project).id
        record = conversation_logs.find(connection, project_id, log_id)
    with stored_logs(studio, [record]) as folders:
        return list(islice(read_conversations(folders), first, first + count))


def read_pairs(folders: Sequence[Path], contexts: int) -> Iterator[Pair]:
    """Stream each turn with the next one, and at most `contexts` earlier turns."""
    for dialogue in read_conversations(folders):
        yield from pairs_of(dialogue, contexts)


def draw_replies(folders: Sequence[Path], n: int) -> list[str]:
    """Draw a fixed sample of distinct turns not spoken by users, evenly from all logs.

    The turns with the lowest digests are drawn, so that frequent turns are not more likely.
    """
    drawn: dict[str, int] = {}
    for dialogue in read_conversations(folders):
        for turn in dialogue.turns[1:]:
            if not turn.by_user and len(turn.text) <= LONGEST_TEXT:
                drawn[turn.text] = digest(turn.text)
        if len(drawn) > 2 * n:
            drawn = _lowest(drawn, n)
    return list(_lowest(drawn, n))


def _lowest(drawn: dict[str, int], n: int) -> dict[str, int]:
    return {text: drawn[text] for text in sorted(drawn, key=lambda text: drawn[text])[:n]}
