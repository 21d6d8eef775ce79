"""LUIS's text form `.lu`: intents as headings, phrases as bullets, values in braces.

Facts: Microsoft's "Language Understanding file format". `{@city=Boston}` marks a value and
`{@city}` alone makes a pattern; `{@city:to=Boston}` gives a role. `None` is out of scope.
"""

import io
import re
from collections.abc import Iterator

from core.formats.rows import LONGEST_CELL, FilePlace, too_long_cell
from core.formats.tools.json_items import not_utf8
from core.formats.tools.tool import Rows, ToolReading, fault, place_in
from core.platforms.packages import Package
from core.platforms.readers.flat import NONE
from core.templates.slots import Slot

ENDING = ".lu"
_HEADING = re.compile(r"#+\s*(.*)")
_BULLET = re.compile(r"[-*+]\s*(.*)")
_OPENS = re.compile(r"\{\s*@?\s*([^{}=:@]+?)\s*(?::\s*([^{}=:]+?)\s*)?=\s*")
_FENCE = chr(96) * 3  # three backticks
_SAMPLE = 64 << 10
_HINT = "A phrase is a line such as “- fly to {@city=Boston}” below “# BookFlight”."


def is_lu(package: Package, name: str) -> bool:
    """Whether the first two lines that say something are a heading and a bullet or an entity."""
    with package.stream(name) as stream:
        start = stream.read(_SAMPLE).decode("utf-8-sig", errors="replace")
    said = [line.strip() for line in start.splitlines()]
    said = [line for line in said if line and not line.startswith(">")][:2]
    return len(said) == 2 and said[0].startswith("#") and said[1][0] in "-*+@"


def read_lu(reading: ToolReading, name: str) -> Rows:
    """Read the phrases of a file.

    Raises:
        InvalidInput: A line cannot be read, or the file is not UTF-8.
    """
    reading.files.setdefault(name, 0)
    intent = ""  # of the current section; other sections have none
    for place, bare in _lines(reading.package, name):
        if (heading := _HEADING.fullmatch(bare)) is not None:
            intent = _intent(reading, heading[1].strip())
        elif bare[0] in "@$[":
            intent = "" if bare[0] != "[" else intent
            _lose(reading, bare)
        elif intent:
            yield from _phrase(reading, place, intent, bare)


def _lines(package: Package, name: str) -> Iterator[tuple[FilePlace, str]]:
    """Yield the lines that are neither blank nor comments nor a long answer."""
    is_answer, number = False, 0
    with package.stream(name) as raw, io.TextIOWrapper(raw, "utf-8-sig", newline=None) as lines:
        try:
            while line := lines.readline(LONGEST_CELL + 1):
                number += 1
                if len(line) > LONGEST_CELL:
                    raise too_long_cell(place_in(name, number))
                bare = line.strip()
                is_answer ^= bare.startswith(_FENCE)
                if bare and not is_answer and not bare.startswith((">", _FENCE)):
                    yield place_in(name, number), bare
        except UnicodeDecodeError as error:
            raise not_utf8(name, error) from error


def _intent(reading: ToolReading, title: str) -> str:
    """Return the intent of a heading; a question that has an answer is none."""
    if title.startswith("?"):
        reading.losses.add("questions with answers", title[1:].strip()[:200])
        return ""
    return title


def _lose(reading: ToolReading, line: str) -> None:
    what = "references to other files" if line[0] == "[" else "declared entities"
    reading.losses.add(what, line[:200])


def _phrase(reading: ToolReading, place: FilePlace, intent: str, bare: str) -> Rows:
    bullet = _BULLET.fullmatch(bare)
    if bullet is None:
        raise fault(place, f"'{bare[:60]}' is no phrase", _HINT)
    if re.match(r"\[[^\[\]]*\]\([^()]*\)\Z", bullet[1]):
        _lose(reading, bullet[1])
        return
    marked = _marked(reading, place, bullet[1])
    if marked is None:
        reading.losses.add("patterns", bullet[1][:200])
        return
    text, slots = marked
    yield reading.row(place, text, () if intent == NONE else (intent,), slots=slots)


def _marked(reading: ToolReading, place: FilePlace, line: str) -> tuple[str, list[Slot]] | None:
    """Return a phrase without braces, and what they mark; None for a pattern."""
    text, slots, opened, at = list[str](), list[Slot](), list[tuple[int, str]](), 0
    while at < len(line):
        sign = line[at]
        if sign == "\\" and line[at + 1 : at + 2] in tuple("{}[]()\\@|"):
            text.append(line[at + 1])
            at += 2
        elif sign == "{":
            if (match := _OPENS.match(line, at)) is None:
                return None
            opened.append((len(text), f"{match[1]}.{match[2]}" if match[2] else match[1]))
            at = match.end()
        elif sign == "}" and opened:
            start, name = opened.pop()
            if opened:
                reading.losses.add("parts inside a marked value", line[:200])
            else:
                slots.append(Slot(start, len(text), name))
            at += 1
        else:
            text.append(sign)
            at += 1
    if opened:
        raise fault(place, "a brace is opened and never closed", _HINT)
    return "".join(text), slots
