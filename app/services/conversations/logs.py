"""Import conversation logs into a project, and list them."""

import gzip
import random
import tempfile
import uuid
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO

import numpy as np

from app.services.conversations.reading import DIGESTS, LOG, stored_logs
from app.services.studio import Studio
from core.errors import Conflict
from core.formats.dialogues import Dialogue, dialogue_digest, dialogue_line, read_dialogues
from core.formats.digests import Seen
from core.formats.masking import count_masked, mask_dialogue
from core.formats.rows import LONGEST_RECORD, LONGEST_TEXT
from core.text import is_blank, normalise, text_hash
from storage import conversation_logs, projects
from storage.artifacts import record_tree
from storage.database import Transaction
from storage.log import edits, events
from storage.log.events import Action
from storage.people import acts
from storage.people.acts import Act
from storage.people.request_keys import Keep, keep_nothing
from storage.queries import columns, from_logs
from storage.records import ConversationLogRecord, ProjectRecord

POOL = 5_000
"""Default number of user turns that an import adds to the pool."""


@dataclass(frozen=True, slots=True)
class DialogueImport:
    """What to import, and how.

    Attributes:
        path: JSONL, or CSV with conversation id, turn, speaker and text; `.gz` is allowed.
        mask: Whether to replace personal data by the name of its kind.
        pool: Most user turns to add to the pool; from more, an even random sample is drawn.
    """

    project: str
    path: Path
    mask: bool = False
    pool: int = POOL
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class DialogueReport:
    """What an import of conversations did, or with `dry_run` would do.

    Attributes:
        repeated: Number of conversations that are stored already, or repeated in the file.
        too_long: Number of conversations over a million characters, left out.
        user_turns: Number of distinct user turns in the file.
        pooled: Number of user turns added to the pool.
        known: Number of user turns that are utterances of the project already.
        masked: Number of masked pieces of personal data by kind; None without masking.
        log: Id of the stored log; None where nothing new was stored.
    """

    dialogues: int
    turns: int
    repeated: int
    too_long: int
    user_turns: int
    pooled: int
    known: int
    masked: dict[str, int] | None
    dry_run: bool
    log: int | None = None


@dataclass(slots=True)
class _Reading:
    """Reads conversations one by one; holds the digests of all, and the texts of a sample."""

    request: DialogueImport
    stored: Seen
    utterances: frozenset[str]
    met: Seen = field(default_factory=Seen)
    counts: Counter[str] = field(default_factory=Counter)
    masked: Counter[str] = field(default_factory=Counter)
    sample: list[str] = field(default_factory=list)
    chance: random.Random = field(default_factory=lambda: random.Random(0))

    def lines(self) -> Iterator[str]:
        """Yield the new conversations as lines to store."""
        for dialogue in read_dialogues(self.request.path):
            shown = self._shown(dialogue)
            for turn in shown.turns:
                if turn.by_user:
                    self._offer(normalise(turn.text))
            line = dialogue_line(shown)
            if len(line) > LONGEST_RECORD:
                self.counts["too_long"] += 1
            elif self.stored.add(dialogue_digest(shown)):
                self.counts["dialogues"] += 1
                self.counts["turns"] += len(shown.turns)
                self.counts["by_user"] += sum(turn.by_user for turn in shown.turns)
                yield line
            else:
                self.counts["repeated"] += 1

    def _shown(self, dialogue: Dialogue) -> Dialogue:
        if not self.request.mask:
            return dialogue
        shown = mask_dialogue(dialogue)
        for before, after in zip(dialogue.turns, shown.turns, strict=True):
            self.masked.update(count_masked(before.text, after.text))
        return shown

    def _offer(self, text: str) -> None:
        """Offer a user turn to the sample, in which each distinct turn is equally likely."""
        if is_blank(text) or len(text) > LONGEST_TEXT:
            return
        key = text_hash(text)
        if not self.met.add(int(key[:16], 16)):
            return
        self.counts["user_turns"] += 1
        if key in self.utterances:
            self.counts["known"] += 1
            return
        self.counts["offered"] += 1
        if len(self.sample) < self.request.pool:
            self.sample.append(text)
            return
        place = self.chance.randrange(self.counts["offered"])
        if place < self.request.pool:
            self.sample[place] = text

    def report(self, pooled: int, log: int | None = None) -> DialogueReport:
        counts = self.counts
        return DialogueReport(
            dialogues=counts["dialogues"],
            turns=counts["turns"],
            repeated=counts["repeated"],
            too_long=counts["too_long"],
            user_turns=counts["user_turns"],
            pooled=pooled,
            known=counts["known"],
            masked=dict(self.masked) if self.request.mask else None,
            dry_run=self.request.dry_run,
            log=log,
        )


def import_dialogues(
    studio: Studio, request: DialogueImport, keep: Keep[DialogueReport] = keep_nothing
) -> DialogueReport:
    """Import a conversation log, all or nothing; the memory does not hold the whole log.

    The conversations are stored as files. User turns become utterances of the pool in one action,
    which can be undone like any other import. `keep` is called with the report in the transaction
    that imports it.

    Raises:
        InvalidInput: The file or a row cannot be used; the row is named.
        NotFound: There is no such project.
        Conflict: A log was imported or removed meanwhile.
    """
    with studio.database.read() as connection:
        project = projects.find(connection, request.project)
        known = conversation_logs.list_all(connection, project.id)
        hashes = frozenset(columns.columns(connection, project.id).hashes)
    reading = _Reading(request, _stored_digests(studio, known), hashes)
    if request.dry_run:
        for _ in reading.lines():
            pass
        return reading.report(len(reading.sample))
    with _written(studio, reading) as folder:
        files = studio.artifacts.put_files(folder) if reading.counts["dialogues"] else {}
    with studio.database.write() as connection:
        if conversation_logs.list_all(connection, project.id) != known:
            raise Conflict("Another log was imported or removed meanwhile.", "Import it again.")
        report = _store(studio, connection, reading, project, files)
        keep(connection, report)
    return report


def _stored_digests(studio: Studio, known: list[ConversationLogRecord]) -> Seen:
    with stored_logs(studio, known) as folders:
        return Seen(np.fromfile(folder / DIGESTS, dtype="<u8") for folder in folders)


@contextmanager
def _written(studio: Studio, reading: _Reading) -> Iterator[Path]:
    """Write the new conversations into a folder that is deleted afterwards."""
    studio.places.scratch.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=studio.places.scratch) as scratch:
        folder = Path(scratch)
        with (folder / LOG).open("wb") as file, _compressing(file) as stream:
            for line in reading.lines():
                stream.write(line.encode())
        reading.stored.added().astype("<u8").tofile(folder / DIGESTS)
        yield folder


def _compressing(file: IO[bytes]) -> gzip.GzipFile:
    """Write no name and no time, so that equal conversations give equal bytes."""
    return gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0)


def _store(
    studio: Studio,
    connection: Transaction,
    reading: _Reading,
    project: ProjectRecord,
    files: dict[str, str],
) -> DialogueReport:
    """Store what was read, within the caller's transaction."""
    request, counts, log = reading.request, reading.counts, None
    actor = studio.settings.actor
    if files:
        values = {
            "project_id": project.id,
            "source": request.path.name,
            "tree_sha256": record_tree(connection, studio.artifacts, files),
            "n_dialogues": counts["dialogues"],
            "n_turns": counts["turns"],
            "n_user_turns": counts["by_user"],
            "masked": dict(reading.masked) if request.mask else None,
            "actor": actor,
        }
        log = conversation_logs.add(connection, values).id
        done = Act("import conversations", actor, request.path.name)
        acts.note(connection, project.id, done)
    name = request.path.name
    stored = set(columns.columns(connection, project.id).hashes)
    fresh = [text for text in reading.sample if text_hash(text) not in stored]
    if fresh:
        created = (
            edits.create_utterance(uuid.uuid4().hex, text, "pool", name, None) for text in fresh
        )
        key = from_logs.import_key(log or _stored_before(connection, project, name))
        action = Action("import", actor, f"import {name}", key)
        events.record(connection, project.id, action, created)
    return reading.report(len(fresh), log)


def _stored_before(connection: Transaction, project: ProjectRecord, name: str) -> int | None:
    """Return the id of the newest log from a file of a name; None: there is none."""
    every = conversation_logs.list_all(connection, project.id)
    return next((one.id for one in reversed(every) if one.source == name), None)


def list_logs(studio: Studio, project: str) -> list[ConversationLogRecord]:
    """Return all logs of a project, oldest first.

    Raises:
        NotFound: There is no such project.
    """
    with studio.database.read() as connection:
        return conversation_logs.list_all(connection, projects.find(connection, project).id)


@dataclass(frozen=True, slots=True)
class LogView(ConversationLogRecord):
    """A log with the numbers of the utterances that came from it and are still there.

    Attributes:
        n_texts: Number of these utterances.
        n_labelled: Number of those that have a label.
        n_tests: Number of those in the test set.
        n_tests_labelled: Number of those in the test set that have a label.
        revision: Revision of the project at which they were counted.
    """

    n_texts: int
    n_labelled: int
    n_tests: int
    n_tests_labelled: int
    revision: int


def view_logs(studio: Studio, project: str) -> list[LogView]:
    """Return all logs of a project, oldest first, with what deleting their texts would take.

    Raises:
        NotFound: There is no such project.
    """
    with studio.database.read() as connection:
        target = projects.find(connection, project)
        return [
            LogView(
                **asdict(log),
                **asdict(from_logs.count_from_log(connection, log)),
                revision=target.head_revision,
            )
            for log in conversation_logs.list_all(connection, target.id)
        ]
