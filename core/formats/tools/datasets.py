"""A folder of Hugging Face's `datasets`: Arrow or Parquet files, and the names of the labels.

Facts: `save_to_disk` writes `dataset_info.json` beside `data-00000-of-00001.arrow`, in a folder for
each split below `dataset_dict.json`; a repository holds `data/train-00000-of-00001.parquet`.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from typing import Any

from core.errors import MALFORMED
from core.formats.delimited import row_of
from core.formats.detect import Dialect, TableLayout, layout_of
from core.formats.parquet import (
    cell_of,
    label_names,
    names_of_labels,
    refuse_too_much,
    refuse_wide,
    row_batches,
    rows_at_once,
)
from core.formats.rows import (
    SPLITS,
    VALIDATION,
    ImportedRow,
    check_characters,
    refuse_long,
)
from core.formats.tools.json_items import json_document
from core.formats.tools.tool import Rows, ToolReading, fault, place_in
from core.platforms.packages import Package

_ENDINGS = (".arrow", ".parquet")
_INFO = ("dataset_info.json", "dataset_dict.json")
_WORD = re.compile(r"[a-z]+")
_SAMPLE = 200
_UNUSED = Dialect(",")


def data_files(package: Package) -> list[str]:
    """Return the files of a data set; none where the package holds anything else."""
    found = [name for name in package.files if name.endswith(_ENDINGS)]
    named = any(name.rpartition("/")[2] in _INFO for name in package.files)
    return found if named or package.kind == "file" or len(found) == len(package.files) else []


def read_datasets(reading: ToolReading) -> Rows:
    """Read all rows; those of a split for validation are read as training texts, and told of.

    Raises:
        InvalidInput: A file is damaged, or no column is recognised as the text.
    """
    from pyarrow import ArrowException

    for name in data_files(reading.package):
        reading.files.setdefault(name, 0)
        try:
            yield from _file(reading, name)
        except (ArrowException, MemoryError, *MALFORMED) as error:
            raise fault(place_in(name, 1), "it cannot be read as Arrow or Parquet") from error


def _file(reading: ToolReading, name: str) -> Rows:
    names, rows = _cells(reading.package, name)
    first = list(islice(rows, _SAMPLE))
    if not first:
        return
    split, layout = _split(name), _layout(reading, name, names, first)
    for number, row in enumerate(chain(first, rows), start=1):
        place = place_in(name, number)
        for cell in row:
            check_characters(place, cell)
        if split in VALIDATION:
            reading.losses.add(f"the split “{split}”, whose rows are read as for training")
        reading.files[name] += 1
        found = row_of(place, row, layout, reading.options)
        yield _of_split(found, split) if isinstance(found, ImportedRow) else found


def _of_split(row: ImportedRow, split: str) -> ImportedRow:
    return replace(row, split=row.split or SPLITS.get(split))


def _cells(package: Package, name: str) -> tuple[list[str], Iterator[list[str]]]:
    """Return the names of the columns, and stream rows of cells."""
    schema, batches = _opened(package, name)
    labels = _labels(package, name, schema)
    columns = [labels.get(column, []) for column in schema.names]
    return list(schema.names), _rows(name, batches, columns)


def _rows(
    name: str, batches: Iterator[Any], columns: Sequence[Sequence[str]]
) -> Iterator[list[str]]:
    number = 0
    for batch in batches:
        step = rows_at_once(batch.nbytes)  # a dictionary of several columns counts for each
        for start in range(0, batch.num_rows, step):
            part = batch.slice(start, step)
            refuse_wide(place_in(name, number).path, number, part)
            values = [column.to_pylist() for column in part.columns]
            for row in zip(*values, strict=True):
                number += 1
                cells = [cell_of(*one) for one in zip(row, columns, strict=True)]
                refuse_long(place_in(name, number), cells)
                yield cells


def _opened(package: Package, name: str) -> tuple[Any, Iterator[Any]]:
    from pyarrow import ArrowInvalid, BufferReader, ipc, py_buffer
    from pyarrow.parquet import ParquetFile

    buffer = py_buffer(package.files[name])
    if name.endswith(".parquet"):
        file = ParquetFile(BufferReader(buffer))
        refuse_too_much(name, file)
        return file.schema_arrow, row_batches(file)
    try:
        stream = ipc.open_stream(buffer)
    except ArrowInvalid:
        whole = ipc.open_file(buffer)
        return whole.schema, (whole.get_batch(at) for at in range(whole.num_record_batches))
    return stream.schema, iter(stream)


def _labels(package: Package, name: str, schema: Any) -> dict[str, list[str]]:
    """Return the names of labels by column, of the file or of the folder that it stands in."""
    beside = name.rpartition("/")[0]
    info = f"{beside}/{_INFO[0]}" if beside else _INFO[0]
    if info in package.files:
        found = json_document(package, info)
        return names_of_labels(found.get("features") if isinstance(found, dict) else None)
    return label_names(schema)


def _layout(
    reading: ToolReading, name: str, names: Sequence[str], rows: list[list[str]]
) -> TableLayout:
    options = replace(reading.options, header=True)
    layout = layout_of(place_in(name, 1), _UNUSED, [list(names), *rows], options)
    read = (layout.text, layout.intent, layout.split, layout.id, layout.synthetic)
    for at, column in enumerate(names):
        if at not in read:
            reading.losses.add(f"the column “{column}”")
    return layout


def _split(name: str) -> str:
    """Return the split that the name of a file or of its folder begins with."""
    folder, _, file = name.rpartition("/")
    for part in (file, folder.rpartition("/")[2]):
        word = _WORD.match(part.lower())
        if word and (word[0] in SPLITS or word[0] in VALIDATION):
            return word[0]
    return ""
