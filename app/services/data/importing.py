"""Import a file of utterances into a project, all or nothing."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from app.services.data.file_labels import FileLabels, read_file_labels
from app.services.data.import_cases import (
    DoubtfulLabel,
    ImportCase,
    ImportChoices,
    NameLikeOthers,
)
from app.services.data.import_plan import ImportPlan, IntentsOfImport
from app.services.scratch import scratch_folder
from app.services.studio import Studio
from core.errors import Conflict
from core.exports.targets import TARGETS
from core.formats.platform_rows import Export, export_in, export_rows
from core.formats.reading import read_rows
from core.formats.rows import SEPARATOR, ImportedRow, ReadOptions, RowProblem, Tool
from core.memory import while_memory_lasts
from core.platforms.agent import Agent, Loss, Platform
from core.platforms.gathering import Losses, storable_values
from core.text import counted, is_storable, plain_name, text_hash
from core.types import Split
from storage import projects
from storage.database import Transaction
from storage.log import events
from storage.log.events import Action
from storage.log.staging import Landed, StagedChanges, land
from storage.people.acts import Act, note
from storage.people.known_values import keep_values
from storage.people.request_keys import Keep, keep_nothing
from storage.queries import dataset
from storage.records import IntentRecord, ProjectRecord, UtteranceRecord

_READ_ONCE = 8 << 20
"""Bytes; the rows of a smaller file are kept in memory instead of reading it three times."""

_TRIES = 5
"""Times that a file is compared anew because others changed what it needs meanwhile."""

_LONGEST_DESCRIPTION = 5_000
"""Characters of an intent's description that people can edit; a longer one is left out."""

_TOLD = 5
"""New intents of a test set that are told one by one; of more, the file is of another project."""


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
    choices: ImportChoices = field(default_factory=ImportChoices)


@dataclass(frozen=True, slots=True)
class FilePhrases:
    """Name of a file that was read, and its number of phrases."""

    name: str
    phrases: int


@dataclass(frozen=True, slots=True)
class PackageReport:
    """What was read of an export; `losses` stay in it alone. `platform` is its format.

    `values` is the number of values that the slot book gets, by slot. `unread` is what agents of
    the platform have besides and is never read; empty for a tool.
    """

    platform: Platform | Tool
    files: tuple[FilePhrases, ...]
    losses: tuple[Loss, ...]
    values: dict[str, int] = field(default_factory=dict)
    unread: str = ""


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import did, or with `dry_run` would do.

    Attributes:
        labelled: Number of labels that the file gives to new texts and to unlabelled ones.
        already_there: Number of rows that change nothing.
        conflicting: Number of rows whose text has another label or other values, which are kept.
        examples: Sentences on new intents that look like others, on new ones of a test set, on
            archived intents that are restored, then on a few rows.
        without: Number of labels in the file that mean "no intent".
        convention: How a cell of a multi-label file lists several intents, or none.
        marked: Number of new and existing utterances whose values the file marks.
        completed: Number of existing utterances that get a language, ids or other fields of the
            file, of which they had none.
        relabelled: Number of labels of the project that the file replaces, as chosen.
        cases: Every row of the file, in exactly one case each.
        doubtful: Labels that may mean "no label", and how they are read.
        like_others: New names of the file that may stand for intents of the project.
        key: Key by which the import is undone; empty if nothing was written.
        added_to: Number of new texts by split.
        validation: Number of rows that the file has in a set for validation; there is none here,
            so they go where rows without a split go.
        package: What the export of a platform or of another tool holds; None for plain files.
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
    completed: int = 0
    relabelled: int = 0
    cases: tuple[ImportCase, ...] = ()
    doubtful: tuple[DoubtfulLabel, ...] = ()
    like_others: tuple[NameLikeOthers, ...] = ()
    key: str = ""
    package: PackageReport | None = None
    added_to: Mapping[Split, int] = field(default_factory=dict)
    validation: int = 0


_Rows = Callable[[], Iterator[ImportedRow | RowProblem]]


def import_file(
    studio: Studio, request: ImportRequest, keep: Keep[ImportReport] = keep_nothing
) -> ImportReport:
    """Import a file, all or nothing.

    The changes are written into a file of their own, while others label; one short transaction
    then takes all of them over, and calls `keep` with the report.

    Raises:
        Conflict: The cases are not those that the person saw.
        InvalidInput: The file or a row cannot be used; row and column are named.
        NotFound: There is no such project.
        OutOfMemory: Memory is short, while enough is left to say so.
    """
    export = export_in(request.path, request.options)
    with studio.database.read() as connection:
        project = projects.find(connection, request.project)
        names = _names_in_use(connection, project)
    options = _options(project, request)
    rows = _reread(request.path, options, export)
    labels = read_file_labels(rows(), request.choices, names)
    if request.dry_run:
        plan, _ = _plan(studio, project, request, labels, export)
        for _ in plan.changes(rows()):
            pass
        return _report(plan, request, options, export)
    ending = _Ending(project.id, studio.settings.actor, request, export, keep)
    for _ in range(_TRIES):
        plan, seen = _plan(studio, project, request, labels, export)
        with scratch_folder(studio.places) as folder:
            staged = StagedChanges(folder / "changes.db", seen, plan.intents.taken)
            staged.fill(plan.changes(rows()))
            _check_counts(plan, request.choices)
            report = _report(plan, request, options, export)
            if not staged.count:
                return ending.nothing_new(studio, report)
            action = ending.action()
            end = partial(ending.end, replace(report, key=action.key))
            landed = land(studio.database, project.id, action, staged, end)
        if landed is not None:
            return landed
    raise Conflict(
        "Other people changed the project's intents again and again while the file was read.",
        "Nothing is imported. Try again when they rest.",
    )


@dataclass(frozen=True, slots=True)
class _Ending:
    """What an import stores in the transaction that takes its changes over."""

    project_id: int
    actor: str
    request: ImportRequest
    export: Export | None
    keep: Keep[ImportReport]

    def action(self) -> Action:
        return Action("import", self.actor, f"import {self.request.path.name}")

    def end(self, report: ImportReport, connection: Transaction, landed: Landed) -> ImportReport:
        done = _without(report, landed)
        self._keep(connection, done)
        return done

    def nothing_new(self, studio: Studio, report: ImportReport) -> ImportReport:
        done = Act("import", self.actor, f"{self.request.path.name}: nothing new")
        with studio.database.write() as connection:
            projects.get_open(connection, self.project_id)
            note(connection, self.project_id, done)
            self._keep(connection, report)
        return report

    def _keep(self, connection: Transaction, report: ImportReport) -> None:
        values = {} if self.export is None else storable_values(self.export.slot_values)[0]
        if values:
            keep_values(connection, self.project_id, report.key, values)
        self.keep(connection, report)


def _package(export: Export, more: Losses) -> PackageReport:
    files = tuple(FilePhrases(name, n) for name, n in export.files.items())
    kept, left_out = storable_values(export.slot_values)
    values = {slot: len(found) for slot, found in kept.items() if found}
    losses = (*export.losses, *left_out, *_descriptions(export)[1], *more.told())
    unread = TARGETS[export.platform].lacks
    return PackageReport(export.platform, files, losses, values, unread)


def _without(report: ImportReport, landed: Landed) -> ImportReport:
    """Tell of texts that others changed while the file was read: they keep what they have."""
    if not landed.texts:
        return report
    labels = landed.left_out["labels"]
    relabelled = min(report.relabelled, labels)
    words = f"{counted(landed.texts, 'text')} changed while the file was read, and stay as they are"
    return replace(
        report,
        labelled=report.labelled - (labels - relabelled),
        relabelled=report.relabelled - relabelled,
        marked=report.marked - landed.left_out["slots"],
        completed=report.completed - landed.left_out["beside"],
        already_there=report.already_there + landed.texts,
        examples=(f"{words}.", *report.examples),
    )


def _check_counts(plan: ImportPlan, choices: ImportChoices) -> None:
    counted = choices.counted
    if counted is not None and dict(counted) != {case.kind: case.rows for case in plan.cases()}:
        raise Conflict(
            "The project has changed since you saw these counts, so nothing is imported.",
            "Look at the new counts, then import again.",
        )


def _reread(path: Path, options: ReadOptions, export: Export | None) -> _Rows:
    """Return a function that yields the rows of a file from the first on, whenever it is called."""
    if export is not None:
        return lambda: while_memory_lasts(export_rows(export, options))
    if path.is_file() and path.stat().st_size <= _READ_ONCE:
        kept = list(while_memory_lasts(read_rows(path, options)))
        return lambda: while_memory_lasts(kept)
    return lambda: while_memory_lasts(read_rows(path, options))


def _options(project: ProjectRecord, request: ImportRequest) -> ReadOptions:
    """For a multi-label project, split cells at the separator that exports use."""
    if project.task == "multi-label" and request.options.separator is None:
        return replace(request.options, separator=SEPARATOR, slots=True, several=True)
    return replace(request.options, slots=True, several=project.task == "multi-label")


def _names_in_use(connection: Transaction, project: ProjectRecord) -> frozenset[str]:
    records = dataset.intents(connection, project.id)
    return frozenset(plain_name(record.name) for record in records if not record.archived)


def _plan(
    studio: Studio,
    project: ProjectRecord,
    request: ImportRequest,
    labels: FileLabels,
    export: Export | None,
) -> tuple[ImportPlan, int]:
    """Return a plan, and the project's revision that it was made from."""
    known: defaultdict[str, list[UtteranceRecord]] = defaultdict(list)
    ids: set[str] = set()
    with studio.database.read() as connection:
        seen = events.head(connection, project.id)
        for record in dataset.utterances(connection, project.id):
            known[text_hash(record.text)].append(record)
            ids.add(record.id)
        records = dataset.intents(connection, project.id)
    intents: dict[str, IntentRecord] = {plain_name(record.name): record for record in records}
    plan = ImportPlan(
        task=project.task,
        intents=IntentsOfImport(
            {name: record.id for name, record in intents.items()},
            {name: record for name, record in intents.items() if record.archived},
            _descriptions(export)[0],
        ),
        known=known,
        ids=ids,
        source=request.path.name,
        split=request.split,
        labels=labels,
        choices=request.choices,
    )
    return plan, seen


def _descriptions(export: Export | None) -> tuple[dict[str, str], tuple[Loss, ...]]:
    """Return what an agent's package says about its intents, by name, and what is left out."""
    told = export.intents if isinstance(export, Agent) else {}
    kept, losses = dict[str, str](), Losses()
    for name, about in told.items():
        if not is_storable(about):
            losses.add("descriptions of intents with a NUL or half of a character", name)
        elif len(about) > _LONGEST_DESCRIPTION:
            losses.add(f"descriptions of intents of over {_LONGEST_DESCRIPTION:,} characters", name)
        else:
            kept[plain_name(name)] = about
    return kept, losses.told()


def _report(
    plan: ImportPlan, request: ImportRequest, options: ReadOptions, export: Export | None
) -> ImportReport:
    counts = plan.counts
    return ImportReport(
        added=counts["added"],
        labelled=counts["labelled"],
        already_there=counts["already_there"],
        conflicting=counts["conflicting"],
        empty=counts["empty"],
        too_long=counts["too-long"],
        new_intents=tuple(plan.intents.created),
        examples=(
            *plan.intents.lookalikes,
            *_unexampled(plan),
            *plan.intents.restored,
            *plan.examples,
        ),
        dry_run=request.dry_run,
        without=counts["without"],
        marked=counts["marked"],
        completed=counts["completed"],
        convention=_convention(options.separator) if plan.task == "multi-label" else "",
        relabelled=counts["relabelled"],
        cases=plan.cases(),
        doubtful=plan.labels.doubtful(),
        like_others=plan.labels.like_others(),
        package=None if export is None else _package(export, plan.losses),
        added_to=dict(plan.added_to),
        validation=counts["validation"],
    )


def _unexampled(plan: ImportPlan) -> Iterator[str]:
    """Tell of intents that only test texts will have, beside intents that are there already."""
    new = plan.intents.created
    if plan.split != "test" or len(new) == len(plan.intents.ids) or len(new) > _TOLD:
        return
    for name in new:
        yield (
            f"The new intent '{name}' has no example to learn from, so its test texts are answered "
            "wrong. If it means that no intent fits, write 'out of scope' in its place."
        )


def _convention(separator: str | None) -> str:
    sign = separator or SEPARATOR
    return (
        f"Several intents of a cell are parted by {sign}, as in a{sign}b. A cell of {sign} alone "
        "says that the text has no intent; an empty one leaves it unlabelled. In JSONL these are "
        '"intents": ["a", "b"], "intents": [], and no "intents".'
    )
