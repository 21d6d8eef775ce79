"""Rasa's NLU training data, in YAML and in the older Markdown: intents with examples."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from core.errors import InvalidInput
from core.formats.beside import kept_fields, kept_json
from core.formats.decoding import read_lines, unreadable
from core.formats.rows import (
    LONGEST_CELL,
    FilePlace,
    ImportedRow,
    ReadOptions,
    RowProblem,
    accept,
    check_characters,
    parts_of,
    split_intents,
    too_long_cell,
    unreadable_line,
)
from core.platforms.readers.rasa_extras import extras_of
from core.platforms.readers.rasa_yaml import (
    RASA_EXAMPLE,
    RasaScanner,
    marked_example,
    unmarked,
    yaml_name,
)
from core.templates.slots import Slot, slotted


def read_rasa(
    path: Path, encoding: str, options: ReadOptions, scanner: RasaScanner | None = None
) -> Iterator[ImportedRow | RowProblem]:
    """Read the examples of intents; the scanner keeps lookups and synonyms, and counts the rest.

    `[Boston](city)` and `[Boston]{"entity": "city"}` mark values; a role is appended to the
    entity's name, as in `city.from`.

    Raises:
        InvalidInput: A line cannot be read, or no intent has an example.
    """
    reading, has_example = scanner or RasaScanner(), False
    known = _intents(path, encoding) if options.several else frozenset()
    for number, line in reading.whole(_lines(path, encoding)):
        place = FilePlace(path, number)
        try:
            example = reading.example(line)
        except ValueError as error:
            raise InvalidInput(
                f"{place}: '{str(error)[:60]}' is no example.", RASA_EXAMPLE
            ) from error
        if example is not None:
            has_example = True
            text, slots, extras = unmarked(example, place)
            intent = reading.intent or ""
            joined = parts_of(intent, known)
            intents = joined if len(joined) > 1 else split_intents(intent, options.separator)
            row = _row(text, slots, intents, place, options)
            kept = kept_json("rasa", {"entities": extras}) if extras else ""
            yield replace(row, kept=kept or "") if isinstance(row, ImportedRow) else row
    if not has_example:
        raise InvalidInput(f"{path}: no intent has an example.", RASA_EXAMPLE)


def _lines(path: Path, encoding: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a file with their numbers."""
    for number, line in enumerate(read_lines(path, encoding), start=1):
        place = FilePlace(path, number)
        if len(line) > LONGEST_CELL:
            raise too_long_cell(place)
        if fault := unreadable(line):
            raise unreadable_line(place, fault)
        yield number, line


def _intents(path: Path, encoding: str) -> frozenset[str]:
    """Return the names of all intents of a file."""
    reading, names = RasaScanner(), set[str]()
    for _, line in reading.whole(_lines(path, encoding)):
        with suppress(ValueError):  # told when the line is read
            reading.example(line)
        names.add(reading.intent or "")
    return frozenset(names)


def _row(
    text: str,
    slots: Sequence[Slot],
    intents: tuple[str, ...] | None,
    place: FilePlace,
    options: ReadOptions,
) -> ImportedRow | RowProblem:
    for written in (text, *(intents or ()), *(slot.name for slot in slots)):
        check_characters(place, written)
    row = ImportedRow(
        text=text,
        intents=intents,
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


def rasa_lines(rows: Iterable[tuple[str, ImportedRow]]) -> Iterator[str]:
    """Write (label, row) pairs as Rasa's YAML, grouped by label.

    Raises:
        InvalidInput: A text has brackets that Rasa would read as a marked value, or control signs.
    """
    by_intent: dict[str, list[ImportedRow]] = {}
    for label, row in rows:
        by_intent.setdefault(label, []).append(row)
    yield 'version: "3.1"\nnlu:\n'
    for label, examples in by_intent.items():
        yield f"- intent: {yaml_name(label)}\n  examples: |\n"
        for row in examples:
            roles = {slot.name for slot in row.slots if slot.name.partition(".")[2]}
            extras = extras_of(kept_fields(row, "rasa"))
            yield f"    - {marked_example(row.text, row.slots, roles, extras)}\n"
