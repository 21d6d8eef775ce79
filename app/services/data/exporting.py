"""Write a project's utterances to a file."""

from pathlib import Path

from app.services.studio import Studio
from core.errors import InvalidInput
from core.formats.rows import SEPARATOR, ImportedRow, WriteFormat
from core.formats.writing import write_rows
from storage import projects
from storage.log import versions
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


def export_file(
    studio: Studio,
    name: str,
    out: Path,
    kind: WriteFormat | None = None,
    version: str | None = None,
) -> int:
    """Write a project's utterances, as they are now or in a version; return their number.

    Equal data gives equal bytes: a version exported again after edits is the same file.

    Raises:
        NotFound: There is no such project or version.
        InvalidInput: The format is unknown, or the file cannot be written.
    """
    chosen = kind or _format_of(out)
    with studio.database.read() as connection:
        project = projects.find(connection, name)
        if version is None:
            records = list(dataset.utterances(connection, project.id))
            intents = dataset.intents(connection, project.id)
        else:
            frozen = versions.find(connection, project.id, _number(version))
            state = versions.state_at(connection, project.id, frozen.revision)
            records, intents = state.utterance_records(), state.intent_records()
    names = {intent.id: intent.name for intent in intents}
    rows = (_exported(record, names) for record in records)
    write_rows(out, rows, chosen, SEPARATOR if project.task == "multi-label" else None)
    return len(records)


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
