"""Rows as lines of JSON in canonical form, and the checks of lines that people and git wrote."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import IO, Any, NoReturn, get_args

from core.errors import InvalidInput
from core.formats.beside import is_beside
from core.formats.rows import LONGEST_TEXT
from core.sync.merge import Parts, Row, Rows
from core.text import is_blank, is_storable
from core.types import Split

_LONGEST_LINE = 1 << 20
"""Bytes; a text of 5,000 characters with all its values takes a tenth of it."""
_MARKERS = (b"<<<<<<<", b"|||||||", b"=======", b">>>>>>>")
_ID = re.compile(r"[0-9a-f]{1,64}")
_SPLITS = get_args(Split)
_REQUIRED: Any = object()


@dataclass(frozen=True, slots=True)
class LineField:
    """A field of a line: whether a value fits, in words what does, and what is left out."""

    fits: Callable[[Any], bool]
    wanted: str
    default: Any = _REQUIRED


def _is_text(value: Any, longest: int = _LONGEST_LINE) -> bool:
    return isinstance(value, str) and len(value) <= longest and is_storable(value)


def _is_id(value: Any) -> bool:
    return isinstance(value, str) and _ID.fullmatch(value) is not None


def _is_key(value: Any) -> bool:
    return _is_text(value, 1_000) and value != ""


def _is_said(value: Any) -> bool:
    return _is_text(value, LONGEST_TEXT) and not is_blank(value)


def _are_ids(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_id, value)) and len(set(value)) == len(value)


def _are_slots(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_slot, value))


def _is_slot(value: Any) -> bool:
    if not isinstance(value, list) or len(value) != 3:
        return False
    start, end, name = value
    return type(start) is int and type(end) is int and _is_text(name)


_IDS = "a list of ids of intents"
_SAID = LineField(_is_said, f"a text of 1 to {LONGEST_TEXT:,} characters")
_FLAG = LineField(lambda value: isinstance(value, bool), "true or false", default=False)

UTTERANCE: Mapping[str, LineField] = {
    "id": LineField(_is_key, "a text of 1 to 1,000 characters"),
    "text": _SAID,
    "labels": LineField(lambda value: value is None or _are_ids(value), f"null or {_IDS}"),
    "split": LineField(lambda value: value in _SPLITS, "train, test or pool"),
    "source": LineField(_is_text, "a text", ""),
    "skipped": _FLAG,
    "flagged": LineField(_is_text, "a note", ""),
    "slots": LineField(_are_slots, "a list of [start, end, name]", []),
    "synthetic": LineField(_is_text, "the id of an utterance", ""),
    "beside": LineField(is_beside, "what an export wrote there", ""),
}
INTENT: Mapping[str, LineField] = {
    "id": LineField(_is_id, "up to 64 digits of 0 to 9 and a to f"),
    "name": LineField(
        lambda value: _is_text(value, 200) and not is_blank(value), "a name of 1 to 200 characters"
    ),
    "description": LineField(_is_text, "a text", ""),
    "color": LineField(_is_text, "a colour", ""),
    "position": LineField(lambda v: type(v) is int and abs(v) < 1 << 31, "a whole number", 0),
    "archived": _FLAG,
}
PIN: Mapping[str, LineField] = {"text": _SAID, "intents": LineField(_are_ids, _IDS)}

UTTERANCE_PARTS: Parts = (
    *(("id",), ("text", "slots"), ("labels", "skipped"), ("split",), ("source",)),
    *(("flagged",), ("synthetic",), ("beside",)),
)
INTENT_PARTS: Parts = tuple((name,) for name in INTENT)
PIN_PARTS: Parts = tuple((name,) for name in PIN)


def refuse(file: str, line: int, what: str, hint: str) -> NoReturn:
    """Raise `InvalidInput` that names a file and a line."""
    raise InvalidInput(f"{file}, line {line}: {what}", hint)


def written(rows: Rows, fields: Mapping[str, LineField]) -> bytes:
    """Write rows in the order of their keys, one a line, with sorted fields and no defaults."""
    return b"".join(written_line(rows[key], fields) for key in sorted(rows))


def written_line(row: Row, fields: Mapping[str, LineField]) -> bytes:
    """Write one row."""
    told = {name: value for name, value in row.items() if value != fields[name].default}
    return json.dumps(told, ensure_ascii=False, sort_keys=True).encode() + b"\n"


def read_lines(
    stream: IO[bytes], file: str, fields: Mapping[str, LineField]
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (line number, row with all fields) of what `written` wrote, or people changed.

    Raises:
        InvalidInput: A line is broken; file and line are named.
    """
    number = 0
    while line := stream.readline(_LONGEST_LINE + 1):
        number += 1
        if len(line) > _LONGEST_LINE:
            refuse(file, number, "the line is longer than a megabyte.", "Shorten it.")
        if line.strip():
            yield number, _row(line, file, number, fields)


def _row(line: bytes, file: str, number: int, fields: Mapping[str, LineField]) -> dict[str, Any]:
    if line.startswith(_MARKERS):
        hint = "Choose one of the two lines, remove the marks, and sync again."
        refuse(file, number, "git could not merge two changes here.", hint)
    value = json_object(line, file, number)
    unknown = sorted(value.keys() - fields.keys())
    if unknown:
        refuse(file, number, f"there is no field '{unknown[0][:40]}'.", "Update Intent Studio.")
    row: dict[str, Any] = {}
    for name, field in fields.items():
        row[name] = value.get(name, field.default)
        if row[name] is _REQUIRED:
            refuse(file, number, f"'{name}' is missing.", f"Give {field.wanted}.")
        if name in value and not field.fits(row[name]):
            refuse(file, number, f"'{name}' does not fit.", f"Give {field.wanted}.")
    return row


def json_object(content: bytes, file: str, number: int) -> dict[str, Any]:
    """Read one JSON object.

    Raises:
        InvalidInput: It is none, or it names a field twice; file and line are named.
    """
    hint = "Correct the line, or take it back with git."
    try:
        value = json.loads(content, object_pairs_hook=_once, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        broken = error.msg if isinstance(error, json.JSONDecodeError) else "it cannot be read"
        refuse(file, number, f"this is no JSON ({broken}).", hint)
    if not isinstance(value, dict):
        refuse(file, number, "this is no JSON object.", hint)
    return value


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({name for name, _ in pairs}) < len(pairs):
        raise ValueError
    return dict(pairs)


def _no_number(_: str) -> NoReturn:
    raise ValueError
