"""Write a whole project as a platform or a tool keeps it, and tell what has no place there."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from app.services.studio import Studio
from core.errors import InvalidInput
from core.exports.content import Content, Expectation, HandedOver, Values
from core.exports.packing import check_out, write_handover, zipped
from core.exports.targets import TARGETS, Target, TargetFormat, hand_over
from core.files import write_atomically
from core.formats.beside import language_and_kept
from core.formats.rows import LANGUAGE_CODE, ImportedRow
from core.platforms.agent import Loss, refused
from core.templates.slot_book import slot_book
from core.templates.slots import SlottedText
from core.text import counted
from core.types import Split
from storage import pinned_texts, projects
from storage.database import Transaction
from storage.log import versions
from storage.people import acts
from storage.people.acts import Act
from storage.people.known_values import known_values
from storage.queries import dataset
from storage.records import IntentRecord, ProjectRecord, UtteranceRecord

ENGLISH = "en"
_MOST_VALUES = 1_000
"""Values of a slot that are handed over, the most frequent first."""


@dataclass(frozen=True, slots=True)
class HandoverChoice:
    """What to write.

    Attributes:
        version: Number of a dataset version; None is what the project holds now.
        split: None writes all that the format has a place for.
        language: Code of the texts that name none; None is that of most texts, else English.
    """

    target: Target
    version: int | None = None
    split: Split | None = None
    language: str | None = None


@dataclass(frozen=True, slots=True)
class HandoverReport:
    """What is written, or with `dry_run` would be; `written` and `left_out` are all texts.

    Attributes:
        title: Name of the platform or tool.
        files: Their names.
        left_out: Texts that have no place, each counted once.
        losses: What else has none.
        refusals: Limits of the platform that would be broken: nothing is written then.
        warning: That an agent of the platform has more than these files; empty where it has not.
    """

    target: Target
    title: str
    files: tuple[str, ...]
    written: int
    left_out: tuple[Loss, ...]
    losses: tuple[Loss, ...]
    refusals: tuple[Loss, ...]
    words: tuple[str, ...]
    dry_run: bool
    warning: str = ""


@dataclass(frozen=True, slots=True)
class TargetView:
    """A format to choose: its name on screen, and how its file ends."""

    target: Target
    title: str
    ending: str


def list_targets() -> list[TargetView]:
    """List the formats that a whole project is written in."""
    return [TargetView(name, one.title, one.ending) for name, one in TARGETS.items()]


def look_at_handover(studio: Studio, project: str, choice: HandoverChoice) -> HandoverReport:
    """Say what a format would hold of a project; nothing is written.

    Raises:
        NotFound: There is no such project or version.
    """
    found = hand_over(content_of(studio, project, choice), choice.target)
    return _report(choice.target, found, dry_run=True)


def write_project(
    studio: Studio, project: str, choice: HandoverChoice, out: Path, *, as_download: bool = False
) -> HandoverReport:
    """Write a project as a platform keeps it; equal data gives equal bytes.

    `as_download` writes several files as a zip, whatever the name of `out` says.

    Raises:
        NotFound: There is no such project or version.
        InvalidInput: The platform would refuse it, or `out` does not fit.
    """
    target = TARGETS[choice.target]
    if not as_download:
        check_out(target, out)
    found = hand_over(content_of(studio, project, choice), choice.target)
    if found.refusals:
        raise refused(target.title, "the file", found.refusals)
    if as_download:
        content = next(iter(found.files.values())) if target.single else zipped(found.files)
        write_atomically(out, [content])
    else:
        write_handover(found.files, target, out)
    with studio.database.read() as connection:
        key = projects.find(connection, project).id
    acts.note_aside(studio.database, key, Act("export", studio.settings.actor, choice.target))
    return _report(choice.target, found, dry_run=False)


def content_of(studio: Studio, project: str, choice: HandoverChoice) -> Content:
    """Return a project as it is handed over.

    Raises:
        NotFound: There is no such project or version.
        InvalidInput: The language is no code.
    """
    if choice.language is not None and not LANGUAGE_CODE.fullmatch(choice.language):
        raise InvalidInput(
            f"'{choice.language[:40]}' is no code of a language.", "Write one such as en or pt-BR."
        )
    with studio.database.read() as connection:
        record = projects.find(connection, project)
        found, intents = _data(connection, record, choice.version)
        utterances = dataset.in_order_of_arrival(connection, record.id, found)
        pins = pinned_texts.list_all(connection, record.id)
        known = known_values(connection, record.id, _revision(connection, record, choice.version))
    names = {one.id: one.name for one in intents}
    used = {key for one in utterances for key in one.labels or ()}
    rows = [_row(one, names, choice) for one in utterances if choice.split in (None, one.split)]
    return Content(
        name=project,
        language=choice.language or _language(rows),
        intents={
            one.name: one.description for one in intents if not one.archived or one.id in used
        },
        rows=rows,
        values=_values(utterances, known),
        # An intent that is gone keeps its key: without it, the pin would expect out of scope.
        pins=[
            Expectation(one.text, tuple(names.get(key, key) for key in one.intents)) for one in pins
        ],
    )


def _data(
    connection: Transaction, project: ProjectRecord, version: int | None
) -> tuple[list[UtteranceRecord], list[IntentRecord]]:
    revision = _revision(connection, project, version)
    if revision is None:
        return (
            list(dataset.utterances(connection, project.id)),
            dataset.intents(connection, project.id),
        )
    state = versions.state_at(connection, project.id, revision)
    return state.utterance_records(), list(state.intent_records())


def _revision(connection: Transaction, project: ProjectRecord, version: int | None) -> int | None:
    """Return the revision that a version froze; None for the data of now."""
    return None if version is None else versions.find(connection, project.id, version).revision


def _row(record: UtteranceRecord, names: dict[str, str], choice: HandoverChoice) -> ImportedRow:
    """Return an utterance; texts of a split that was asked for are written wherever they fit."""
    keeps = TARGETS[choice.target].places.splits
    asked = choice.split is not None and record.split not in keeps
    labels = record.labels
    language, kept = language_and_kept(record.beside)
    return ImportedRow(
        text=record.text,
        intents=None if labels is None else tuple(sorted(names[key] for key in labels)),
        split=None if asked else record.split,
        id=record.id,
        slots=record.slots,
        synthetic=record.synthetic,
        language=language,
        kept=kept,
    )


def _language(rows: Sequence[ImportedRow]) -> str:
    counts = Counter(row.language for row in rows if row.language)
    return max(sorted(counts), key=lambda code: counts[code], default=ENGLISH)


def _values(utterances: Sequence[UtteranceRecord], known: Values) -> Values:
    """Return the values of the slot book, those that imports brought with their synonyms."""
    marked = [
        SlottedText(one.text, one.slots)
        for one in utterances
        if one.slots and one.split != "test" and not one.synthetic
    ]
    book = slot_book(marked)
    found: dict[str, dict[str, tuple[str, ...]]] = {
        name: dict.fromkeys(book.top(name, _MOST_VALUES), ()) for name in book.values
    }
    for name, values in known.items():
        found[name] = _with_synonyms(found.get(name, {}), values)
    return found


def _with_synonyms(
    marked: Mapping[str, tuple[str, ...]], known: Mapping[str, tuple[str, ...]]
) -> dict[str, tuple[str, ...]]:
    """Add values with synonyms to those that are marked, of which one may be a synonym."""
    told = {one.casefold() for value, said in known.items() for one in (value, *said)}
    kept = {value: said for value, said in marked.items() if value.casefold() not in told}
    return kept | {value: tuple(said) for value, said in known.items()}


def _report(target: Target, found: HandedOver, *, dry_run: bool) -> HandoverReport:
    return HandoverReport(
        target=target,
        title=TARGETS[target].title,
        files=tuple(found.files),
        written=found.written,
        left_out=found.left_out,
        losses=found.losses,
        refusals=found.refusals,
        words=tuple(_words(target, found, dry_run=dry_run)),
        dry_run=dry_run,
        warning=_warning(TARGETS[target]),
    )


def _warning(target: TargetFormat) -> str:
    if not target.lacks:
        return ""
    return (
        f"A new agent of intents and phrases alone: it has no {target.lacks}. "
        "Put in the place of an agent that you have, it would delete these."
    )


def _words(target: Target, found: HandedOver, *, dry_run: bool) -> list[str]:
    title, files = TARGETS[target].title, counted(len(found.files), "file")
    if TARGETS[target].tests:
        return [f"{title}: {files}."]
    left = sum(one.count for one in found.left_out)
    verb = "would be written" if dry_run else "written"
    return [
        f"{title}: {counted(found.written, 'text')} {verb} into {files}, "
        f"{counted(left, 'text')} left out."
    ]


def words_of_handover(report: HandoverReport) -> list[str]:
    """Say what is written, what is left out or lost, and what the platform would refuse."""
    words = list(report.words)
    words += [report.warning] * bool(report.warning)
    words += [line for one in report.left_out for line in one.lines("Left out")]
    words += [line for one in report.losses for line in one.lines("Not carried")]
    words += [line for one in report.refusals for line in one.lines("Refused by the platform")]
    return words
