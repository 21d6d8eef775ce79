"""The values of a project's slots, and how often each was marked."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from core.templates.slots import SlottedText


@dataclass(frozen=True, slots=True)
class SlotBook:
    """Each slot's values with their counts, the most frequent first, then alphabetically."""

    values: Mapping[str, tuple[tuple[str, int], ...]]
    synonyms: Mapping[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)
    """Other words for a value, by slot and value; values that no text marks have a count of 0."""

    def top(self, name: str, k: int) -> tuple[str, ...]:
        """Return at most k of the most frequent values of a slot."""
        return tuple(value for value, _ in self.values.get(name, ())[:k])


def slot_book(utterances: Iterable[SlottedText]) -> SlotBook:
    """Count the values of each slot, ignoring case and outer white space.

    Each value keeps the spelling of its first occurrence.
    """
    counts: dict[str, Counter[str]] = {}
    written: dict[tuple[str, str], str] = {}
    for utterance in utterances:
        for slot in utterance.slots:
            value = utterance.value(slot).strip()
            key = value.casefold()
            counts.setdefault(slot.name, Counter())[key] += 1
            written.setdefault((slot.name, key), value)
    return SlotBook(
        {
            name: tuple(
                (written[name, key], count)
                for key, count in sorted(values.items(), key=lambda item: (-item[1], item[0]))
            )
            for name, values in sorted(counts.items())
        }
    )


def with_known(book: SlotBook, known: Mapping[str, Mapping[str, tuple[str, ...]]]) -> SlotBook:
    """Add values that a list names, with their synonyms, behind those that texts mark."""
    values = dict(book.values)
    synonyms: dict[tuple[str, str], tuple[str, ...]] = {}
    for name, listed in known.items():
        spelled = {value.casefold(): value for value, _ in values.get(name, ())}
        new = sorted(value for value in listed if value.casefold() not in spelled)
        values[name] = (*values.get(name, ()), *((value, 0) for value in new))
        for value, said in listed.items():
            if said:
                synonyms[name, spelled.get(value.casefold(), value)] = tuple(said)
    return replace(book, values=dict(sorted(values.items())), synonyms=synonyms)
