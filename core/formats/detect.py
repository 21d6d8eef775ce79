"""Detect a file's format, delimiter, header and columns from its first rows."""

import csv
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from core.errors import ChoiceMissing, InvalidInput
from core.formats.columns import intent_column, names_columns, split_column, text_column
from core.formats.decoding import read_lines
from core.formats.rows import (
    ID_NAMES,
    INTENT_NAMES,
    SPLIT_NAMES,
    SYNTHETIC_NAMES,
    TEXT_NAMES,
    FilePlace,
    ReadFormat,
    ReadOptions,
)
from core.text import whole_number

MOST_COLUMNS = 1_000
CUE_ENDINGS = (".vtt", ".srt")
"""Endings of transcripts of talks, with the time of each cue."""
_DELIMITERS = (",", ";", "\t", "|")
_SAMPLE_LINES = 200
_SAMPLE_CHARACTERS = 256 * 1024
_ENDINGS: dict[str, ReadFormat] = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".yml": "rasa",
    ".yaml": "rasa",
    ".md": "rasa",
}


@dataclass(frozen=True, slots=True)
class Dialect:
    """How to split a line into cells; without `quoted`, quotes are plain characters."""

    delimiter: str
    quoted: bool = True

    def parse(self, lines: Iterable[str]) -> Iterator[list[str]]:
        """Parse lines into rows of cells; unbalanced quotes are an error."""
        if self.quoted:
            return csv.reader(lines, delimiter=self.delimiter, strict=True)
        return csv.reader(lines, delimiter=self.delimiter, quoting=csv.QUOTE_NONE, strict=True)


@dataclass(frozen=True, slots=True)
class TableLayout:
    """The columns of a delimited file, each by its index from 0, or None.

    `names` holds the header's cells (empty without one); `width` is the usual number of cells.
    """

    dialect: Dialect
    names: tuple[str, ...]
    width: int
    text: int
    intent: int | None = None
    split: int | None = None
    id: int | None = None
    synthetic: int | None = None


def find_format(path: Path, encoding: str) -> ReadFormat:
    """Return the format by the file's ending, or by its first rows where the ending is unknown.

    Raises:
        InvalidInput: The file is one JSON document instead of one object a line, or a transcript.
    """
    if path.suffix.lower() in CUE_ENDINGS:
        raise ChoiceMissing(
            f"{path} is a transcript of a talk, and no file of texts.",
            "Discover imports it as a log of what people said. To use its sentences as texts, save "
            "them as .txt.",
            "traffic",
        )
    by_name = _ENDINGS.get(path.suffix.lower())
    if by_name is not None:
        return by_name
    sample = _sample(path, encoding)
    first = next((line.strip() for line in sample if line.strip()), "")
    if path.suffix.lower() == ".json" and _is_document(sample):
        raise InvalidInput(
            f"{path} is one JSON document, and none of a platform or tool that is known here.",
            "Write one object with a text a line, and end the name with .jsonl.",
        )
    if first.startswith("{"):
        return "jsonl"
    delimiters = [d for d in _DELIMITERS if _is_header(_rows(sample, Dialect(d))[:1])]
    # Sentences contain commas, semicolons and bars, so in a .txt file only tabs separate columns.
    delimiters += [d for d in _DELIMITERS if _fitness(_rows(sample, Dialect(d))) == (1.0, 1.0)]
    if path.suffix.lower() == ".txt":
        delimiters = [
            d for d in delimiters if d == "\t" or _is_header(_rows(sample, Dialect(d))[:1])
        ]
    return "csv" if delimiters else "text"


def _is_document(sample: Sequence[str]) -> bool:
    """Whether a sample of JSON is one value, and not an object a line."""
    first, *others = [line.strip() for line in sample if line.strip()] or [""]
    if others and others[0].startswith("{"):
        return first.startswith("[")
    try:
        value = json.loads(first)
    except (ValueError, RecursionError):
        return True
    if others or not isinstance(value, dict):
        return not isinstance(value, dict)
    is_nested = any(isinstance(one, list | dict) for one in value.values())
    return is_nested and value.keys().isdisjoint(TEXT_NAMES)


def find_layout(path: Path, encoding: str, options: ReadOptions) -> TableLayout:
    """Find the delimiter, the header and the columns of a delimited file.

    Raises:
        InvalidInput: No column is recognised as the text, or a column named in the options is
            missing.
    """
    dialect, rows = _first_rows(path, encoding, options)
    if not rows:
        raise InvalidInput(f"{FilePlace(path, 1)}: no cells can be read.", "Check its quotes.")
    return layout_of(FilePlace(path, 1), dialect, rows, options)


def layout_of(
    place: FilePlace, dialect: Dialect, rows: list[list[str]], options: ReadOptions
) -> TableLayout:
    """Find the header and the columns from the first rows, of which there is at least one.

    Raises:
        InvalidInput: As `find_layout`.
    """
    if has_header(rows, options):
        return _by_names(place, dialect, rows, options)
    return _by_content(place, dialect, rows, options)


def read_head(path: Path, encoding: str, options: ReadOptions) -> tuple[list[list[str]], bool]:
    """Return the first rows of a delimited file, and whether the first row is a header."""
    _, rows = _first_rows(path, encoding, options)
    return rows, bool(rows) and has_header(rows, options)


def _first_rows(path: Path, encoding: str, options: ReadOptions) -> tuple[Dialect, list[list[str]]]:
    sample = _sample(path, encoding)
    delimiter = options.delimiter or ("\t" if options.format == "tsv" else None)
    delimiter = delimiter or _find_delimiter(sample, options)
    dialect = Dialect(delimiter, quoted=delimiter != "\t" or not _has_stray_quotes(sample))
    rows = _rows(sample, dialect)
    refuse_many_columns(path, rows)
    return dialect, rows


def refuse_many_columns(path: Path, rows: Sequence[Sequence[str]]) -> None:
    """Refuse a table of over `MOST_COLUMNS`, which a browser could not show.

    Raises:
        InvalidInput: A row has more cells.
    """
    wide = next((at for at, row in enumerate(rows, start=1) if len(row) > MOST_COLUMNS), None)
    if wide is not None:
        raise InvalidInput(
            f"{FilePlace(path, wide)}: {len(rows[wide - 1]):,} columns, of which at most "
            f"{MOST_COLUMNS:,} are read.",
            "Leave out the columns that are not needed.",
        )


def _sample(path: Path, encoding: str) -> list[str]:
    sample: list[str] = []
    characters = 0
    with closing(read_lines(path, encoding)) as lines:
        for line in lines:
            sample.append(line)
            characters += len(line)
            if len(sample) == _SAMPLE_LINES or characters > _SAMPLE_CHARACTERS:
                break
    return sample


def _rows(sample: Sequence[str], dialect: Dialect) -> list[list[str]]:
    """Parse the sample's rows up to the first faulty or truncated one."""
    rows: list[list[str]] = []
    try:
        for row in dialect.parse(sample):
            if row:
                rows.append(row)  # noqa: PERF401 - what came before an error is kept
    except csv.Error:
        pass
    return rows


def _has_stray_quotes(sample: Sequence[str]) -> bool:
    """Whether a TSV file parses better when its quotes are plain characters."""
    plain = _rows(sample, Dialect("\t", quoted=False))
    if not plain or len(plain[0]) == 1 or len({len(row) for row in plain}) > 1:
        return False
    return len(_rows(sample, Dialect("\t"))) < len(plain)


def _find_delimiter(sample: Sequence[str], options: ReadOptions) -> str:
    parsed = {delimiter: _rows(sample, Dialect(delimiter)) for delimiter in _DELIMITERS}
    if options.header is not False:
        wanted = options.text_column or ""
        for delimiter, rows in parsed.items():
            if rows and len(rows[0]) > 1 and _is_header(rows[:1], wanted):
                return delimiter
    return max(_DELIMITERS, key=lambda delimiter: _fitness(parsed[delimiter]))


def _fitness(rows: Sequence[Sequence[str]]) -> tuple[float, float]:
    """Return the share of rows of the usual width, and of later cells without a leading space."""
    widths = [len(row) for row in rows]
    usual = max(sorted(set(widths)), key=widths.count, default=1)
    if usual == 1:
        return 0.0, 0.0
    following = [cell for row in rows for _, cell in pairwise(row)]
    tight = sum(not cell.startswith(" ") for cell in following) / len(following)
    return widths.count(usual) / len(widths), tight


def _is_header(rows: Sequence[Sequence[str]], wanted: str = "") -> bool:
    names = {_plain(cell) for row in rows for cell in row}
    if wanted and _plain(wanted) in names:
        return True
    return bool(names.intersection(TEXT_NAMES)) and len(names) > 1


def _plain(name: str) -> str:
    return name.strip().lower()


def has_header(rows: Sequence[Sequence[str]], options: ReadOptions) -> bool:
    """Whether the first row names the columns."""
    if options.header is not None:
        return options.header
    names = {_plain(cell) for cell in rows[0]}
    chosen = (options.text_column, options.intent_column, options.split_column)
    wanted = {_plain(name) for name in chosen if name}
    return bool(names & {*TEXT_NAMES, *INTENT_NAMES, *wanted}) or names_columns(rows)


def _by_names(
    place: FilePlace, dialect: Dialect, rows: list[list[str]], options: ReadOptions
) -> TableLayout:
    header = rows[0]

    def find(accepted: tuple[str, ...], wanted: str | None = None) -> int | None:
        return _named(place, header, accepted, wanted)

    text = find(TEXT_NAMES, options.text_column)
    if text is None and options.text_column is None:
        text = 0 if len(header) == 1 else text_column(rows)  # the only one, whatever its name
    intent = None if options.intent_column == "" else find(INTENT_NAMES, options.intent_column)
    others = find(ID_NAMES), find(SYNTHETIC_NAMES)
    split = None if options.split_column == "" else find(SPLIT_NAMES, options.split_column)
    if options.split_column is None and split in (None, text, intent):
        split = split_column(rows[1:], (text, intent, *others), header)
    if intent is None and options.intent_column is None:
        intent = intent_column(header, (text, split, *others))
    if text is None:
        raise _no_column(place, header, "text", options)
    for kind, found in (("intent", intent), ("split", split)):
        if found is None and _chosen(options)[kind]:
            raise _no_column(place, header, kind, options)
    return TableLayout(dialect, tuple(header), len(header), text, intent, split, *others)


def _named(
    place: FilePlace, header: Sequence[str], accepted: tuple[str, ...], wanted: str | None
) -> int | None:
    """Return the column of the wanted name or number, else of the first accepted name."""
    names = [_plain(cell) for cell in header]
    usable = accepted if wanted is None else (_plain(wanted),)
    name = next((name for name in usable if name in names), None)
    if name is None and wanted is not None and wanted.strip().isdecimal():
        return _numbered(place, wanted, len(names))
    if name is not None and names.count(name) > 1:
        message = f"{place}: {names.count(name)} columns are named '{name}'."
        raise InvalidInput(message, "Give each column a name of its own.")
    return None if name is None else names.index(name)


def _no_column(
    place: FilePlace, header: Sequence[str], kind: str, options: ReadOptions
) -> InvalidInput:
    name = (_chosen(options)[kind] or kind)[:200]
    columns = ", ".join(f"'{cell.strip()}'" for cell in header)[:300]
    return InvalidInput(
        f"{place}: there is no column '{name}' for the {kind}; the columns are {columns}.",
        f"Say which column has the {kind}, or rename it to '{kind}'.",
    )


def _chosen(options: ReadOptions) -> dict[str, str | None]:
    return {
        "text": options.text_column,
        "intent": options.intent_column,
        "split": options.split_column,
    }


def _by_content(
    place: FilePlace, dialect: Dialect, rows: list[list[str]], options: ReadOptions
) -> TableLayout:
    """Find the columns of a file without header, by number or by their content."""
    widths = [len(row) for row in rows]
    width = max(sorted(set(widths)), key=widths.count)
    for kind, wanted in _chosen(options).items():
        if wanted and not wanted.strip().isdecimal():
            raise _no_column(place, rows[0], kind, options)
    text = _numbered(place, options.text_column, width)
    intent = _numbered(place, options.intent_column, width)
    split = _numbered(place, options.split_column, width)
    if text is None and width > 2:
        raise InvalidInput(
            f"{place}: {width} columns, and none of them is named text.",
            "Add a header such as text,intent, or say which column has the text.",
        )
    if text is None:
        other = split if intent is None else intent
        text = _text_of_two(rows) if width == 2 and other is None else 1 - (other or 1)
    if intent is None and width == 2 and options.intent_column != "" and split is None:
        intent = 1 - text
    if options.split_column is None:
        split = split_column(rows, (text, intent))
    return TableLayout(dialect, (), width, text if width > 1 else 0, intent, split)


def _numbered(place: FilePlace, number: str | None, width: int) -> int | None:
    if not number:
        return None
    column = whole_number(number.strip())
    if column is None or not 1 <= column <= width:
        raise InvalidInput(
            f"{place}: there is no column {number.strip()[:40]}; the row has {width}.",
            "Columns count from 1.",
        )
    return column - 1


def _text_of_two(rows: Sequence[Sequence[str]]) -> int:
    """Return the column with more distinct cells; ties go to the one with more words."""
    pairs = [row for row in rows if len(row) == 2]

    def variety(place: int) -> tuple[int, int, int]:
        cells = [row[place].strip() for row in pairs]
        return len(set(cells)), sum(len(c.split()) for c in cells), sum(len(c) for c in cells)

    return 0 if variety(0) >= variety(1) else 1
