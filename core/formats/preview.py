"""Preview a file before it is imported: its columns and first rows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from core.characters import storable
from core.errors import InvalidInput
from core.formats.arrays import is_array_of_texts
from core.formats.containers import Container, find_container
from core.formats.decoding import find_encoding
from core.formats.detect import TableLayout, find_format, find_layout, read_head
from core.formats.platform_rows import export_in, export_rows
from core.formats.reading import read_rows
from core.formats.rows import NO_INTENT, ImportedRow, ReadFormat, ReadOptions, RowProblem
from core.formats.tables import read_table_head, table_layout

_ROWS = 8
_LONGEST_SHOWN = 200


@dataclass(frozen=True, slots=True)
class FilePreview:
    """The detected format of a file, and its first rows with cells cut at 200 characters.

    Without a header, `columns` holds numbers from 1; an unclear `text_column` is "". `sheets` are
    those of an Excel workbook, and `sheet` the one that is shown; "" is the first with rows.
    `split_column` says which rows are for training and which for tests; "" is none. In all of them
    U+FFFD stands for a damaged byte.
    """

    format: ReadFormat
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    text_column: str
    intent_column: str
    header: bool = False
    sheets: tuple[str, ...] = ()
    sheet: str = ""
    split_column: str = ""


def preview_file(path: Path, options: ReadOptions) -> FilePreview:
    """Return the format, columns and first rows of a file.

    Raises:
        InvalidInput: The file is not text, or cannot be read.
    """
    container = find_container(path)
    if container is not None:
        return _of_table(path, container, options)
    if (export := export_in(path, options)) is not None:
        return _of_rows(export_rows(export, options), export.platform, options)
    if is_array_of_texts(path, options):
        return _of_rows(read_rows(path, options), "jsonl", options)
    encoding = find_encoding(path, options.encoding)
    kind = options.format if options.format != "auto" else find_format(path, encoding)
    if kind in ("jsonl", "text", "rasa"):
        return _of_rows(read_rows(path, replace(options, format=kind)), kind, options)
    options = replace(options, format=kind)
    rows, headed = read_head(path, encoding, options)
    names = _names(rows, headed=headed)
    text, intent, split = _columns(_layout(path, encoding, options), names)
    shown = _shown(rows, headed=headed)
    return FilePreview(kind, tuple(names), shown, text, intent, headed, split_column=split)


def _of_table(path: Path, kind: Container, options: ReadOptions) -> FilePreview:
    head = read_table_head(path, kind, options)
    names = _names(head.rows, headed=head.headed)
    text, intent, split = _columns(table_layout(path, head, kind, options), names)
    return FilePreview(
        kind,
        tuple(names),
        _shown(head.rows, headed=head.headed),
        text,
        intent,
        head.headed,
        head.sheets,
        options.sheet or "",
        split,
    )


def _names(rows: Sequence[Sequence[str]], *, headed: bool) -> list[str]:
    width = max((len(row) for row in rows), default=0)
    return list(map(storable, rows[0])) if headed else [str(at + 1) for at in range(width)]


def _shown(rows: Sequence[Sequence[str]], *, headed: bool) -> tuple[tuple[str, ...], ...]:
    shown = rows[1:] if headed else rows
    return tuple(tuple(storable(cell[:_LONGEST_SHOWN]) for cell in row) for row in shown[:_ROWS])


def _layout(path: Path, encoding: str, options: ReadOptions) -> TableLayout | None:
    try:
        return find_layout(path, encoding, options)
    except InvalidInput:  # no column is clear: the user chooses
        return None


def _columns(layout: TableLayout | None, names: list[str]) -> tuple[str, str, str]:
    """Return the names of the columns of the text, the intent and the split; "" for none."""
    if layout is None:
        return "", "", ""
    text, *others = (
        "" if place is None else names[place]
        for place in (layout.text, layout.intent, layout.split)
    )
    return text, others[0], others[1]


def _label(row: ImportedRow) -> str:
    """Write a label; "no intent" is not blank, since a blank cell means unlabelled."""
    if row.intents is None:
        return ""
    return ", ".join(row.intents) or NO_INTENT


def _of_rows(
    rows: Iterator[ImportedRow | RowProblem], kind: ReadFormat, options: ReadOptions
) -> FilePreview:
    shown: list[tuple[str, ...]] = []
    for row in rows:
        if isinstance(row, ImportedRow):
            shown.append((row.text[:_LONGEST_SHOWN], _label(row)[:_LONGEST_SHOWN]))
        if len(shown) == _ROWS:
            break
    intent = "" if options.intent_column == "" else "intent"
    return FilePreview(kind, ("text", "intent"), tuple(shown), "text", intent)
