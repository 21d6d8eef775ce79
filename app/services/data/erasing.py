"""Erase texts for good, as a person may ask for: from log, models, receipts, caches and copies."""

import gzip
import hashlib
import json
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from app.services.data import uploads
from app.services.data.projects import require_rest
from app.services.scratch import sweep_scratch
from app.services.studio import Studio
from core.errors import ArtifactDamaged, Conflict, InvalidInput
from core.formats.rows import LONGEST_RECORD
from core.text import counted, normalise
from storage import artifacts, conversation_logs, jobs, models, projects
from storage.computed import layouts, text_groups
from storage.database import Transaction, copies_aside
from storage.erased_examples import contents_with_texts, versions_holding, without_texts
from storage.faults import last_backup
from storage.log import erasing, versions
from storage.log.erased_remains import has_remains, note_remains, remove_remains
from storage.log.erasing import VersionChange
from storage.log.scrubbing import Scrubber, scrub_rows, scrubber_of
from storage.people import request_keys
from storage.people.synced import folders_of
from storage.queries import dataset, utterances
from storage.records import ModelVersionRecord, ProjectRecord, UtteranceRecord, now


@dataclass(frozen=True, slots=True)
class ErasureView:
    """What an erasure touches, or has touched.

    Attributes:
        done: Whether it was done; otherwise all figures are of what it would touch.
        utterances: Utterances that say one of the texts, or have said it, also deleted ones.
        synthetic: Those of them that were made from another.
        receipts, jobs, preferences, versions: Rows that quote a text.
        models: Versions whose examples hold a text, or that have the hash of one. Their votes keep
            its embedding, which is not readable; a version that is deleted, or trained anew, has it
            no longer.
        data_versions: Numbers of the data versions whose SHA-256 changes.
        copies: Copies of the database from before an upgrade, which are deleted.
        uploads: Files that wait for their import, which are deleted: any of them may hold a text.
        stopped: Ids of stopped trainings that have read a text; they can no longer be resumed.
        left: Places that this does not reach, in words.
    """

    done: bool
    utterances: int
    synthetic: int
    receipts: int
    jobs: int
    preferences: int
    versions: int
    models: tuple[str, ...]
    data_versions: tuple[int, ...]
    copies: tuple[str, ...]
    uploads: tuple[str, ...]
    stopped: tuple[str, ...]
    left: tuple[str, ...]

    @property
    def touches(self) -> bool:
        """Whether anything quotes one of the texts."""
        rows = self.receipts + self.jobs + self.preferences + self.versions
        return bool(self.utterances or rows or self.models)


@dataclass(frozen=True, slots=True)
class ListedText:
    """A text that an erasure would take, and what the utterance is that has or had it.

    `split` is empty, and `labels` None, where the utterance is deleted. `is_former` means that the
    utterance was corrected since.
    """

    text: str
    split: str
    labels: tuple[str, ...] | None
    is_former: bool = False


@dataclass(frozen=True, slots=True)
class ErasureList:
    """All texts that an erasure would take."""

    texts: tuple[ListedText, ...]

    @property
    def code(self) -> str:
        """Eight hexadecimal digits that stand for the list: other texts or labels, another code."""
        lines = [[one.text, one.split, one.labels, one.is_former] for one in self.texts]
        return hashlib.sha256(json.dumps(lines).encode()).hexdigest()[:8]


def erase_texts(
    studio: Studio, project: str, texts: Sequence[str], *, now: bool = False
) -> ErasureView:
    """Erase texts, with whatever they were before or after a correction.

    It cannot be undone. Without `now` nothing changes, and what it would touch is counted.

    Raises:
        InvalidInput: No text is given, or nobody has said one of them.
        Conflict: A job of the project, or one that starts from a version of it, is under way.
        ArtifactDamaged: A file of a version that may hold a text is missing or was changed.
    """
    asked = [normalise(text) for text in texts if normalise(text)]
    if not asked:
        raise InvalidInput("There is no text to erase.", "Give the texts, each as it was said.")
    interrupted = has_remains(studio.places.home)  # what it had erased, nobody says any more
    others = _other_projects(studio, project, asked)
    with studio.database.write() as connection:
        view, unused = _erase(studio, connection, projects.find(connection, project), asked)
        if not (view.touches or interrupted):
            raise InvalidInput(
                "Nobody has said one of these texts here.",
                f"Look at {others[0]}." if others else "Give them as they stand on the Data page.",
            )
        view = replace(view, left=(*others, *view.left))
        if not now:
            connection.rollback()
            return view
        checkpoints = (str(studio.places.checkpoints(job)) for job in view.stopped)
        note_remains(studio.places.home, unused, (*view.copies, *view.uploads, *checkpoints))
    sweep_scratch(studio.places)
    if not remove_remains(studio.places.home, studio.database, studio.artifacts):
        again = (
            "the database's file, because another program reads it: erase once more when it rests"
        )
        view = replace(view, left=(*view.left, again))
    return replace(view, done=True)


def list_containing(studio: Studio, project: str, words: str) -> ErasureList:
    """List the texts that an erasure of all texts with some words would take.

    Upper and lower case are the same. A text counts if it has the words, or had them before a
    correction; other texts of the same utterance are listed with it, and texts made from it.

    Raises:
        InvalidInput: There are no words, or no text has them.
    """
    if not normalise(words):
        raise InvalidInput("There are no words to look for.", "Give some words of the texts.")
    with studio.database.read() as connection:
        record = projects.find(connection, project)
        ever = erasing.texts_ever(connection, record.id)
        found = {text for _, text in ever if _has(text, words)}
        said = erasing.find_said(connection, record.id, found)
        rows = utterances.by_ids(connection, record.id, said.ids)
        names = dataset.intent_names(connection, record.id)
        had = sorted(set(erasing.texts_ever(connection, record.id, said.ids)))
    if not had:
        raise InvalidInput(
            f"No text here has the words '{words[:80]}', or had them.",
            "Look for fewer words, as they stand on the Data page.",
        )
    return ErasureList(tuple(_listed(rows.get(key), text, names) for key, text in had))


def erase_listed(
    studio: Studio, project: str, words: str, code: str, *, now: bool = False
) -> ErasureView:
    """Erase all texts with some words, if the list of them is still the one with this code.

    Raises:
        InvalidInput: There are no words, or no text has them.
        Conflict: The list is another by now, or a job of the project is under way.
    """
    listed = list_containing(studio, project, words)
    if now and code != listed.code:
        raise Conflict(
            f"The code is not that of the list, which has {counted(len(listed.texts), 'text')}.",
            "Read the list again, and give the code that stands under it.",
        )
    # The others go with these; by themselves they may be what somebody else said, too.
    texts = [one.text for one in listed.texts if _has(one.text, words)]
    return erase_texts(studio, project, texts, now=now)


def _has(text: str, words: str) -> bool:
    return normalise(words).casefold() in normalise(text).casefold()


def _listed(row: UtteranceRecord | None, text: str, names: Mapping[str, str]) -> ListedText:
    if row is None:
        return ListedText(text, "", None)
    labels = None if row.labels is None else tuple(names[key] for key in row.labels)
    return ListedText(text, row.split, labels, is_former=text != row.text)


def _erase(
    studio: Studio, connection: Transaction, project: ProjectRecord, asked: Sequence[str]
) -> tuple[ErasureView, Sequence[str]]:
    """Erase within the caller's transaction; return the view, and blobs that are now unused."""
    require_rest(connection, project)
    said = erasing.find_said(connection, project.id, asked)
    texts = said.texts | frozenset(asked)
    scrubber = scrubber_of(texts, dataset.names_ever(connection, project.id))
    rows = scrub_rows(connection, project.id, scrubber)
    rewritten, unused = _rewrite_models(
        studio, connection, project, lambda held: without_texts(held, texts, scrubber)
    )
    changed = erasing.erase(connection, project.id, said, scrubber, studio.settings.actor)
    request_keys.forget_all(connection)
    text_groups.remove_all(connection, project.id)  # names and descriptions quote texts
    unused += _drop_layouts(connection, project) + _drop_removed_logs(connection)
    view = ErasureView(
        done=False,
        utterances=len(said.ids),
        synthetic=len(said.synthetic),
        receipts=rows["receipt"],
        jobs=rows["job"],
        preferences=rows["preference"],
        versions=rows["model_version"],
        models=rewritten,
        data_versions=tuple(one.number for one in changed),
        copies=tuple(str(path) for path in copies_aside(studio.places.database)),
        uploads=tuple(str(path) for path in uploads.waiting(studio)),
        stopped=tuple(_stopped(studio, connection, project, changed)),
        left=tuple(_out_of_reach(studio, connection, project, scrubber)),
    )
    return view, unused


def _rewrite_models(
    studio: Studio,
    connection: Transaction,
    project: ProjectRecord,
    clean: Callable[[Mapping[str, str]], dict[str, str]],
) -> tuple[tuple[str, ...], list[str]]:
    """Change files of stored versions that hold texts; return versions' names, and unused blobs.

    `clean` returns the changed ones of a version's files, by name.
    """
    names, unused = list[str](), list[str]()
    for version in models.list_all(connection, project.id):
        if not version.tree_sha256:
            continue
        tree = artifacts.tree_files(connection, version.tree_sha256)
        name = f"{project.name}@{version.number}"
        changed = clean(contents_with_texts(studio.artifacts, tree, name))
        if not changed:
            continue
        with tempfile.TemporaryDirectory(dir=_scratch(studio)) as folder:
            for file, content in changed.items():
                (Path(folder) / file).write_text(content, encoding="utf-8")
            files = {**tree, **studio.artifacts.put_files(Path(folder))}
        _point_to(studio, connection, version, files)
        unused += artifacts.drop_tree(connection, version.tree_sha256)
        names.append(name)
    return tuple(names), unused


def _point_to(
    studio: Studio, connection: Transaction, version: ModelVersionRecord, files: dict[str, str]
) -> None:
    fresh = artifacts.record_tree(connection, studio.artifacts, files)
    models.change_tree(connection, version.id, fresh)


def _drop_layouts(connection: Transaction, project: ProjectRecord) -> list[str]:
    """Delete the project's maps, which name texts by their hash; they are drawn again."""
    trees = layouts.remove_all(connection, project.id)
    return [blob for tree in trees for blob in artifacts.drop_tree(connection, tree)]


def _drop_removed_logs(connection: Transaction) -> list[str]:
    """Delete the logs that were removed and could come back: they may hold the texts."""
    gone = conversation_logs.removed(connection, now())
    for log in gone:
        conversation_logs.delete(connection, log)
    return [blob for log in gone for blob in artifacts.drop_tree(connection, log.tree_sha256)]


def _stopped(
    studio: Studio,
    connection: Transaction,
    project: ProjectRecord,
    changed: Sequence[VersionChange],
) -> Iterator[str]:
    """Yield the ids of stopped trainings with checkpoints whose data version held a text."""
    numbers = {one.number for one in changed}
    known = versions.list_all(connection, project.id)
    held = {version.id for version in known if version.number in numbers}
    for job in jobs.cancelled(connection):
        of_these = job.project_id == project.id and job.payload.get("dataset_version_id") in held
        if of_these and studio.places.checkpoints(job.id).is_dir():
            yield job.id


def _other_projects(studio: Studio, project: str, asked: Sequence[str]) -> list[str]:
    """Name the other projects that have one of the texts, or what they were before or after.

    Versions count, too: a bundle brings texts, or their hashes, that nobody has said there.
    """
    with studio.database.read() as connection:
        record = projects.find(connection, project)
        texts = erasing.find_said(connection, record.id, asked).texts | frozenset(asked)
        said = list(erasing.said_in_others(connection, record.id, texts))
        seen = {record.id, *(other.id for other, _ in said)}
        held = [
            (other, versions_holding(connection, studio.artifacts, other.id, texts))
            for other in (*projects.list_all(connection), *projects.list_deleted(connection))
            if other.id not in seen
        ]
    return [
        *(_elsewhere(other, f"has or had {counted(n, 'such text')}") for other, n in said),
        *(
            _elsewhere(other, f"has, or may have, such a text or its hash in version {numbers}")
            for other, found in held
            if (numbers := ", ".join(map(str, found)))
        ),
    ]


def _elsewhere(other: ProjectRecord, what: str) -> str:
    if other.deleted_name is None:
        return f"the project '{other.name}', which {what}: erase there, too"
    return (
        f"the deleted project '{other.deleted_name}', which {what}: bring it back, erase there, "
        "and delete it again"
    )


def _out_of_reach(
    studio: Studio, connection: Transaction, project: ProjectRecord, scrubber: Scrubber
) -> Iterator[str]:
    """Say which places hold the texts, or may hold them, and are not changed."""
    for log in conversation_logs.list_all(connection, project.id):
        place = f"the conversation log {log.id} ({log.source})"
        files = artifacts.tree_files(connection, log.tree_sha256)
        try:
            studio.artifacts.verify(connection, log.tree_sha256)
            stored = ((name, studio.artifacts.path(sha)) for name, sha in files.items())
            if any(_holds(file, scrubber, name) for name, file in stored):
                yield f"{place}: remove it on the Data page"
        except ArtifactDamaged:
            yield f"{place}, whose file is missing or was changed, and may hold them: remove it"
    backup = last_backup(studio.places.database)
    if backup is not None:
        yield f"the backup {backup.file}, and earlier ones: delete them"
    if folders_of(connection, project.id):
        yield "the folders that the project was synced with, until the next sync, and git's history"
    yield "bundles, exports and reports that were handed out before"
    yield "the memory of other programs of the studio that run, until they are started again"


def _holds(file: Path, scrubber: Scrubber, name: str) -> bool:
    """Whether a file stored as `name` has one of the texts as JSON spells it, in a line."""
    spelt = [json.dumps(text, ensure_ascii=False)[1:-1] for text in scrubber.texts]
    opener = gzip.open if name.endswith(".gz") else open
    with opener(file, "rt", encoding="utf-8", errors="replace") as lines:
        while line := lines.readline(LONGEST_RECORD + 1):
            words = normalise(line)
            if any(text in words for text in spelt):
                return True
    return False


def _scratch(studio: Studio) -> Path:
    studio.places.scratch.mkdir(exist_ok=True)
    return studio.places.scratch
