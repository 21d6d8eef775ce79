"""Read the rows of a Parquet file, with lists of intents and the label names of data sets."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.errors import MALFORMED, InvalidInput
from core.formats.rows import (
    LONGEST_RECORD,
    FilePlace,
    NamesCell,
    cell_text,
    refuse_long,
    too_long_row,
)
from core.text import size_words

if TYPE_CHECKING:
    from pyarrow.parquet import ParquetFile

MOST_ROWS = 2_000_000
_MOST_UNPACKED = 1_000_000_000
_MOST_OF_ROW = 4 * LONGEST_RECORD
"""Bytes of the texts of a row; a character takes up to four."""
_BATCH = 256
_SMALLER = "Keep the columns with the text and the intent, or import it in parts."


def parquet_columns(path: Path) -> tuple[str, ...]:
    """Return the names of a file's columns.

    Raises:
        InvalidInput: The file is damaged, or holds too much.
    """
    with _opened(path) as file:
        return tuple(file.schema_arrow.names)


def parquet_rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Stream rows as cells, numbered from 1.

    A list is a cell of its items' names.

    Raises:
        InvalidInput: The file is damaged, or holds too much.
    """
    with _opened(path) as file:
        labels = label_names(file.schema_arrow)
        names = [labels.get(name, []) for name in file.schema_arrow.names]
        number = 0
        for batch in row_batches(file):
            refuse_wide(path, number, batch)
            columns = [column.to_pylist() for column in batch.columns]
            for values in zip(*columns, strict=True):
                number += 1
                cells = [cell_of(*cell) for cell in zip(values, names, strict=True)]
                refuse_long(FilePlace(path, number), cells)
                yield number, cells


def cell_of(value: object, labels: Sequence[str]) -> str:
    """Write a value as a cell; a numbered label is written as its name, if it has one."""
    match value:
        case int() if labels and not isinstance(value, bool):  # -1 stands for no label
            name = labels[value] if 0 <= value < len(labels) else ""
            return NamesCell([name]) if name.strip() else ""
        case list():
            cells = [cell_of(item, labels) for item in value]
            return NamesCell([name for cell in cells for name in _names_in(cell)])
        case _:
            return cell_text(value)


def _names_in(cell: str) -> tuple[str, ...]:
    return cell.names if isinstance(cell, NamesCell) else (cell,)


def label_names(schema: Any) -> dict[str, list[str]]:
    """Return the names behind numbered labels, which Hugging Face's data sets keep beside them."""
    stored = (schema.metadata or {}).get(b"huggingface")
    try:
        features = json.loads(stored)["info"]["features"] if stored else {}
    except (ValueError, KeyError, TypeError, RecursionError):
        return {}
    return names_of_labels(features)


def names_of_labels(features: Any) -> dict[str, list[str]]:
    """Return the names behind the numbers of each column of labels, from a data set's features."""
    if not isinstance(features, dict):
        return {}
    try:
        names = {name: _names(feature) for name, feature in features.items()}
    except RecursionError:
        return {}
    return {name: given for name, given in names.items() if given}


def _names(feature: Any) -> list[str]:
    if not isinstance(feature, dict):
        return []
    names = feature.get("names")
    if isinstance(names, list):
        return [str(name) for name in names]
    return _names(feature.get("feature"))


@contextmanager
def _opened(path: Path) -> Iterator["ParquetFile"]:
    import pyarrow
    from pyarrow.parquet import ParquetFile

    try:
        with ParquetFile(path) as file:
            refuse_too_much(path, file)
            yield file
    except (pyarrow.ArrowException, MemoryError, *MALFORMED) as error:
        raise InvalidInput(
            f"{path} cannot be read as a Parquet file.",
            "It may be damaged, or hold a date outside the years 1 to 9999. Write it again.",
        ) from error


def row_batches(file: "ParquetFile") -> Iterator[Any]:
    """Read rows, so many at once that they have room even if each holds all of its group."""
    at_once = rows_at_once(max(_group_sizes(file), default=0))
    yield from file.iter_batches(batch_size=at_once, use_threads=False)  # which cost more than rows


def rows_at_once(n_bytes: int) -> int:
    """Return how many rows to write out at once where a group of them takes so many bytes.

    A dictionary holds a text once, and each row may have it.
    """
    return max(1, min(_BATCH, _MOST_UNPACKED // max(n_bytes, 1)))


def refuse_wide(path: Path, before: int, batch: Any) -> None:
    """Refuse a row that refers so often to long texts that they fill the memory once written out.

    `before` is the number of rows before those of the batch.

    Raises:
        InvalidInput: A row has more than `LONGEST_RECORD` characters.
    """
    if sum(map(_written_size, batch.columns)) <= _MOST_OF_ROW:
        return
    for at in range(batch.num_rows):
        row = batch.slice(at, 1)
        if sum(map(_written_size, row.columns)) > _MOST_OF_ROW:
            raise too_long_row(FilePlace(path, before + at + 1))


def _written_size(values: Any) -> int:
    """Return the bytes of an array's texts, each written out, and one for each other value."""
    from pyarrow import compute, types

    kind = values.type
    if types.is_map(kind) and len(values):  # Arrow flattens lists, and no maps
        start, end = values.offsets[0].as_py(), values.offsets[-1].as_py()
        return _written_size(values.values.slice(start, end - start))
    lists = (types.is_list, types.is_large_list, types.is_fixed_size_list)
    if any(is_list(kind) for is_list in lists):
        return _written_size(values.flatten())
    if types.is_struct(kind):
        return sum(map(_written_size, values.flatten()))
    texts = values.dictionary if types.is_dictionary(kind) else values
    kinds = (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary)
    if not any(is_text(texts.type) for is_text in kinds):
        return len(values)
    lengths = compute.binary_length(texts)
    if texts is not values:
        lengths = lengths.take(values.indices)
    return int(compute.sum(lengths).as_py() or 0)


def refuse_too_much(path: Path | str, file: "ParquetFile") -> None:
    """Refuse a file that fills the memory.

    Raises:
        InvalidInput: It has too many rows, or unpacks to too many bytes.
    """
    shape = file.metadata
    if shape.num_rows > MOST_ROWS:
        raise InvalidInput(f"{path} has more than {MOST_ROWS:,} rows.", _SMALLER)
    if sum(_group_sizes(file)) > _MOST_UNPACKED:
        raise InvalidInput(f"{path} unpacks to more than {size_words(_MOST_UNPACKED)}.", _SMALLER)


def _group_sizes(file: "ParquetFile") -> list[int]:
    shape = file.metadata
    return [shape.row_group(place).total_byte_size for place in range(shape.num_row_groups)]
