"""Write a project's utterances to a file, or onto the package that they came from."""

from dataclasses import dataclass
from pathlib import Path

from app.services.studio import Studio
from core.errors import InvalidInput
from core.exports.content import Content, Expectation, FormatPlaces
from core.exports.fitting import losses_of
from core.formats.beside import language_and_kept
from core.formats.rows import SEPARATOR, ImportedRow, WriteFormat
from core.formats.writing import write_rows
from core.platforms.agent import Loss, Platform, refused
from core.platforms.overlay import Deleted, Labelled, Overlaid, PhraseChange, overlay
from core.platforms.packages import write_package
from core.platforms.reading import read_agent
from core.text import counted, normalise, whole_number
from core.types import Split
from storage import pinned_texts, projects
from storage.log import versions
from storage.log.label_origins import texts_taken_out
from storage.people import acts
from storage.people.acts import Act
from storage.people.known_values import known_values
from storage.queries import dataset
from storage.records import UtteranceRecord

_ENDINGS: dict[str, WriteFormat] = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".txt": "text",
    ".yml": "rasa",
    ".yaml": "rasa",
}


_MOST_CHANGES = 200
"""Phrases that a report lists."""

_TABLE = FormatPlaces(several=True, unlabelled=True, marks=False, synthetic=True)
_PLACES: dict[WriteFormat, FormatPlaces] = {
    "csv": _TABLE,
    "tsv": _TABLE,
    "spreadsheet": _TABLE,
    "jsonl": FormatPlaces(several=True, unlabelled=True, languages=True, synthetic=True),
    "rasa": FormatPlaces(several=True, out_of_scope=False, breaks=False),
    "text": FormatPlaces(several=True, unlabelled=True, labels=False, marks=False, breaks=False),
}
"""What a file of utterances has a place for."""

_WITHOUT_SPLIT: frozenset[WriteFormat] = frozenset({"text", "rasa"})
"""Formats that cannot say which texts are those of the test set."""


@dataclass(frozen=True, slots=True)
class ExportChoice:
    """What to write: everything in the format of the file's ending, unless said otherwise.

    Attributes:
        kind: None takes it from the file's name.
        version: Number of a dataset version; None is what the project holds now.
        split: None writes all splits; but for a format without a place for the split, it leaves out
            the test texts, which whoever reads the file would train on.
    """

    kind: WriteFormat | None = None
    version: str | None = None
    split: Split | None = None


@dataclass(frozen=True, slots=True)
class Exported:
    """Numbers of utterances that were written, and of those that were left out.

    `left_out` are test texts; `without_intent` those that a format of examples has no place for.
    `losses` are what else of the project it has none for.
    """

    written: int
    left_out: int
    without_intent: int = 0
    losses: tuple[Loss, ...] = ()


def export_file(
    studio: Studio, name: str, out: Path, choice: ExportChoice = ExportChoice()
) -> Exported:
    """Write a project's utterances, as they are now or in a version.

    Equal data gives equal bytes: a version exported again after edits is the same file.

    Raises:
        NotFound: There is no such project or version.
        InvalidInput: The format is unknown, or the file cannot be written.
    """
    kind = choice.kind or _format_of(out)
    with studio.database.read() as connection:
        project = projects.find(connection, name)
        revision: int | None = None
        if choice.version is None:
            records = list(dataset.utterances(connection, project.id))
            intents = dataset.intents(connection, project.id)
        else:
            revision = versions.find(connection, project.id, number_of(choice.version)).revision
            state = versions.state_at(connection, project.id, revision)
            records, intents = state.utterance_records(), state.intent_records()
        records = dataset.in_order_of_arrival(connection, project.id, records)
        known = known_values(connection, project.id, revision)
        pins = [
            Expectation(one.text, one.intents)
            for one in pinned_texts.list_all(connection, project.id)
        ]
    names = {intent.id: intent.name for intent in intents}
    chosen = [record for record in records if _is_chosen(record, kind, choice.split)]
    written = [one for one in chosen if one.labels] if kind == "rasa" else chosen
    rows = (_exported(record, names) for record in written)
    write_rows(out, rows, kind, SEPARATOR if project.task == "multi-label" else None)
    about = out.suffix.lstrip(".") if choice.kind is None else choice.kind
    acts.note_aside(studio.database, project.id, Act("export", studio.settings.actor, about))
    n_tests = 0 if choice.split else len(records) - len(chosen)
    described = {one.name: one.description for one in intents if not one.archived}
    whole = Content(name, "", described, (), known, pins)
    losses = losses_of(whole, (_exported(record, names) for record in written), _PLACES[kind])
    return Exported(len(written), n_tests, len(chosen) - len(written), losses)


def _is_chosen(record: UtteranceRecord, kind: WriteFormat, split: Split | None) -> bool:
    if split is None:
        return kind not in _WITHOUT_SPLIT or record.split != "test"
    return record.split == split


def _format_of(path: Path) -> WriteFormat:
    kind = _ENDINGS.get(path.suffix.lower())
    if kind is None:
        raise InvalidInput(
            f"'{path.name}' does not say in which format to write.",
            "End it with .csv, .tsv, .jsonl, .yml (Rasa), .txt, .xlsx, .parquet or .lu, or name "
            "the format.",
        )
    return kind


def number_of(version: str) -> int:
    """Return the number of a dataset version, or raise `InvalidInput`."""
    number = whole_number(version)
    if number is None:
        raise InvalidInput(
            f"'{version[:40]}' is no dataset version.", "Versions are numbers from 1 on."
        )
    return number


def _named(record: UtteranceRecord, names: dict[str, str]) -> tuple[str, ...] | None:
    return None if record.labels is None else tuple(sorted(names[key] for key in record.labels))


def _exported(record: UtteranceRecord, names: dict[str, str]) -> ImportedRow:
    labels = _named(record, names)
    language, kept = language_and_kept(record.beside)
    return ImportedRow(
        text=record.text,
        intents=labels,
        split=record.split,
        id=record.id,
        slots=record.slots,
        synthetic=record.synthetic,
        language=language,
        kept=kept,
    )


@dataclass(frozen=True, slots=True)
class OntoReport:
    """What writing a project onto a package changes, or with `dry_run` would change.

    Attributes:
        kept: Phrases of the package that stay as they are.
        moved: Phrases that get another intent.
        edited: Phrases that keep their intent, and get other marked values or another split.
        added: Texts of the project that the package did not have.
        removed: Phrases of the package that were deleted or reworded in the project, and leave it.
        missing: Phrases of the package that could be removed so.
        changes: The first 200 phrases that are moved, added or removed.
        changed: Names of the files that differ.
        losses: What has no place in the package.
        refusals: Why nothing is written; the platform would refuse the package.
    """

    platform: Platform
    kept: int
    moved: int
    edited: int
    added: int
    removed: int
    missing: int
    changes: tuple[PhraseChange, ...]
    changed: tuple[str, ...]
    losses: tuple[Loss, ...]
    refusals: tuple[Loss, ...]
    dry_run: bool


def export_onto(
    studio: Studio,
    project: str,
    package: Path,
    out: Path,
    *,
    dry_run: bool = False,
    remove_missing: bool = False,
) -> OntoReport:
    """Write a copy of a package with the project's labels and marks; all else keeps every byte.

    `remove_missing` removes phrases that were deleted or reworded in the project. What the project
    never had stays.

    Raises:
        NotFound: There is no such project.
        InvalidInput: The package cannot be read, `out` is the package itself, or the platform would
            refuse what would be written.
    """
    if out.resolve() == package.resolve():
        raise InvalidInput("The package would be overwritten.", "Name another file to write.")
    agent = read_agent(package)
    with studio.database.read() as connection:
        target = projects.find(connection, project)
        names = dataset.intent_names(connection, target.id)
        rows = [_labelled(record, names) for record in dataset.utterances(connection, target.id)]
        gone = frozenset(map(normalise, texts_taken_out(connection, target.id)))
    found = overlay(agent, rows, set(names.values()), Deleted(gone, is_removed=remove_missing))
    report = _report(agent.platform, found, dry_run=dry_run)
    if dry_run:
        return report
    if found.refusals:
        raise refused(agent.platform, "the package", found.refusals)
    write_package(agent.package, found.changed, out)
    acts.note_aside(
        studio.database, target.id, Act("export", studio.settings.actor, agent.platform)
    )
    return report


def _labelled(record: UtteranceRecord, names: dict[str, str]) -> Labelled:
    return Labelled(
        text=record.text,
        intents=_named(record, names),
        slots=record.slots,
        is_test=record.split == "test",
    )


def _report(platform: Platform, found: Overlaid, *, dry_run: bool) -> OntoReport:
    return OntoReport(
        platform=platform,
        kept=found.kept,
        moved=found.moved,
        edited=found.edited,
        added=found.added,
        removed=found.removed,
        missing=found.missing,
        changes=found.changes[:_MOST_CHANGES],
        changed=tuple(sorted(found.changed)),
        losses=found.losses,
        refusals=found.refusals,
        dry_run=dry_run,
    )


def words_of(report: OntoReport) -> list[str]:
    """Say what changes, what cannot be carried, and what the platform would refuse."""
    words = summary_of(report)
    words += [line for one in report.losses for line in one.lines("Not carried")]
    words += [line for one in report.refusals for line in one.lines("Refused by the platform")]
    return words


def summary_of(report: OntoReport) -> list[str]:
    """Say what changes, in two sentences."""
    if not report.changed:
        return [f"Nothing changes: {counted(report.kept, 'phrase')} stay as they are."]
    gets, is_ = ("would get", "would be") if report.dry_run else ("got", "were")
    removed = f"{counted(report.removed, 'phrase')} {is_} removed, " if report.removed else ""
    others = f"{counted(report.edited, 'phrase')} {gets} other marked values or another split, "
    return [
        f"{counted(report.moved, 'phrase')} {gets} another intent, {others * bool(report.edited)}"
        f"{counted(report.added, 'text')} {is_} added, {removed}"
        f"{counted(report.kept, 'phrase')} stay as they are.",
        f"{counted(len(report.changed), 'file')} of the package "
        f"{'would differ' if report.dry_run else 'differ'}.",
    ]
