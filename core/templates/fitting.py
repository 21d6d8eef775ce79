"""Which values may fill a template without breaking its grammar, learned from marked utterances."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass

from core.templates.slots import Slot, SlottedText
from core.text import WORD_EDGES, stands_alone, word_spans

_CHANCE = 0.1
"""A value that would have come after a word with 90 % chance, and never did, is not put there."""

_Counts = Mapping[str, Mapping[str, Counter[str]]]


@dataclass(frozen=True, slots=True)
class Fitting:
    """How often each value of a slot followed each word, and the words around all values.

    Attributes:
        after: Counts of preceding words by slot and value; "" is the begin of a text, and
            `{name}` another slot.
        values: The values of all slots, as words.
    """

    after: _Counts
    values: frozenset[tuple[str, ...]]

    def is_whole(self, utterance: SlottedText) -> bool:
        """Whether no marked value is only a part of a longer value that is known."""
        sizes = {len(value) for value in self.values}
        return not any(self._is_part(utterance, slot, sizes) for slot in utterance.slots)

    def _is_part(self, utterance: SlottedText, slot: Slot, sizes: Set[int]) -> bool:
        """Whether words around a value make it one of known values of these sizes."""
        value = _words(utterance.value(slot))
        left = _words(utterance.text[: slot.start])
        right = _words(utterance.text[slot.end :])
        for more in (size - len(value) for size in sizes if size > len(value)):
            for n_left in range(max(0, more - len(right)), min(len(left), more) + 1):
                longer = (*left[len(left) - n_left :], *value, *right[: more - n_left])
                if longer in self.values:
                    return True
        return False

    def fits(self, name: str, value: str, before: str, behind: str = "") -> bool:
        """Whether a value may stand between two words, by what was seen with values like it.

        It may not repeat either word, unless that is a sign of a script without white space. It
        fits where it was seen. Elsewhere it is refused if its absence there is no chance: judged
        beside the values that share a preceding word with it, and all these beside the rest of the
        slot.
        """
        words = _words(value)
        if not words or _repeats(words[0], before) or _repeats(words[-1], behind):
            return False
        of_slot = self.after.get(name, {})
        own = of_slot.get(_key(value), Counter())
        if before in own or not own:
            return True
        peers, rest = Counter[str](), Counter[str]()
        for other, counts in of_slot.items():
            if other != _key(value):
                (rest if counts.keys().isdisjoint(own) else peers).update(counts)
        if _chance(peers, before, own.total()) < _CHANCE:
            return False
        unseen = before not in peers
        return not unseen or _chance(rest, before, own.total() + peers.total()) >= _CHANCE


def _chance(others: Counter[str], before: str, n: int) -> float:
    """Return the chance that n values never follow a word that others follow as often as seen."""
    return float((1.0 - others[before] / (others.total() + 2)) ** n)


def learn_fitting(utterances: Iterable[SlottedText]) -> Fitting:
    """Count what precedes each marked value."""
    after: dict[str, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    values: set[tuple[str, ...]] = set()
    for utterance in utterances:
        for place, slot in enumerate(utterance.slots):
            value = utterance.value(slot)
            after[slot.name][_key(value)][neighbours(utterance, place)[0]] += 1
            values.add(_words(value))
    return Fitting({name: dict(counts) for name, counts in after.items()}, frozenset(values))


def neighbours(utterance: SlottedText, place: int) -> tuple[str, str]:
    """Return the words before and behind a slot; `{name}` is a slot right beside it."""
    slot, text = utterance.slots[place], utterance.text
    earlier = utterance.slots[place - 1] if place else None
    later = utterance.slots[place + 1] if place + 1 < len(utterance.slots) else None
    left = _words(text[earlier.end if earlier else 0 : slot.start])
    right = _words(text[slot.end : later.start if later else len(text)])
    before = left[-1] if left else f"{{{earlier.name}}}" if earlier else ""
    behind = right[0] if right else f"{{{later.name}}}" if later else ""
    return before, behind


def _key(value: str) -> str:
    return value.strip().casefold()


def _repeats(word: str, other: str) -> bool:
    """Whether two neighbours are one word twice; a sign that is a word alone may be said twice."""
    return word == other and not stands_alone(word)


def _words(text: str) -> tuple[str, ...]:
    folded = text.casefold()
    words = (folded[start:end].strip(WORD_EDGES) for start, end in word_spans(folded))
    return tuple(word for word in words if word)
