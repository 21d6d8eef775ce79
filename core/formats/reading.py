"""Read a file of utterances in any supported format."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from core.errors import InvalidInput
from core.formats.arrays import is_array_of_texts, read_array
from core.formats.containers import find_container
from core.formats.decoding import find_encoding
from core.formats.delimited import read_delimited
from core.formats.detect import find_format
from core.formats.jsonl import read_jsonl
from core.formats.plain import read_plain
from core.formats.platform_rows import export_in, export_rows, unlabelled
from core.formats.rasa import read_rasa
from core.formats.rows import ImportedRow, ReadOptions, RowProblem
from core.formats.tables import read_table

_KINDS = {"xlsx": "Excel workbook", "parquet": "Parquet file"}


def read_rows(path: Path, options: ReadOptions | None = None) -> Iterator[ImportedRow | RowProblem]:
    """Stream the rows of a file in order; memory does not grow with the file.

    A row whose text is missing or too long is yielded as a `RowProblem`.

    Raises:
        InvalidInput: The file or one of its rows cannot be read; row and column are named. Faults
            of the file as a whole are raised at once, those of a row when the reader reaches it.
    """
    chosen = options or ReadOptions()
    _check(chosen)
    rows = _rows(path, chosen)
    return map(unlabelled, rows) if chosen.intent_column == "" else rows


def _rows(path: Path, chosen: ReadOptions) -> Iterator[ImportedRow | RowProblem]:
    container = find_container(path)
    if container is not None:
        return read_table(path, container, chosen)
    if (export := export_in(path, chosen)) is not None:
        return export_rows(export, chosen)
    if is_array_of_texts(path, chosen):
        return read_array(path, chosen)
    encoding = find_encoding(path, chosen.encoding)
    kind = chosen.format if chosen.format != "auto" else find_format(path, encoding)
    match kind:
        case "jsonl":
            return read_jsonl(path, encoding, chosen)
        case "text":
            return read_plain(path, encoding, chosen)
        case "rasa":
            return read_rasa(path, encoding, chosen)
        case "csv" | "tsv":
            return read_delimited(path, encoding, replace(chosen, format=kind))
        case _:
            raise InvalidInput(
                f"{path} is no {_KINDS.get(kind, f'export of {kind}')}.",
                "Leave out the format, so that it is detected.",
            )


def _check(options: ReadOptions) -> None:
    if options.separator == "":
        raise InvalidInput("The separator of intents is empty.", "Name one such as '|' or ';'.")
    if options.delimiter is not None and (
        len(options.delimiter) != 1 or options.delimiter in '\r\n\0"'
    ):
        raise InvalidInput(
            f"{options.delimiter!r} cannot part the cells of a row.",
            "Name one character: a comma, a semicolon, a tab or a bar.",
        )
