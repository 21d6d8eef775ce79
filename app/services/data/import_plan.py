"""Compare the rows of a file with every split of a project, and turn them into changes."""

import re
import uuid
from collections import Counter, defaultdict
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from app.services.data.file_labels import FileLabels, Labels, Place, place_of
from app.services.data.import_cases import (
    CASE_KINDS,
    UNCHANGED,
    CaseExample,
    CaseKind,
    ImportCase,
    ImportChoices,
)
from core.errors import InvalidInput
from core.formats.beside import beside, completed, lacks_room
from core.formats.rows import ImportedRow, RowProblem
from core.lookalikes import differing_sign, shape_of
from core.platforms.gathering import Losses
from core.templates.moved_slots import normalised
from core.templates.slots import SlottedText
from core.text import label_words, normalise, text_hash
from core.types import Split, Task
from storage.log import edits
from storage.records import Change, IntentRecord, UtteranceRecord

_EXAMPLES = 20
_MOST_OF_A_CASE = 50
_SHOWN = 200
_SIGNS = re.compile(r"[\W_]+")
"""What stands between the words of a name."""

Changes: TypeAlias = Iterator[Change]


@dataclass(frozen=True, slots=True)
class MetRow:
    """How a row meets the project: `twin` is the utterance with its text, if there is one."""

    row: ImportedRow
    labels: Labels
    split: Split
    kind: CaseKind
    twin: UtteranceRecord | None


@dataclass(slots=True)
class IntentsOfImport:
    """The project's intents by name; those that the file needs are created or restored.

    `taken` are the ids of those that the file needs. `lookalikes` are sentences on new names that
    look like others. `descriptions` are those of the file by name, for intents that are created.
    """

    ids: dict[str, str]
    archived: dict[str, IntentRecord]
    descriptions: Mapping[str, str] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)
    created: dict[str, str] = field(default_factory=dict)
    restored: list[str] = field(default_factory=list)
    lookalikes: list[str] = field(default_factory=list)
    _shapes: dict[str, str] = field(default_factory=dict)
    _words: dict[str, str] = field(default_factory=dict)

    def names(self, ids: Iterable[str]) -> tuple[str, ...]:
        """Return the names of intents, sorted."""
        wanted = set(ids)
        return tuple(sorted(name for name, key in self.ids.items() if key in wanted))

    def take(self, names: Iterable[str]) -> Generator[Change, None, list[str]]:
        """Yield the changes that make these intents usable; return their ids."""
        names = list(names)
        for name in names:
            if name in self.archived:
                yield edits.edit(self.archived.pop(name), "archived", value=False)
                self.restored.append(f"The intent '{name}' was archived; the file uses it again.")
            if name not in self.ids:
                self._compare(name)
                about = self.descriptions.get(name, "")
                created = edits.create_intent(name, about, position=len(self.ids))
                self.ids[name] = self.created[name] = created.subject_id
                yield created
        chosen = [self.ids[name] for name in names]
        self.taken.update(chosen)
        return chosen

    def _compare(self, name: str) -> None:
        """Tell of a new name that people would take for another one."""
        if not self._shapes:
            self._shapes = {shape_of(other): other for other in self.ids}
        twin = self._shapes.setdefault(shape_of(name), name)
        if twin != name:
            self.lookalikes.append(
                f"The new intent '{name}' looks like '{twin}', but is another name: one of the two "
                f"has a {differing_sign(name, twin)}. Correct the file if they are the same."
            )
            return
        # A name of the project with the same words is asked about; two of one file are told of.
        twin = self._words.setdefault(_SIGNS.sub(" ", name.casefold()).strip(), name)
        if twin != name:
            self.lookalikes.append(
                f"The new intent '{name}' has the words of '{twin}', which is in this file, too. "
                "Correct the file if they are the same, or merge them later, in Review."
            )


@dataclass(slots=True)
class ImportPlan:
    """Converts a file's rows to changes; made once to check and once to write.

    Attributes:
        known: The utterances of the project and of the file so far, by the hash of their text.
        ids: Ids that are taken.
        added_to: Number of new texts by split.
        losses: What the file says of known texts that stays in it alone.
        split: For rows that name none; None puts labelled rows into train, others into pool.
    """

    task: Task
    intents: IntentsOfImport
    known: dict[str, list[UtteranceRecord]]
    ids: set[str]
    source: str
    split: Split | None
    labels: FileLabels
    choices: ImportChoices
    counts: Counter[str] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)
    added_to: Counter[Split] = field(default_factory=Counter)
    losses: Losses = field(default_factory=Losses)
    _cases: defaultdict[CaseKind, list[CaseExample]] = field(
        default_factory=lambda: defaultdict(list)
    )
    _rows: Counter[CaseKind] = field(default_factory=Counter)
    _seen: dict[Place, UtteranceRecord | None] = field(default_factory=dict)
    _made: set[str] = field(default_factory=set)

    def changes(self, rows: Iterable[ImportedRow | RowProblem]) -> Changes:
        """Yield the changes of all rows, and count each row in one case.

        Raises:
            InvalidInput: A row has several intents where the project takes one.
        """
        for row in rows:
            if isinstance(row, RowProblem):
                self._rows[row.kind] += 1
                self._note(row.kind, row.message)
                continue
            self.counts["validation"] += row.validation
            if place_of(row) in self._seen:
                self._refuse_many(row)
                yield from self._repeat(row)
            else:
                self._refuse_many(row)
                yield from self._row(self._meet(row))

    def cases(self) -> tuple[ImportCase, ...]:
        """Return the number of rows of each case that occurs."""
        return tuple(
            ImportCase(kind, self._rows[kind], tuple(self._cases[kind]))
            for kind in CASE_KINDS
            if self._rows[kind]
        )

    def _meet(self, row: ImportedRow) -> MetRow:
        """Compare a row with the utterances of the same text in all splits."""
        labels = self.labels.of(row)
        split = row.split or self.split or ("pool" if labels is None else "train")
        there = self.known.get(text_hash(row.text), [])
        if place_of(row)[1] is not None:  # an export may have a text in two splits
            there = [record for record in there if record.id not in self._made]
        twin = _of_split(there, split)
        if not there:
            return MetRow(row, labels, split, "new", None)
        if twin is None and (test := _of_split(there, "test")):
            return MetRow(row, labels, split, "in-test", test)
        if twin is None:
            twin = max(there, key=lambda record: record.labels is not None)
        wrong_side = split == "test" and twin.split != "test"
        if wrong_side and (labels is None or twin.labels is not None or twin.synthetic):
            return MetRow(row, labels, split, "in-training", twin)
        return MetRow(row, labels, split, self._kind(labels, twin), twin)

    def _kind(self, labels: Labels, twin: UtteranceRecord) -> CaseKind:
        if labels is None:
            return "same" if twin.labels is None else "unlabelled"
        if twin.labels is None:
            return "given"
        same = set(twin.labels) == {self.intents.ids.get(name) for name in labels}
        return "same" if same else "otherwise"

    def _row(self, met: MetRow) -> Changes:
        across = met.kind in ("in-test", "in-training")
        if met.kind == "new" or (across and self.choices.across == "add"):
            self._count(met)
            yield from self._add(met)
        elif across or met.twin is None:
            self._count(met)
            yield from self._leave(met)
        else:
            yield from self._again(met, met.twin)

    def _add(self, met: MetRow) -> Changes:
        row, labels = met.row, met.labels
        given = None if labels is None else (yield from self.intents.take(labels))
        record = UtteranceRecord(
            id=row.id if row.id and row.id not in self.ids else uuid.uuid4().hex,
            text=normalise(row.text),
            split=met.split,
            source=self.source,
            labels=None if given is None else tuple(sorted(given)),
            skipped=False,
            flagged="",
            slots=normalised(SlottedText(row.text, row.slots)).slots,
            synthetic=row.synthetic,
            beside=beside(row),
        )
        change = _created(record, row)
        self.ids.add(record.id)
        self._made.add(record.id)
        self._keep(row, record)
        self.counts["added"] += 1
        self.added_to[met.split] += 1
        self.counts["marked"] += bool(record.slots)
        self.counts["labelled"] += labels is not None
        self.counts["without"] += labels == ()
        yield change

    def _leave(self, met: MetRow) -> Changes:
        """Leave a text in its set with its label; what it lacks beside it may still come."""
        twin = met.twin
        whole = None if twin is None else (yield from self._complete(met.row, twin))
        if whole is twin:
            self.counts["already_there"] += 1
        elif whole is not None:
            self._keep(met.row, whole, twin)
        self._seen[place_of(met.row)] = None

    def _again(self, met: MetRow, twin: UtteranceRecord) -> Changes:
        """Change the label and the values of a known text, where that is asked for or safe."""
        now, kind = twin, met.kind
        if kind == "given":
            now = yield from self._label(met, twin)
            self.counts["labelled"] += 1
            self.counts["without"] += met.labels == ()
        elif kind == "otherwise" and self._takes(met.row):
            chosen = yield from self.intents.take(met.labels or ())
            yield edits.label(twin, chosen)
            self.counts["relabelled"] += 1
            now = replace(twin, labels=tuple(sorted(chosen)))
        elif kind == "otherwise":
            words = label_words(met.labels or (), self.task)
            self._note(
                "conflicting",
                f"row {met.row.line} says {words}; label kept: {met.row.text[:60]!r}",
            )
        marked = yield from self._mark(met.row, now)
        whole = yield from self._complete(met.row, marked or now)
        if kind in UNCHANGED and marked is None:
            kind = "other-values"
        elif kind in UNCHANGED and whole is now:
            self.counts["already_there"] += 1
        self._count(replace(met, kind=kind))
        self._keep(met.row, whole, twin)

    def _label(
        self, met: MetRow, twin: UtteranceRecord
    ) -> Generator[Change, None, UtteranceRecord]:
        """Label a text that has no label yet; one of the pool moves to where the file puts it."""
        chosen = yield from self.intents.take(met.labels or ())
        labelled = replace(twin, labels=tuple(sorted(chosen)))
        if met.split == "train":
            yield from edits.decide(twin, chosen)
            return replace(labelled, split="train" if twin.split == "pool" else twin.split)
        yield edits.label(twin, chosen)
        if met.split != twin.split and met.split == "test":
            yield edits.edit(twin, "split", "test")
            return replace(labelled, split="test")
        return labelled

    def _mark(
        self, row: ImportedRow, now: UtteranceRecord
    ) -> Generator[Change, None, UtteranceRecord | None]:
        """Mark the values of a text that has none; None if it has others, which are kept."""
        slots = normalised(SlottedText(row.text, row.slots)).slots
        if not slots or slots == now.slots:
            return now
        if now.slots:
            words = f"row {row.line} marks other values; slots kept: {row.text[:60]!r}"
            self._note("conflicting", words)
            return None
        yield edits.mark(now, slots)
        self.counts["marked"] += 1
        return replace(now, slots=slots)

    def _complete(
        self, row: ImportedRow, now: UtteranceRecord
    ) -> Generator[Change, None, UtteranceRecord]:
        """Keep beside a known text what it lacks: its language, or what this format says of it."""
        whole = completed(now.beside, row)
        if lacks_room(whole, row):
            self.losses.add("fields without room beside a text that is here already", row.text)
        if whole == now.beside:
            return now
        yield edits.edit(now, "beside", whole)
        self.counts["completed"] += 1
        return replace(now, beside=whole)

    def _repeat(self, row: ImportedRow) -> Changes:
        """Count a text that stands in the file before; only its values may be new."""
        place, labels = place_of(row), self.labels.reader.read(row)
        contradicted = place in self.labels.contradicted
        record = self._seen[place]
        met = MetRow(row, labels, "train", "repeated", record)
        if contradicted:
            self._count(replace(met, kind="contradicted"))
            if labels is not None and set(labels) != set(self.labels.first.get(place) or ()):
                words = f"row {row.line} says {label_words(labels, self.task)}"
                self._note("conflicting", f"{words}, an earlier one not: {row.text[:60]!r}")
            return
        marked = record if record is None else (yield from self._mark(row, record))
        if record is not None and marked is None:
            self._count(replace(met, kind="other-values"))
            return
        self.counts["already_there"] += marked is record
        self._count(met)
        self._seen[place] = marked

    def _takes(self, row: ImportedRow) -> bool:
        """Whether a text that has another label gets that of the file."""
        return (self.choices.otherwise == "file") != (row.line in self.choices.exceptions)

    def _keep(
        self, row: ImportedRow, record: UtteranceRecord, before: UtteranceRecord | None = None
    ) -> None:
        records = self.known.setdefault(text_hash(row.text), [])
        if before in records:
            records.remove(before)
        records.append(record)
        self._seen[place_of(row)] = record

    def _refuse_many(self, row: ImportedRow) -> None:
        labels = self.labels.reader.read(row) or ()
        if self.task == "single-label" and len(labels) > 1:
            raise InvalidInput(
                f"Row {row.line} has {len(labels)} intents ({', '.join(labels)}), "
                "and the project takes one for each text.",
                f"Correct row {row.line}, or create a project that allows several.",
            )

    def _count(self, met: MetRow) -> None:
        self._rows[met.kind] += 1
        examples = self._cases[met.kind]
        if met.kind == "new" or len(examples) == _MOST_OF_A_CASE:
            return
        twin = met.twin
        here = "" if twin is None else self._words(twin.labels)
        file = "" if met.labels is None else label_words(met.labels, self.task)
        examples.append(CaseExample(met.row.line, met.row.text[:_SHOWN], here, file))

    def _words(self, labels: Sequence[str] | None) -> str:
        return "" if labels is None else label_words(self.intents.names(labels), self.task)

    def _note(self, kind: str, sentence: str) -> None:
        self.counts[kind] += 1
        if len(self.examples) < _EXAMPLES:
            self.examples.append(sentence)


def _of_split(records: Iterable[UtteranceRecord], split: str) -> UtteranceRecord | None:
    return next((record for record in records if record.split == split), None)


def _created(record: UtteranceRecord, row: ImportedRow) -> Change:
    try:
        return edits.create(record)
    except InvalidInput as error:
        raise InvalidInput(f"Row {row.line}: {error.message}", error.hint) from error
