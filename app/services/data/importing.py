"""Import a file of utterances into a project, all or nothing."""

import uuid
from collections import Counter
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from app.services.studio import Studio
from core.errors import InvalidInput
from core.formats.reading import read_rows
from core.formats.rows import SEPARATOR, ImportedRow, ReadOptions, RowProblem
from core.templates.moved_slots import normalised
from core.templates.slots import SlottedText
from core.text import label_words, normalise, text_hash
from core.types import Split, Task
from storage import projects
from storage.database import Transaction
from storage.log import edits, events
from storage.log.events import Action
from storage.queries import dataset
from storage.records import Change, IntentRecord, ProjectRecord, UtteranceRecord

_EXAMPLES = 20


@dataclass(frozen=True, slots=True)
class ImportRequest:
    """What to import, and how.

    `split` is for rows that name none; None puts labelled rows into train, others into pool.
    """

    project: str
    path: Path
    options: ReadOptions = field(default_factory=ReadOptions)
    split: Split | None = None
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import did, or with `dry_run` would do.

    Attributes:
        labelled: Number of labels that the file gives to new and existing utterances.
        already_there: Number of rows that change nothing.
        conflicting: Number of rows whose utterance has another label, which is kept.
        examples: Sentences on archived intents that are restored, then on a few rows.
        without: Number of labels in the file that mean "no intent".
        convention: How a cell of a multi-label file lists several intents, or none.
        marked: Number of new and existing utterances whose values the file marks.
    """

    added: int
    labelled: int
    already_there: int
    conflicting: int
    empty: int
    too_long: int
    new_intents: tuple[str, ...]
    examples: tuple[str, ...]
    dry_run: bool
    without: int = 0
    convention: str = ""
    marked: int = 0


@dataclass(slots=True)
class _Import:
    """Converts a file's rows to changes; run once to check and once to write."""

    task: Task
    intents: dict[str, str]
    known: dict[str, UtteranceRecord]
    ids: set[str]
    source: str
    split: Split | None
    archived: dict[str, IntentRecord]
    counts: Counter[str] = field(default_factory=Counter)
    new_intents: dict[str, str] = field(default_factory=dict)
    restored: list[str] = field(default_factory=list)
    examples: list[str] = field(default_factory=list)

    def changes(self, rows: Iterator[ImportedRow | RowProblem]) -> Iterator[Change]:
        for row in rows:
            if isinstance(row, RowProblem):
                self._note(row.kind, row.message)
            else:
                yield from self._row(_with_names(row))

    def _row(self, row: ImportedRow) -> Iterator[Change]:
        text = normalise(row.text)
        self._refuse_many(row)
        key = text_hash(text)
        twin = self.known.get(key)
        if twin is not None and (row.split or self._split_of(row)) == twin.split:
            yield from self._again(row, twin)
            return
        labels = yield from self._labels(row)
        identity = row.id if row.id and row.id not in self.ids else uuid.uuid4().hex
        record = UtteranceRecord(
            id=identity,
            text=text,
            split=row.split or self._split_of(row),
            source=self.source,
            labels=None if labels is None else tuple(sorted(labels)),
            skipped=False,
            flagged="",
            slots=normalised(SlottedText(row.text, row.slots)).slots,
            synthetic=row.synthetic,
        )
        change = _created(record, row)
        self.ids.add(identity)
        self.known[key] = record
        self.counts["added"] += 1
        self.counts["marked"] += bool(record.slots)
        self.counts["labelled"] += labels is not None
        self.counts["without"] += labels == []
        yield change

    def _again(self, row: ImportedRow, twin: UtteranceRecord) -> Iterator[Change]:
        """Add the label and slots that an existing utterance lacks; keep those that it has."""
        slots = normalised(SlottedText(row.text, row.slots)).slots
        labels, now = twin.labels, twin
        if row.intents is not None and labels is None:
            chosen = yield from self._labels(row)
            self.counts["labelled"] += 1
            self.counts["without"] += chosen == []
            yield edits.label(twin, chosen)
            now = replace(now, labels=tuple(sorted(chosen or ())))
        if slots and not twin.slots:
            yield edits.mark(twin, slots)
            self.counts["marked"] += 1
            now = replace(now, slots=slots)
        wanted = labels if row.intents is None else {self.intents.get(n) for n in row.intents}
        if labels is not None and set(labels) != set(wanted or ()):
            words = f"row {row.line} says {label_words(row.intents or (), self.task)}; label kept"
            self._note("conflicting", f"{words}: {row.text[:60]!r}")
        elif twin.slots and slots and slots != twin.slots:
            words = f"row {row.line} marks other values; slots kept"
            self._note("conflicting", f"{words}: {row.text[:60]!r}")
        elif now is twin:
            self.counts["already_there"] += 1
        self.known[text_hash(twin.text)] = now

    def _labels(self, row: ImportedRow) -> Generator[Change, None, list[str] | None]:
        """Yield the intents to create; return the row's labels as intent ids."""
        if row.intents is None:
            return None
        for name in row.intents:
            if name in self.archived:
                yield edits.edit(self.archived.pop(name), "archived", value=False)
                self.restored.append(f"The intent '{name}' was archived; the file uses it again.")
            if name not in self.intents:
                created = edits.create_intent(name, position=len(self.intents))
                created = Change(
                    created.subject,
                    self.new_intents.get(name, created.subject_id),
                    "row",
                    None,
                    created.after,
                )
                self.intents[name] = self.new_intents[name] = created.subject_id
                yield created
        return [self.intents[name] for name in row.intents]

    def _refuse_many(self, row: ImportedRow) -> None:
        if self.task == "single-label" and len(row.intents or ()) > 1:
            raise InvalidInput(
                f"Row {row.line} has {len(row.intents or ())} intents "
                f"({', '.join(row.intents or ())}), and the project takes one for each text.",
                "Create a project with --multi-label, or correct the row.",
            )

    def _split_of(self, row: ImportedRow) -> Split:
        return self.split or ("pool" if row.intents is None else "train")

    def _note(self, kind: str, sentence: str) -> None:
        self.counts[kind] += 1
        if len(self.examples) < _EXAMPLES:
            self.examples.append(sentence)


def _with_names(row: ImportedRow) -> ImportedRow:
    """Normalise the intents' names, so that no two look the same."""
    if row.intents is None:
        return row
    return replace(row, intents=tuple(dict.fromkeys(map(normalise, row.intents))))


def _created(record: UtteranceRecord, row: ImportedRow) -> Change:
    try:
        return edits.create(record)
    except InvalidInput as error:
        raise InvalidInput(f"Row {row.line}: {error.message}", error.hint) from error


def import_file(studio: Studio, request: ImportRequest) -> ImportReport:
    """Import a file, all or nothing.

    The file is read twice: first to find every fault before writing, then to write.

    Raises:
        InvalidInput: The file or a row cannot be used; row and column are named.
        NotFound: There is no such project.
    """
    with studio.database.read() as connection:
        project = projects.find(connection, request.project)
        plan = _plan(connection, project, request)
    options = _options(project, request)
    for _ in plan.changes(read_rows(request.path, options)):
        pass
    changed = sum(plan.counts[kind] for kind in ("added", "labelled", "marked"))
    if not request.dry_run and changed:
        action = Action("import", studio.settings.actor, f"import {request.path.name}")
        with studio.database.write() as connection:
            plan = _plan(connection, project, request)
            changes = plan.changes(read_rows(request.path, options))
            events.record(connection, project.id, action, changes)
    return _report(plan, request, options)


def _options(project: ProjectRecord, request: ImportRequest) -> ReadOptions:
    """For a multi-label project, split cells at the separator that exports use."""
    if project.task == "multi-label" and request.options.separator is None:
        return replace(request.options, separator=SEPARATOR, slots=True)
    return replace(request.options, slots=True)


def _plan(connection: Transaction, project: ProjectRecord, request: ImportRequest) -> _Import:
    rows = list(dataset.utterances(connection, project.id))
    intents = {normalise(r.name): r for r in dataset.intents(connection, project.id)}
    return _Import(
        task=project.task,
        intents={name: record.id for name, record in intents.items()},
        archived={name: record for name, record in intents.items() if record.archived},
        known={text_hash(row.text): row for row in rows},
        ids={row.id for row in rows},
        source=request.path.name,
        split=request.split,
    )


def _report(plan: _Import, request: ImportRequest, options: ReadOptions) -> ImportReport:
    counts = plan.counts
    return ImportReport(
        added=counts["added"],
        labelled=counts["labelled"],
        already_there=counts["already_there"],
        conflicting=counts["conflicting"],
        empty=counts["empty"],
        too_long=counts["too-long"],
        new_intents=tuple(plan.new_intents),
        examples=(*plan.restored, *plan.examples),
        dry_run=request.dry_run,
        without=counts["without"],
        marked=counts["marked"],
        convention=_convention(options.separator) if plan.task == "multi-label" else "",
    )


def _convention(separator: str | None) -> str:
    sign = separator or SEPARATOR
    return (
        f"Several intents of a cell are parted by {sign}, as in a{sign}b. A cell of {sign} alone "
        "says that the text has no intent; an empty one leaves it unlabelled. In JSONL these are "
        '"intents": ["a", "b"], "intents": [], and no "intents".'
    )
