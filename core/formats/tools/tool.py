"""A file that another tool wrote: what it is, its rows, and what of it has no place here."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias

from core.errors import InvalidInput
from core.formats.beside import kept_json
from core.formats.rows import (
    LANGUAGE_CODE,
    FilePlace,
    ImportedRow,
    ReadOptions,
    RowProblem,
    Tool,
    accept,
    check_characters,
)
from core.platforms.agent import Loss
from core.platforms.gathering import Losses, fitting_slots
from core.platforms.packages import Package
from core.templates.slots import Slot

Rows: TypeAlias = Iterator[ImportedRow | RowProblem]
Record: TypeAlias = dict[str, Any]

_AGAIN = "Export it again from the tool, and leave it as it is."


@dataclass(frozen=True, slots=True)
class About:
    """What a record says beside text, label and marks; `fields` are kept beside the text."""

    id: object = None
    language: str = ""
    fields: Record = field(default_factory=dict)

    @property
    def key(self) -> str | None:
        """The id, if it is a text or a whole number."""
        usable = isinstance(self.id, str | int) and not isinstance(self.id, bool)
        return str(self.id) if usable else None


@dataclass(slots=True, eq=False)
class ToolReading:
    """One pass over a tool's files.

    Attributes:
        files: Number of phrases by file, as far as they were read.
        losses: What was met that has no place in the studio.
        values: Values with their synonyms, by slot.
    """

    package: Package
    options: ReadOptions
    format: Tool
    files: dict[str, int] = field(default_factory=dict)
    losses: Losses = field(default_factory=Losses)
    values: dict[str, dict[str, tuple[str, ...]]] = field(default_factory=dict)

    def beside(self, record: Record, known: AbstractSet[str]) -> Record:
        """Return the fields of a record that are not read, to be kept beside its text."""
        return {
            key: record[key]
            for key in record.keys() - known
            if record[key] not in (None, [], {}, "")
        }

    def lose_fields(self, record: Record, known: AbstractSet[str]) -> None:
        """Count the fields of a record that are not read."""
        for key in record.keys() - known:
            if record[key] not in (None, [], {}, ""):
                self.losses.add(f"“{key}”")

    def row(
        self,
        place: FilePlace,
        text: object,
        intents: Sequence[str] | None,
        *,
        slots: Iterable[Slot] = (),
        about: About | None = None,
    ) -> ImportedRow | RowProblem:
        """Return a phrase as a row; marks that do not fit are told of.

        Raises:
            InvalidInput: There is no text, or it has characters that no text can hold.
        """
        if not isinstance(text, str):
            raise fault(place, "there is no text")
        name = str(place.path)
        self.files[name] = self.files.get(name, 0) + 1
        if len(text) > self.options.longest_text:
            return accept(ImportedRow(text, line=place.row), place, self.options.longest_text)
        about = about or About()
        marks = fitting_slots(text, slots, self.losses)
        for written in (text, *(intents or ()), *(slot.name for slot in marks)):
            check_characters(place, written)
        check_characters(replace(place, name="id"), about.key or "")
        names = tuple(dict.fromkeys(filter(None, intents or ())))
        row = ImportedRow(
            text=text,
            intents=None if intents is None or (intents and not names) else names,
            split=self.options.default_split,
            id=about.key,
            line=place.row,
            slots=marks if self.options.slots else (),
            language=about.language if LANGUAGE_CODE.fullmatch(about.language) else "",
            kept=self._kept(about.fields),
        )
        return accept(row, place, self.options.longest_text)

    def _kept(self, fields: Record) -> str:
        kept = kept_json(self.format, fields)
        if kept is None:
            self.losses.add("fields too long to keep beside their text")
        return kept or ""


@dataclass(slots=True, eq=False)
class ToolFile:
    """A tool's file, folder or zip; `files` and `losses` are those of the last pass over it."""

    platform: Tool
    package: Package = field(repr=False)
    read: Callable[[ToolReading], Rows] = field(repr=False)
    _last: ToolReading | None = None

    def rows(self, options: ReadOptions) -> Rows:
        """Read the file from the first row on.

        Raises:
            InvalidInput: The file or one of its rows cannot be read; the file is named.
        """
        self._last = ToolReading(self.package, options, self.platform)
        return self.read(self._last)

    @property
    def files(self) -> Mapping[str, int]:
        """Number of phrases by file."""
        return {} if self._last is None else self._last.files

    @property
    def slot_values(self) -> Mapping[str, Mapping[str, tuple[str, ...]]]:
        """Values with their synonyms by slot, as far as they were read."""
        return {} if self._last is None else self._last.values

    @property
    def losses(self) -> Sequence[Loss]:
        """What the studio has no place for."""
        return () if self._last is None else self._last.losses.told()


def fault(place: FilePlace, words: str, hint: str = _AGAIN) -> InvalidInput:
    """Return the error for a record that is not what its tool writes."""
    return InvalidInput(f"{place}: {words}.", hint)


def listed(place: FilePlace, record: Record, key: str) -> list[Any]:
    """Return the list under a key; empty where there is none.

    Raises:
        InvalidInput: Something else stands there.
    """
    value = record.get(key)
    if value is None:
        return []
    if not isinstance(value, list):
        raise fault(replace(place, name=key), f"{str(value)[:40]!r} is no list")
    return value


def most_say(
    reading: ToolReading, votes: Sequence[tuple[str, ...]], text: str
) -> tuple[str, ...] | None:
    """Return the label that most people give a text; None if none does, or as many say another."""
    if len(votes) == 1:
        return votes[0]
    counts = Counter(frozenset(vote) for vote in votes).most_common(2)
    if len(counts) > 1:
        reading.losses.add("labels of people who disagree", text, len(votes) - counts[0][1])
    if not counts or (len(counts) > 1 and counts[0][1] == counts[1][1]):
        return None
    return next(vote for vote in votes if frozenset(vote) == counts[0][0])


def names_in(place: FilePlace, values: Iterable[object]) -> tuple[str, ...]:
    """Return the names of a list.

    Raises:
        InvalidInput: One of them is no text and no whole number.
    """
    return tuple(name_of(place, value) for value in values)


def name_of(place: FilePlace, value: object) -> str:
    """Return a label's name; a whole number is one.

    Raises:
        InvalidInput: It is neither.
    """
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise fault(place, f"{str(value)[:40]!r} is no name of a label")


def mark_of(place: FilePlace, start: object, end: object, name: object) -> Slot:
    """Return a marked value.

    Raises:
        InvalidInput: Start and end are no whole numbers, or the name is none.
    """
    if type(start) is not int or type(end) is not int:
        raise fault(place, "a mark has no whole numbers for its start and end")
    return Slot(start, end, name_of(place, name))


def place_in(name: str, number: int) -> FilePlace:
    """Return a place in a file of a package."""
    return FilePlace(_path(name), number)


_path = lru_cache(maxsize=1_024)(Path)
