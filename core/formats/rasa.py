"""Rasa's NLU training data, in YAML and in the older Markdown: intents with examples."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.errors import InvalidInput
from core.formats.decoding import read_lines, unreadable
from core.formats.rows import (
    LONGEST_CELL,
    FilePlace,
    ImportedRow,
    ReadOptions,
    RowProblem,
    accept,
    check_characters,
    split_intents,
    too_long_cell,
)
from core.templates.slots import Slot, slotted

_EXAMPLE = 'An example is a line such as "- fly to [Boston](city)" below "- intent: flight".'
_HEADING = re.compile(r"(?:##\s*|-\s+)(intent|synonym|lookup|regex)\s*:\s*(.*)")
_TOP = re.compile(r"\A\w+\s*:")
_EXAMPLES = re.compile(r"examples\s*:\s*([|>]?)[-+]?")
_BULLET = re.compile(r"[-*+]\s+(.*)")
_ENTITY = re.compile(r"\[([^\[\]]+)\](?:\(([^()]+)\)|(\{[^{}]*\}))")
_PLAIN_NAME = re.compile(r"[\w./+-]+")
_PLAIN_ENTITY = re.compile(r"[^()\[\]:]+")


@dataclass(slots=True)
class _ExampleReader:
    """The reader's state.

    Attributes:
        intent: Intent of the current examples; None in other parts of the file.
        literal: Whether each line of a block is an example, or a mapping with a text.
        waiting: Whether the next line is the example announced by `text: |`.
    """

    intent: str | None = None
    literal: bool = True
    waiting: bool = False

    def example(self, line: str) -> str | None:
        """Return the example on a line; headings change the state and give None.

        Raises:
            ValueError: The line is neither example nor heading.
        """
        bare = line.strip()
        if self.waiting and bare:
            self.waiting = False
            return bare
        if self._is_heading(line, bare) or self.intent is None:
            return None
        bullet = _BULLET.fullmatch(bare)
        if self.literal and bullet is not None:
            return bullet[1]
        if self.literal:
            raise ValueError(bare)
        return self._of_mapping(bullet[1] if bullet else bare)

    def _is_heading(self, line: str, bare: str) -> bool:
        if match := _HEADING.fullmatch(bare):
            self.intent = _unquoted(match[2]) if match[1] == "intent" else None
            self.literal = True
            return True
        if match := _EXAMPLES.fullmatch(bare):
            self.literal = bool(match[1])
            return True
        if bare.startswith("##") or _TOP.match(line):
            self.intent = None
            return True
        return not bare or bare.startswith(("#", "<!--"))

    def _of_mapping(self, line: str) -> str | None:
        key, _, value = line.partition(":")
        if key.strip() != "text":
            return None
        self.waiting = value.strip() in ("|", "|-", ">", ">-")
        return None if self.waiting else _unquoted(value.strip())


def read_rasa(
    path: Path, encoding: str, options: ReadOptions
) -> Iterator[ImportedRow | RowProblem]:
    """Read the examples of intents; look-up tables, synonyms, rules and stories are skipped.

    `[Boston](city)` and `[Boston]{"entity": "city"}` mark values; a role is appended to the
    entity's name, as in `city.from`.

    Raises:
        InvalidInput: A line cannot be read, or no intent has an example.
    """
    reading, has_example = _ExampleReader(), False
    for number, line in enumerate(read_lines(path, encoding), start=1):
        place = FilePlace(path, number)
        if len(line) > LONGEST_CELL:
            raise too_long_cell(place)
        if fault := unreadable(line):
            raise InvalidInput(f"{place}: {fault[1]}, at character {fault[0] + 1}.", fault[2])
        try:
            example = reading.example(line)
        except ValueError as error:
            raise InvalidInput(f"{place}: '{str(error)[:60]}' is no example.", _EXAMPLE) from error
        if example is not None:
            has_example = True
            yield _row(example, reading.intent or "", place, options)
    if not has_example:
        raise InvalidInput(f"{path}: no intent has an example.", _EXAMPLE)


def _row(
    example: str, intent: str, place: FilePlace, options: ReadOptions
) -> ImportedRow | RowProblem:
    text, slots, at = "", list[Slot](), 0
    for match in _ENTITY.finditer(example):
        text += example[at : match.start()]
        slots.append(Slot(len(text), len(text) + len(match[1]), _entity(match, place)))
        text += match[1]
        at = match.end()
    text += example[at:]
    for written in (text, intent, *(slot.name for slot in slots)):
        check_characters(place, written)
    row = ImportedRow(
        text=text,
        intents=split_intents(intent, options.separator),
        split=options.default_split,
        line=place.row,
        slots=_fitting(text, slots, place) if options.slots else (),
    )
    return accept(row, place, options.longest_text)


def _fitting(text: str, slots: Sequence[Slot], place: FilePlace) -> tuple[Slot, ...]:
    try:
        return slotted(text, slots).slots
    except InvalidInput as error:
        raise InvalidInput(f"{place}: {error.message}", error.hint) from error


def _entity(match: re.Match[str], place: FilePlace) -> str:
    if match[2]:
        return match[2].partition(":")[0].strip()
    try:
        value = json.loads(match[3])
        name, role = value["entity"], value.get("role", "")
    except (ValueError, KeyError, RecursionError) as error:
        fault = f"{place}: {match[0][:60]!r} does not say which entity it is."
        raise InvalidInput(fault, 'Write [Boston](city), or [Boston]{"entity": "city"}.') from error
    return f"{name}.{role}" if role else str(name)


def _unquoted(name: str) -> str:
    name = name.strip()
    if name.startswith('"'):
        try:
            return str(json.loads(name))
        except ValueError:
            return name.strip('"')
    return name[1:-1] if len(name) > 1 and name[0] == name[-1] == "'" else name


def rasa_lines(rows: Iterable[tuple[str, ImportedRow]]) -> Iterator[str]:
    """Write (label, row) pairs as Rasa's YAML, grouped by label.

    Raises:
        InvalidInput: A text has brackets that Rasa would read as a marked value.
    """
    by_intent: dict[str, list[ImportedRow]] = {}
    for label, row in rows:
        by_intent.setdefault(label, []).append(row)
    yield 'version: "3.1"\nnlu:\n'
    for label, examples in by_intent.items():
        shown = label if _PLAIN_NAME.fullmatch(label) else json.dumps(label, ensure_ascii=False)
        yield f"- intent: {shown}\n  examples: |\n"
        for row in examples:
            yield f"    - {_marked(row)}\n"


def _marked(row: ImportedRow) -> str:
    text, parts, at = re.sub(r"[\r\n]", " ", row.text), list[str](), 0
    for slot in row.slots:
        value, name = text[slot.start : slot.end], slot.name
        plain = _PLAIN_ENTITY.fullmatch(name) and name == name.strip()
        said = json.dumps({"entity": name}, ensure_ascii=False)
        parts += [text[at : slot.start], f"[{value}]({name})" if plain else f"[{value}]{said}"]
        at = slot.end
    parts.append(text[at:])
    marked = "".join(parts)
    values = [found[1] for found in _ENTITY.finditer(marked)]
    if values != [text[slot.start : slot.end] for slot in row.slots]:
        raise InvalidInput(
            f"'{text[:60]}' has brackets that Rasa reads as a marked value.",
            "Reword it, or choose the format JSONL.",
        )
    return marked
