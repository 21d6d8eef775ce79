"""JSONL: one JSON object a line."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

from core.errors import InvalidInput
from core.formats.beside import LANGUAGE, is_beside
from core.formats.decoding import read_lines, unreadable
from core.formats.rows import (
    INTENT_NAMES,
    LANGUAGE_CODE,
    LONGEST_RECORD,
    TEXT_NAMES,
    FilePlace,
    ImportedRow,
    ReadOptions,
    RowProblem,
    accept,
    check_characters,
    is_validation,
    read_split,
    split_intents,
    too_long_cell,
    unreadable_line,
)
from core.templates.slots import Slot, slotted

EXAMPLE = 'Each row is one object such as {"text": "hello", "intent": "greeting"}.'
_SLOT = 'A slot is an object such as {"slot": "city", "start": 9, "end": 15}.'
_KEY = re.compile(r'"([^"\\]{1,80}+)"\s*+:')


def read_jsonl(
    path: Path, encoding: str, options: ReadOptions
) -> Iterator[ImportedRow | RowProblem]:
    """Read `{"text": ..., "intent": ...}` or `"intents": [...]`, optionally with `split` and `id`.

    If the options ask for slots, also `slots`: `[{"slot": "city", "start": 9, "end": 15}]`, `value`
    optional. `synthetic` names the id of its source, `language` a code, and `kept` what an export
    kept beside the text. Blank lines and other keys are skipped.

    Raises:
        InvalidInput: A line is no JSON object or is over `LONGEST_RECORD` characters, or a value is
            missing or of the wrong kind.
    """
    for number, line in enumerate(read_lines(path, encoding), start=1):
        _check_line(path, number, line)
        if line.strip():
            yield row_of_object(path, number, _parse(FilePlace(path, number), line), options)


def _check_line(path: Path, number: int, line: str) -> None:
    if len(line) > LONGEST_RECORD:
        raise too_long_cell(FilePlace(path, number, name=_last_key(line)))
    if fault := unreadable(line):
        place = FilePlace(path, number, name=_last_key(line[: fault[0]]))
        raise unreadable_line(place, fault)


def _last_key(line: str) -> str | None:
    """Guess the key whose value a partial line ends in."""
    return next((match[1] for match in reversed(list(_KEY.finditer(line)))), None)


def _parse(place: FilePlace, line: str) -> dict[str, object]:
    try:
        value = json.loads(line)
    except json.JSONDecodeError as error:
        fault = f"{place}: not JSON ({error.msg}, at character {error.pos + 1})."
        raise InvalidInput(fault, EXAMPLE) from error
    except (ValueError, RecursionError) as error:
        # Numbers of thousands of digits, or deeply nested lists.
        raise InvalidInput(f"{place}: JSON that cannot be read.", EXAMPLE) from error
    if not isinstance(value, dict):
        raise InvalidInput(f"{place}: not a JSON object.", EXAMPLE)
    return value


def row_of_object(
    path: Path, number: int, value: dict[str, object], options: ReadOptions
) -> ImportedRow | RowProblem:
    """Return an object as a row.

    Raises:
        InvalidInput: A value is missing or of the wrong kind.
    """
    wanted = options.text_column
    key = _key(value, (wanted,) if wanted else TEXT_NAMES)
    place = FilePlace(path, number, name=key or wanted or "text")
    text = value[key] if key else None
    if not isinstance(text, str):
        fault = "there is no text" if text is None else f"{str(text)[:40]} is not a text"
        hint = EXAMPLE if wanted is None else f"The keys are: {', '.join(value)[:200]}."
        raise InvalidInput(f"{place}: {fault}.", hint)
    check_characters(place, text)
    if len(text) > options.longest_text:
        return accept(ImportedRow(text, line=number), place, options.longest_text)
    split_key = "split" if options.split_column is None else options.split_column
    split = _plain_value(value, split_key, FilePlace(path, number, name=split_key))
    row = ImportedRow(
        text=text,
        intents=_intents(path, number, value, options),
        split=read_split(split, FilePlace(path, number, name=split_key), options.default_split),
        id=_plain_value(value, "id", FilePlace(path, number, name="id")).strip() or None,
        line=number,
        slots=_slots(path, number, text, value) if options.slots else (),
        synthetic=_synthetic(value, FilePlace(path, number, name="synthetic")),
        language=_language(value),
        kept=_kept(value, FilePlace(path, number, name="kept")),
        validation=is_validation(split),
    )
    return accept(row, place, options.longest_text)


def _intents(
    path: Path, number: int, value: dict[str, object], options: ReadOptions
) -> tuple[str, ...] | None:
    wanted = options.intent_column
    if wanted == "":
        return None
    key = _key(value, (wanted,) if wanted else INTENT_NAMES)
    if key is None:
        return None
    label, place = value[key], FilePlace(path, number, name=key)
    if isinstance(label, list):
        names = [_name(name, place).strip() for name in label]
        return tuple(dict.fromkeys(name for name in names if name))
    return split_intents(_name(label, place), options.separator)


def _name(value: object, place: FilePlace) -> str:
    """Return an intent's name; a number is accepted as a name, null gives ""."""
    if isinstance(value, str):
        check_characters(place, value)
        return value
    if value is None:
        return ""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise InvalidInput(
        f"{place}: neither a name nor a list of names.",
        'Write "intent": "greeting" or "intents": ["greeting", "thanks"].',
    )


def _synthetic(value: dict[str, object], place: FilePlace) -> str:
    source = value.get("synthetic")
    if isinstance(source, bool):
        return "unknown" if source else ""
    return _plain_value(value, "synthetic", place).strip()


def _language(value: dict[str, object]) -> str:
    """Return the code of the language; anything else under that name is skipped."""
    given = value.get("language")
    return given if isinstance(given, str) and LANGUAGE_CODE.fullmatch(given) else ""


def _kept(value: dict[str, object], place: FilePlace) -> str:
    """Return what an export kept beside the text; anything else under that name is skipped."""
    given = value.get("kept")
    if not isinstance(given, dict) or not given:
        return ""
    try:
        kept = json.dumps(given, ensure_ascii=False, sort_keys=True, allow_nan=False)
    except (ValueError, RecursionError):
        return ""
    if not is_beside(kept) or LANGUAGE in given:
        return ""
    check_characters(place, kept)
    return kept


def _slots(path: Path, number: int, text: str, value: dict[str, object]) -> tuple[Slot, ...]:
    place, listed = FilePlace(path, number, name="slots"), value.get("slots") or []
    if not isinstance(listed, list):
        raise InvalidInput(f"{place}: no list of slots.", _SLOT)
    try:
        return slotted(text, [_slot(item, text, place) for item in listed]).slots
    except InvalidInput as error:
        raise InvalidInput(f"{place}: {error.message}", error.hint) from error


def _slot(item: object, text: str, place: FilePlace) -> Slot:
    if isinstance(item, dict):
        name, start, end = (item.get(key) for key in ("slot", "start", "end"))
        if isinstance(name, str) and type(start) is int and type(end) is int:
            check_characters(place, name)
            _check_value(item.get("value"), text[max(0, start) : max(0, end)], name)
            return Slot(start, end, name)
    raise InvalidInput(f"{str(item)[:60]} is no slot.", _SLOT)


def _check_value(value: object, actual: str, name: str) -> None:
    """Refuse a value that differs from the text at the slot's place."""
    if isinstance(value, str) and value != actual:
        raise InvalidInput(
            f"the slot '{name}' is said to hold '{value[:60]}', and '{actual[:60]}' stands there.",
            "Count characters from 0; the end is one past the last.",
        )


def _plain_value(value: dict[str, object], key: str, place: FilePlace) -> str:
    content = value.get(key)
    if content is None:
        return ""
    if isinstance(content, bool) or not isinstance(content, str | int):
        raise InvalidInput(f"{place}: neither a text nor a number.", EXAMPLE)
    check_characters(place, str(content))
    return str(content)


def _key(value: dict[str, object], names: tuple[str, ...]) -> str | None:
    return next((name for name in names if name in value), None)
