"""What the readers of all platforms have in common: files are parsed once, phrases are gathered."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.errors import InvalidInput
from core.platforms.agent import Agent, Home, Loss, Phrase, Platform
from core.platforms.json_places import Node
from core.platforms.packages import Package
from core.templates.slots import Slot, SlottedText, slotted
from core.text import counted, is_blank, is_storable

_NAMED = 5
"""Examples that a loss names."""
_MOST_KINDS = 100
_BROKEN = "with a NUL or half of a character"


@dataclass(slots=True, eq=False)
class Losses:
    """Counts what has no place in the studio, and names some of each kind."""

    _counts: dict[str, int] = field(default_factory=dict)
    _named: dict[str, dict[str, None]] = field(default_factory=dict)
    _more: Counter[str] = field(default_factory=Counter)

    def add(self, what: str, example: str = "", count: int = 1, most: int = _NAMED) -> None:
        """Count something, and name it among the first `most` examples.

        Beyond a hundred kinds all others are one.
        """
        if what not in self._counts and len(self._counts) == _MOST_KINDS:
            what = "other things"
        self._counts[what] = self._counts.get(what, 0) + count
        named = self._named.setdefault(what, {})
        if example and len(named) < most:
            named[example] = None
        elif example and example not in named:
            self._more[what] += 1

    def told(self) -> tuple[Loss, ...]:
        """Return what was counted, in the order of its first occurrence."""
        counts = self._counts.items()
        return tuple(
            Loss(what, n, tuple(self._named[what]), self._more[what]) for what, n in counts
        )


def fitting_slots(text: str, slots: Iterable[Slot], losses: Losses) -> tuple[Slot, ...]:
    """Return the marks of a text that the studio can hold; others are told of."""
    kept: list[Slot] = []
    for slot in sorted(slots):
        is_free = not kept or kept[-1].end <= slot.start
        if is_free and _is_usable(text, slot):
            kept.append(slot)
        else:
            losses.add("marks that overlap another, hold no words or have no plain name", text)
    return tuple(kept)


def _is_usable(text: str, slot: Slot) -> bool:
    try:
        slotted(text, [slot])
    except InvalidInput:
        return False
    return True


def storable_values(
    values: Mapping[str, Mapping[str, Sequence[str]]],
) -> tuple[dict[str, dict[str, tuple[str, ...]]], tuple[Loss, ...]]:
    """Return the values with their synonyms by slot that a database keeps, and what is left out."""
    kept: dict[str, dict[str, tuple[str, ...]]] = {}
    losses = Losses()
    for slot, known in values.items():
        if not is_storable(slot):
            losses.add(f"values of an entity {_BROKEN} in its name", slot, len(known))
            continue
        kept[slot] = {}
        for value, said in known.items():
            for word in (value, *said):
                if not is_storable(word):
                    losses.add(f"values and synonyms {_BROKEN}", word)
            if is_storable(value):
                kept[slot][value] = tuple(filter(is_storable, said))
    return kept, losses.told()


@dataclass(slots=True, eq=False)
class MarkedWords:
    """What the texts of Rasa mark: the slot by lower-case words, and values by entity.

    A value that a mark names has the marked words as its synonyms.
    """

    slots: dict[str, str] = field(default_factory=dict)
    values: dict[str, dict[str, tuple[str, ...]]] = field(default_factory=dict)

    def add(self, said: SlottedText, marks: Iterable[Mapping[str, Any]]) -> None:
        """Take in a text with its slots, and what the file says besides of some of its marks."""
        marked = {(slot.name, said.value(slot)) for slot in said.slots}
        for mark in marks:
            name, words, value = mark["name"], mark["said"], mark.get("value")
            value = str(value) if type(value) is int else value
            if (name, words) in marked and isinstance(value, str) and value not in ("", words):
                self.slots.setdefault(value.casefold(), name)
                entity = name.partition(".")[0]
                _add_synonyms(self.values.setdefault(entity, {}), value, [words])
        self.slots |= {said.value(slot).casefold(): slot.name for slot in said.slots}


def lookup_values(
    marked: MarkedWords,
    lookups: Mapping[str, Sequence[str]],
    synonyms: Mapping[str, Sequence[str]],
    losses: Losses,
) -> dict[str, dict[str, tuple[str, ...]]]:
    """Return Rasa's values by entity; synonyms go to the entity of one of their words."""
    entities = {said: slot.partition(".")[0] for said, slot in marked.slots.items()}
    found: dict[str, dict[str, tuple[str, ...]]] = {}
    for entity, values in lookups.items():
        found[entity] = dict.fromkeys(values, ())
        entities.update((value.casefold(), entity) for value in values)
    for value, said in synonyms.items():
        names = (entities.get(one.casefold()) for one in (value, *said))
        entity = next(filter(None, names), "")
        if not entity:
            losses.add("synonyms of a value that no text marks", value)
            continue
        _add_synonyms(found.setdefault(entity, {}), value, said)
    for entity, by_value in marked.values.items():
        for value, said in by_value.items():
            _add_synonyms(found.setdefault(entity, {}), value, said)
    return found


def _add_synonyms(known: dict[str, tuple[str, ...]], value: str, said: Iterable[str]) -> None:
    known[value] = tuple(dict.fromkeys((*known.get(value, ()), *said)))


@dataclass(slots=True, eq=False)
class Gathering:
    """An agent that is being read."""

    platform: Platform
    package: Package
    phrases: list[Phrase] = field(default_factory=list)
    intents: dict[str, str] = field(default_factory=dict)
    homes: dict[tuple[str, str], Home] = field(default_factory=dict)
    files: dict[str, int] = field(default_factory=dict)
    declared: dict[str, frozenset[str]] = field(default_factory=dict)
    values: dict[str, dict[str, tuple[str, ...]]] = field(default_factory=dict)
    marks: dict[str, str] = field(default_factory=dict)
    documents: dict[str, str] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    losses: Losses = field(default_factory=Losses)

    def parse(self, name: str) -> Node:
        """Parse a file of the package."""
        self.documents[name] = self.package.text(name)
        self.files.setdefault(name, 0)
        return self.package.document(name)

    def add(self, phrase: Phrase) -> None:
        """Keep a phrase; one without words is told of, and stays in the package."""
        if is_blank(phrase.text):
            self.lose("phrases without words", phrase.file)
            return
        self.phrases.append(phrase)
        self.files[phrase.file] += 1

    def add_values(self, kind: str, entries: Iterable[Node]) -> None:
        """Keep the values of a Dialogflow entity, of which each stands among its own synonyms.

        Each language has a file of them: the synonyms of a value are those of all.
        """
        known = self.values.setdefault(kind, {})
        for one in entries:
            value = one.text("value")
            _add_synonyms(known, value, (word for word in one.strings("synonyms") if word != value))

    def add_lookups(
        self, lookups: Mapping[str, Sequence[str]], synonyms: Mapping[str, Sequence[str]]
    ) -> None:
        """Keep Rasa's lookups and synonyms; a mark's words are one of the value that it names."""
        marked = MarkedWords()
        for phrase in self.phrases:
            marks = (phrase.fields or {}).get("entities", ())
            marked.add(SlottedText(phrase.text, phrase.slots), marks)
        self.values |= lookup_values(marked, lookups, synonyms, self.losses)

    def fitting(self, text: str, slots: Iterable[Slot]) -> tuple[Slot, ...]:
        """Return the marks of a text that the studio can hold; others are told of."""
        kept = fitting_slots(text, slots, self.losses)
        for slot in kept:
            self.marks.setdefault(slot.name, "")
        return kept

    def lose(self, what: str, example: str = "") -> None:
        """Count something that has no place in the studio."""
        self.losses.add(what, example)

    def agent(self) -> Agent:
        """Return what was read.

        Raises:
            InvalidInput: The package holds no phrase.
        """
        if not self.phrases:
            raise self._nothing()
        return Agent(
            self.platform,
            self.package,
            self.phrases,
            self.intents,
            self.homes,
            self.files,
            self.declared,
            self.values,
            self.marks,
            self.losses.told(),
            self.documents,
            self.kinds,
        )

    def _nothing(self) -> InvalidInput:
        """Return the error for a package without a phrase, with what it holds instead."""
        name, told = self.package.path.name, self.losses.told()
        what = [f"{one.what} ({one.count:,})" for one in told]
        what += [f"{counted(len(self.intents), 'intent')} without phrases"] * bool(self.intents)
        holds = f": it holds {', '.join(what)}" if what else ""
        return InvalidInput(f"{name} has no phrase{holds}.", "Export it with its training phrases.")
