"""One JSON object a line."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from core.errors import InvalidInput
from core.formats.decoding import find_encoding, lines
from core.formats.labels import read_split, split_intents
from core.formats.rows import ReadOptions, Row

_TEXT = ("text", "utterance", "sentence", "query")
_INTENT = ("intents", "intent", "labels", "label")


def read_jsonl(path: Path, options: ReadOptions) -> Iterator[Row]:
    """Read `{"text": ..., "intent": ...}` or `"intents": [...]`; other keys are left alone.

    Raises:
        InvalidInput: A line is not a JSON object, or its text is missing or not a text.
    """
    for line, content in enumerate(lines(path, find_encoding(path)), start=1):
        if content.strip():
            yield _row(path, line, _parse(path, line, content), options)


def _parse(path: Path, line: int, content: str) -> dict[str, Any]:
    try:
        value = json.loads(content)
    except ValueError as error:
        raise InvalidInput(
            f"{path}, row {line}, column {getattr(error, 'colno', 1)}: not JSON ({error}).",
            'Each line is one object such as {"text": "hello", "intent": "greeting"}.',
        ) from error
    if not isinstance(value, dict):
        raise InvalidInput(
            f"{path}, row {line}: not a JSON object.",
            'Each line is one object such as {"text": "hello", "intent": "greeting"}.',
        )
    return value


def _row(path: Path, line: int, value: dict[str, Any], options: ReadOptions) -> Row:
    key = _key(value, (options.text_column,) if options.text_column else _TEXT)
    text = value[key] if key else None
    if not isinstance(text, str) or "\0" in text:
        raise InvalidInput(
            f"{path}, row {line}, column '{key or 'text'}': "
            + ("a NUL character." if isinstance(text, str) else "no text."),
            "Name the key of the utterances with --text-column.",
        )
    split = value.get("split")
    return Row(
        line=line,
        text=text,
        intents=_intents(path, line, value, options),
        split=read_split(path, line, str(split)) if split is not None else None,
        id=str(value["id"]) if value.get("id") is not None else None,
    )


def _intents(
    path: Path, line: int, value: dict[str, Any], options: ReadOptions
) -> tuple[str, ...] | None:
    key = _key(value, (options.intent_column,) if options.intent_column else _INTENT)
    label = value[key] if key else None
    if label is None:
        return None
    if isinstance(label, str):
        return split_intents(label, options.separator)
    if isinstance(label, list) and all(isinstance(name, str) for name in label):
        return tuple(dict.fromkeys(name.strip() for name in label if name.strip()))
    raise InvalidInput(
        f"{path}, row {line}, column '{key}': neither a name nor a list of names.",
        'Write "intent": "greeting" or "intents": ["greeting", "thanks"].',
    )


def _key(value: dict[str, Any], names: tuple[str, ...]) -> str | None:
    return next((name for name in names if name in value), None)
