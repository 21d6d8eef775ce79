"""Tables with typed cells: Excel, Parquet, and a folder of Hugging Face's `datasets`.

Facts: Excel takes a cell that begins with `=` for a formula unless its type says text. The folder
is as `save_to_disk` writes it; lists are called `Sequence`, which versions 3 and 4 read.
"""

import hashlib
import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from core.exports.content import Files, Fitted
from core.exports.dialogflow import plain_json
from core.formats.rows import NO_INTENT, SEPARATOR, ImportedRow
from core.formats.workbooks import in_letters

if TYPE_CHECKING:
    from pyarrow import Table

_HEAD = ("id", "text", "intent", "split")
_ILLEGAL = "texts with signs that a workbook cannot hold"
_PARTED = f"texts of an intent with “{SEPARATOR}” in its name, which parts intents in a cell"


def xlsx(given: Fitted) -> Files:
    """Write a workbook with one sheet; every cell is text."""
    from openpyxl import Workbook
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.utils.exceptions import IllegalCharacterError

    book = Workbook(write_only=True)
    sheet = book.create_sheet("Texts")
    sheet.append(_HEAD)
    several = any(len(row.intents or ()) > 1 for row in given.rows)
    for row in given.rows:
        if several and any(SEPARATOR in name for name in row.intents or ()):
            given.left.add(_PARTED, row.text[:200])
            continue
        try:
            cells = [WriteOnlyCell(sheet, in_letters(value)) for value in _cells(row)]
        except IllegalCharacterError:
            given.left.add(_ILLEGAL, row.text[:200])
            continue
        for cell in cells:
            cell.data_type = "s"
        sheet.append(cells)
    out = io.BytesIO()
    book.save(out)
    return {f"{given.name}.xlsx": out.getvalue()}


def _cells(row: ImportedRow) -> tuple[str, str, str, str]:
    intents = row.intents
    label = "" if intents is None else SEPARATOR.join(intents) or NO_INTENT
    return row.id or "", row.text, label, row.split or ""


def parquet(given: Fitted) -> Files:
    """Write one Parquet file; several intents of a text, and names that a cell parts, are lists."""
    from pyarrow import parquet as files

    several = any(
        len(row.intents or ()) > 1 or any(SEPARATOR in name for name in row.intents or ())
        for row in given.rows
    )
    out = io.BytesIO()
    files.write_table(_table(given.rows, several=several), out)
    return {f"{given.name}.parquet": out.getvalue()}


def _table(rows: Sequence[ImportedRow], *, several: bool) -> "Table":
    import pyarrow

    text = pyarrow.string()
    kind = pyarrow.list_(text) if several else text
    labels: list[Any] = [
        None if row.intents is None else list(row.intents) if several else _cells(row)[2]
        for row in rows
    ]
    return pyarrow.table(
        {
            "id": pyarrow.array([row.id or "" for row in rows], text),
            "text": pyarrow.array([row.text for row in rows], text),
            "intent": pyarrow.array(labels, kind),
            "split": pyarrow.array([row.split or "" for row in rows], text),
        }
    )


def datasets(given: Fitted) -> Files:
    """Write a data set, with a folder for each split."""
    by_split: dict[str, list[ImportedRow]] = {}
    for row in given.rows:
        name: str = "unsupervised" if row.split == "pool" else row.split or "train"
        by_split.setdefault(name, []).append(row)
    files = {"dataset_dict.json": plain_json({"splits": list(by_split)})}
    several = any(len(row.intents or ()) != 1 for row in given.rows if row.intents is not None)
    for name, rows in by_split.items():
        files |= _split(given, name, rows, several=several)
    return files


def _split(
    given: Fitted, name: str, rows: Sequence[ImportedRow], *, several: bool
) -> dict[str, bytes]:
    import pyarrow

    numbers = {intent: at for at, intent in enumerate(given.intents)}
    found: list[Any] = []
    for row in rows:
        chosen = [numbers[intent] for intent in row.intents or ()]
        absent = None if several else -1
        found.append(absent if row.intents is None else chosen if several else chosen[0])
    whole = pyarrow.int64()
    table = pyarrow.table(
        {
            "id": pyarrow.array([row.id or "" for row in rows], pyarrow.string()),
            "text": pyarrow.array([row.text for row in rows], pyarrow.string()),
            "label": pyarrow.array(found, pyarrow.list_(whole) if several else whole),
        }
    )
    out = io.BytesIO()
    with pyarrow.ipc.new_stream(out, table.schema) as stream:
        stream.write_table(table)
    content = out.getvalue()
    label: dict[str, Any] = {"names": list(given.intents), "_type": "ClassLabel"}
    if several:
        label = {"feature": label, "_type": "Sequence"}
    plain = {"dtype": "string", "_type": "Value"}
    state: dict[str, Any] = {
        "_data_files": [{"filename": "data-00000-of-00001.arrow"}],
        "_fingerprint": hashlib.sha256(content).hexdigest()[:16],
        "_format_columns": None,
        "_format_kwargs": {},
        "_format_type": None,
        "_output_all_columns": False,
        "_split": name,
    }
    info = {"citation": "", "description": "", "homepage": "", "license": ""}
    features = {"id": plain, "text": plain, "label": label}
    return {
        f"{name}/data-00000-of-00001.arrow": content,
        f"{name}/dataset_info.json": plain_json({**info, "features": features}),
        f"{name}/state.json": plain_json(state),
    }
