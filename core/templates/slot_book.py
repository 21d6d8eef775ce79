"""The values of a project's slots, and how often each was marked."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from core.templates.slots import SlottedText


@dataclass(frozen=True, slots=True)
class SlotBook:
    """Each slot's values with their counts, the most frequent first, then alphabetically."""

    values: Mapping[str, tuple[tuple[str, int], ...]]

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
