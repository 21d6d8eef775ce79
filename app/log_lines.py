"""What the server and the processes of jobs log: one line an event, as text or as JSON.

A line holds no text of a customer and no token. An error stands there by its type and by the places
in the code that it passed: its message may quote a text.
"""

import json
import logging
import sys
import traceback
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Literal

LogFormat = Literal["text", "json"]
_FACTS = "facts"


def set_up_logs(form: LogFormat | None) -> None:
    """Write the logs of this process on standard error; without a format, faults alone, as text."""
    lines = logging.StreamHandler(sys.stderr)
    lines.setFormatter(JsonLines() if form == "json" else TextLines())
    root = logging.getLogger()
    for earlier in root.handlers[:]:
        root.removeHandler(earlier)
    root.addHandler(lines)
    root.setLevel(logging.WARNING)
    logging.getLogger("app").setLevel(logging.WARNING if form is None else logging.INFO)


def note(logger: logging.Logger, event: str, facts: Mapping[str, object]) -> None:
    """Log an event with its facts, such as "job ended" with the job's id and state."""
    logger.info(event, extra={_FACTS: facts})


def places_of(error: BaseException) -> list[str]:
    """Return the error's type and the places in the code that it passed, the latest last.

    Errors that led to it come before it.
    """
    steps = traceback.extract_tb(error.__traceback__)
    places = [f"{type(error).__name__}", *(f"{s.filename}:{s.lineno} {s.name}" for s in steps)]
    earlier = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return places if earlier is None else [*places_of(earlier), *places]


class TextLines(logging.Formatter):
    """One line for people: time, level, event and facts as `name=value`."""

    def format(self, record: logging.LogRecord) -> str:
        """Write a record; the places of an error follow on indented lines."""
        facts = " ".join(f"{name}={_word(value)}" for name, value in _facts(record).items())
        line = f"{_time(record)} {record.levelname} {_in_one_line(record.getMessage())} {facts}"
        return "\n    ".join([line.rstrip(), *_places(record)])


class JsonLines(logging.Formatter):
    """One JSON object a line, for programs that collect logs."""

    def format(self, record: logging.LogRecord) -> str:
        """Write a record."""
        line: dict[str, Any] = {"at": _time(record), "level": record.levelname.lower()}
        line |= {"event": record.getMessage()} | _facts(record)
        if record.exc_info:
            line["error"] = _places(record)
        return json.dumps(line, ensure_ascii=False, default=str)


def _time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")


def _facts(record: logging.LogRecord) -> dict[str, object]:
    facts: dict[str, object] = getattr(record, _FACTS, {})
    return facts


def _places(record: logging.LogRecord) -> list[str]:
    error = record.exc_info[1] if record.exc_info else None
    return [] if error is None else places_of(error)


def _word(value: object) -> str:
    """Write a value so that a line stays one line, and can be taken apart at its spaces.

    Control signs, which a terminal would obey, stand there by their numbers.
    """
    words = str(value)
    if words and words.isprintable() and not set(words) & set(' "='):
        return words
    return _in_one_line(json.dumps(words, ensure_ascii=False))


def _in_one_line(words: str) -> str:
    return "".join(sign if sign.isprintable() else json.dumps(sign)[1:-1] for sign in words)
