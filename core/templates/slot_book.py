"""The values that a project's slots were seen with, and how often."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from core.templates.slots import SlottedText


@dataclass(frozen=True, slots=True)
class SlotBook:
    """Each slot's values with their counts, the most frequent first, then by the alphabet."""

    values: Mapping[str, tuple[tuple[str, int], ...]]

    def top(self, name: str, k: int) -> tuple[str, ...]:
        """Return the k most frequent values of a slot; fewer where there are fewer."""
        return tuple(value for value, _ in self.values.get(name, ())[:k])


def slot_book(utterances: Iterable[SlottedText]) -> SlotBook:
    """Count the values of each slot; case and outer white space make no other value.

    A value is written as it was met first.
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
