"""Write a project's utterances to a file."""

from dataclasses import dataclass
from pathlib import Path

from app.services.studio import Studio
from core.errors import InvalidInput
from core.formats.rows import SEPARATOR, ImportedRow, WriteFormat
from core.formats.writing import write_rows
from core.types import Split
from storage import projects
from storage.log import versions
from storage.people import acts
from storage.people.acts import Act
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
    """Numbers of utterances that were written, and of test texts that were left out."""

    written: int
    left_out: int


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
        if choice.version is None:
            records = list(dataset.utterances(connection, project.id))
            intents = dataset.intents(connection, project.id)
        else:
            frozen = versions.find(connection, project.id, _number(choice.version))
            state = versions.state_at(connection, project.id, frozen.revision)
            records, intents = state.utterance_records(), state.intent_records()
    names = {intent.id: intent.name for intent in intents}
    chosen = [record for record in records if _is_chosen(record, kind, choice.split)]
    rows = (_exported(record, names) for record in chosen)
    write_rows(out, rows, kind, SEPARATOR if project.task == "multi-label" else None)
    about = out.suffix.lstrip(".") if choice.kind is None else choice.kind
    acts.note_aside(studio.database, project.id, Act("export", studio.settings.actor, about))
    return Exported(len(chosen), 0 if choice.split else len(records) - len(chosen))


def _is_chosen(record: UtteranceRecord, kind: WriteFormat, split: Split | None) -> bool:
    if split is None:
        return kind not in _WITHOUT_SPLIT or record.split != "test"
    return record.split == split


def _format_of(path: Path) -> WriteFormat:
    kind = _ENDINGS.get(path.suffix.lower())
    if kind is None:
        raise InvalidInput(
            f"'{path.name}' does not say in which format to write.",
            "End it with .csv, .tsv, .jsonl, .yml (Rasa) or .txt, or name the format.",
        )
    return kind


def _number(version: str) -> int:
    if not version.isdecimal():
        raise InvalidInput(f"'{version}' is no dataset version.", "Versions are numbers from 1 on.")
    return int(version)


def _exported(record: UtteranceRecord, names: dict[str, str]) -> ImportedRow:
    labels = None if record.labels is None else tuple(sorted(names[key] for key in record.labels))
    return ImportedRow(
        text=record.text,
        intents=labels,
        split=record.split,
        id=record.id,
        slots=record.slots,
        synthetic=record.synthetic,
    )
