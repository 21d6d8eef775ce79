"""CSV files as platforms take them in bulk: Dialogflow CX's with a header, Watson's without.

Facts: Google's page on exporting intents (a row may leave out the intent's name, which is then
that of the row before); IBM's page on intents (`text,intent`) and entities (`entity,value,...`).
"""

import csv
import io
from collections.abc import Iterator

from core.errors import InvalidInput
from core.formats.tools.json_items import not_utf8
from core.formats.tools.tool import About, Rows, ToolReading, fault, place_in
from core.platforms.packages import Package

_INTENT, _LANGUAGE, _PHRASE = "intent display name", "language", "phrase"
_QUOTES = "Check the quotes and commas of this row."


def is_cx_csv(package: Package, name: str) -> bool:
    """Whether the first row names the columns as Dialogflow CX does."""
    try:
        _, header = next(_records(package, name), (0, []))
    except InvalidInput:
        return False
    return {_INTENT, _PHRASE} <= {cell.strip().lower() for cell in header}


def read_cx_csv(reading: ToolReading, name: str) -> Rows:
    """Read phrases with their languages."""
    records = _records(reading.package, name)
    names = [cell.strip().lower() for cell in next(records)[1]]
    intent = ""
    for number, cells in records:
        row = dict(zip(names, cells, strict=False))
        intent = row.get(_INTENT, "").strip() or intent
        place = place_in(name, number)
        if not row.get(_PHRASE, "").strip():
            reading.losses.add("rows without a phrase", intent)
            continue
        if not intent:
            raise fault(place, "no row names an intent yet")
        about = About(language=row.get(_LANGUAGE, "").strip())
        yield reading.row(place, row[_PHRASE], (intent,), about=about)


def watson_files(package: Package) -> tuple[list[str], list[str]]:
    """Return the files of intents and of entities, told by their names; of CSV files alone."""
    names = list(package.files)
    if package.kind == "file" or not all(name.lower().endswith(".csv") for name in names):
        return [], []
    entities = [name for name in names if "entit" in _last(name)]
    return [name for name in names if "intent" in _last(name) and name not in entities], entities


def _last(name: str) -> str:
    return name.rpartition("/")[2].lower()


def read_watson_csv(reading: ToolReading) -> Rows:
    """Read phrases and their intents; the values of entities go to the slot book."""
    intents, entities = watson_files(reading.package)
    for name in entities:
        for _, (entity, *said) in _records(reading.package, name):
            value, *synonyms = said or [""]
            if value.strip():
                known = reading.values.setdefault(entity.strip().removeprefix("@"), {})
                known[value.strip()] = tuple(one.strip() for one in synonyms if one.strip())
    for name in intents:
        reading.files.setdefault(name, 0)
        for number, cells in _records(reading.package, name):
            labels = tuple(cell.strip() for cell in cells[1:2] if cell.strip())
            if len(cells) > 2:
                fields = f"the row has {len(cells)} columns, and not text and intent"
                raise fault(place_in(name, number), fields, _QUOTES)
            yield reading.row(place_in(name, number), cells[0], labels or None)


def _records(package: Package, name: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that are not blank, each with the number of its last line."""
    with (
        package.stream(name) as raw,
        io.TextIOWrapper(raw, "utf-8-sig", newline="") as stream,
    ):
        rows = csv.reader(stream, strict=True)
        try:
            for cells in rows:
                if cells:
                    yield rows.line_num, cells
        except UnicodeDecodeError as error:
            raise not_utf8(name, error) from error
        except csv.Error as error:
            raise fault(place_in(name, rows.line_num), f"no CSV ({error})", _QUOTES) from error
