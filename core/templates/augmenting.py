"""Make utterances from templates and the values of a slot book (TaDSE Section 3.1)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from math import prod

import numpy as np

from core.templates.fitting import Fitting, neighbours
from core.templates.slot_book import SlotBook
from core.templates.slots import SlottedText, filled
from core.text import match_key


@dataclass(frozen=True, slots=True)
class Augmentation:
    """Limits of augmentation.

    Attributes:
        top: Number of most frequent values used for each slot (the paper uses 2 to 5).
        per_template: Most new utterances from one utterance's template.
        seed: Seed of the choice among more combinations than these limits allow.
        fitting: Leaves out values that do not fit the words around a slot, and templates in which
            a value is a part of a longer one; None, as in the paper, uses all.
    """

    top: int = 5
    per_template: int = 20
    most: int = 50_000
    seed: int = 0
    fitting: Fitting | None = None


@dataclass(frozen=True, slots=True)
class Synthetic:
    """An utterance made from the template of the utterance at row `source`."""

    utterance: SlottedText
    source: int


def augment(
    utterances: Sequence[SlottedText],
    book: SlotBook,
    how: Augmentation | None = None,
    existing: Iterable[str] = (),
    earlier: Mapping[int, int] | None = None,
) -> list[Synthetic]:
    """Fill the templates of utterances with frequent values.

    No text is made twice, and none that equals an utterance. Above the limits, combinations are
    drawn at random, in turn from each template. `existing` holds the match keys
    (`core.text.match_key`) of other texts, which are not made again. `earlier` maps a row to the
    number of utterances made from it before; they count towards its limit.
    """
    how = how or Augmentation()
    seen = {match_key(utterance.text) for utterance in utterances}.union(existing)
    earlier = earlier or {}
    taken = {row: earlier.get(row, 0) for row, one in enumerate(utterances) if one.slots}
    rows = [row for row, n in taken.items() if n < how.per_template]
    if how.fitting is not None:
        rows = [row for row in rows if how.fitting.is_whole(utterances[row])]
    streams = {row: _fillings(utterances[row], book, how, row) for row in rows}
    synthetic: list[Synthetic] = []
    while streams and len(synthetic) < how.most:
        for row in list(streams):
            filling = next((one for one in streams[row] if one[0] not in seen), None)
            if filling is None or len(synthetic) >= how.most:
                del streams[row]
                continue
            seen.add(filling[0])
            synthetic.append(Synthetic(filled(utterances[row], filling[1]), row))
            taken[row] += 1
            if taken[row] == how.per_template:
                del streams[row]
    return sorted(synthetic, key=lambda one: one.source)


def _fillings(
    utterance: SlottedText, book: SlotBook, how: Augmentation, row: int
) -> Iterator[tuple[str, list[str]]]:
    """Yield the match key and values of each filling once, in random order."""
    text, borders = utterance.text, [0]
    for slot in utterance.slots:
        borders += [slot.start, slot.end]
    borders.append(len(text))
    parts = [text[a:b] for a, b in zip(borders[::2], borders[1::2], strict=True)]
    choices = [_values(utterance, place, book, how) for place in range(len(utterance.slots))]
    count = prod(len(values) for values in choices)
    generator = np.random.default_rng([how.seed, row])
    for number in _drawn(count, generator):
        picked = []
        for values in choices:
            number, at = divmod(number, len(values))
            picked.append(values[at])
        words = (word for pair in zip(parts, [*picked, ""], strict=True) for word in pair)
        yield match_key("".join(words)), picked


def _values(utterance: SlottedText, place: int, book: SlotBook, how: Augmentation) -> list[str]:
    """Return the most frequent values of a slot, of those that fit where it stands."""
    name = utterance.slots[place].name
    values: Iterable[str] = (value for value, _ in book.values.get(name, ()))
    fitting = how.fitting
    if fitting is not None:
        around = neighbours(utterance, place)
        values = (value for value in values if fitting.fits(name, value, *around))
    return list(islice(values, how.top))


def _drawn(count: int, generator: np.random.Generator) -> Iterable[int]:
    """Return the numbers below a count in random order; above 4,096, a random sample."""
    most = 4_096
    if count <= most:
        return map(int, generator.permutation(count))
    return dict.fromkeys(int(n) for n in generator.integers(0, min(count, 2**62), most))
