"""More utterances from templates and the values of a slot book (TaDSE Section 3.1)."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from core.templates.slot_book import SlotBook
from core.templates.slots import SlottedText, filled


@dataclass(frozen=True, slots=True)
class Augmentation:
    """How far to go.

    Attributes:
        top: Values of each slot, the most frequent ones (the paper has 2 to 5).
        per_template: Most new utterances of one utterance's template.
        most: Most new utterances in all.
        seed: Which of them, where there are more.
    """

    top: int = 5
    per_template: int = 20
    most: int = 50_000
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Synthetic:
    """An utterance that nobody said.

    Attributes:
        utterance: Text and slots.
        source: Row of the utterance whose template it is.
    """

    utterance: SlottedText
    source: int


def augment(
    utterances: Sequence[SlottedText], book: SlotBook, how: Augmentation | None = None
) -> list[Synthetic]:
    """Fill the templates of utterances with frequent values.

    No text comes twice, and none that is among the utterances. Where all combinations are too
    many, some are drawn; each template gets its share before one gets a second helping.
    """
    how = how or Augmentation()
    seen = {utterance.text.casefold() for utterance in utterances}
    rows = [row for row, utterance in enumerate(utterances) if utterance.slots]
    streams = {row: _fillings(utterances[row], book, how, row) for row in rows}
    found: list[Synthetic] = []
    taken = dict.fromkeys(rows, 0)
    while streams and len(found) < how.most:
        for row in list(streams):
            new = next((u for u in streams[row] if u.text.casefold() not in seen), None)
            if new is None or len(found) >= how.most:
                del streams[row]
                continue
            seen.add(new.text.casefold())
            found.append(Synthetic(new, row))
            taken[row] += 1
            if taken[row] == how.per_template:
                del streams[row]
    return sorted(found, key=lambda one: one.source)


def _fillings(
    utterance: SlottedText, book: SlotBook, how: Augmentation, row: int
) -> Iterator[SlottedText]:
    """Yield fillings in an order drawn by chance, each once."""
    choices = [book.top(slot.name, how.top) for slot in utterance.slots]
    count = prod(len(values) for values in choices)
    generator = np.random.default_rng([how.seed, row])
    for number in _drawn(count, generator):
        picked = []
        for values in choices:
            number, at = divmod(number, len(values))
            picked.append(values[at])
        yield filled(utterance, picked)


def _drawn(count: int, generator: np.random.Generator) -> Iterable[int]:
    """Deal the numbers below a count in random order; of very many, only some."""
    most = 4_096
    if count <= most:
        return map(int, generator.permutation(count))
    return dict.fromkeys(int(n) for n in generator.integers(0, min(count, 2**62), most))
