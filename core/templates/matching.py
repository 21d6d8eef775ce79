"""Propose slots in new utterances by finding values that people marked elsewhere."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from core.templates.slots import Slot, SlottedText
from core.text import WORD_EDGES, word_spans


@dataclass(frozen=True, slots=True)
class SlotMatcher:
    """Maps a value's lower-case words to the slot it was marked as most often.

    `longest` tells how many words the longest value has that begins with a word.
    """

    names: Mapping[tuple[str, ...], str]
    longest: Mapping[str, int]

    def propose(self, text: str) -> SlottedText:
        """Mark known values from left to right, preferring the longest."""
        places = _places(text)
        words = [text[start:end].casefold() for start, end in places]
        slots: list[Slot] = []
        at = 0
        while at < len(words):
            size = self._size(words, at)
            if size:
                name = self.names[tuple(words[at : at + size])]
                slots.append(Slot(places[at][0], places[at + size - 1][1], name))
            at += max(1, size)
        return SlottedText(text, tuple(slots))

    def _size(self, words: list[str], at: int) -> int:
        """Count the words of the longest value that begins here; 0 if there is none."""
        most = min(self.longest.get(words[at], 0), len(words) - at)
        sizes = range(most, 0, -1)
        return next((size for size in sizes if tuple(words[at : at + size]) in self.names), 0)


def learn_matcher(utterances: Iterable[SlottedText], least: float = 0.5) -> SlotMatcher:
    """Learn which words are values, from utterances with marked slots.

    `least` is the minimum share of a value's occurrences that must be marked: "a" is a title in one
    "play a", but an article in most other texts.
    """
    return count_values(utterances).matcher(least)


@dataclass(frozen=True, slots=True)
class KnownValues:
    """How often each slot was marked on a value's lower-case words, and how often these occur."""

    marked: Mapping[tuple[str, ...], Counter[str]]
    seen: Mapping[tuple[str, ...], int]

    def share(self, name: str, value: str) -> float:
        """Return the share of a value's occurrences that are marked as a slot; 0 if none."""
        words = _words(value)
        counts = self.marked.get(words)
        # Marked values inside a word are not counted as occurrences, so the share could exceed 1.
        return min(1.0, counts[name] / max(1, self.seen.get(words, 0))) if counts else 0.0

    def matcher(self, least: float) -> SlotMatcher:
        """Keep the values that are marked in at least this share of their occurrences."""
        kept = {
            words: min(names, key=lambda name: (-names[name], name))
            for words, names in self.marked.items()
            if names.total() >= least * self.seen.get(words, 0)
        }
        return SlotMatcher(kept, _longest(kept))


def count_values(utterances: Iterable[SlottedText]) -> KnownValues:
    """Count marked values, and all occurrences of the same words."""
    marked_ones = list(utterances)
    marked: dict[tuple[str, ...], Counter[str]] = {}
    for utterance in marked_ones:
        for slot in utterance.slots:
            words = _words(utterance.value(slot))
            if words:
                marked.setdefault(words, Counter())[slot.name] += 1
    return KnownValues(marked, _occurrences(marked_ones, marked))


def _occurrences(
    utterances: Iterable[SlottedText], values: Mapping[tuple[str, ...], object]
) -> Counter[tuple[str, ...]]:
    seen: Counter[tuple[str, ...]] = Counter()
    longest = _longest(values)
    for utterance in utterances:
        words = _words(utterance.text)
        for start, word in enumerate(words):
            most = min(len(words), start + longest.get(word, 0))
            for end in range(start + 1, most + 1):
                if words[start:end] in values:
                    seen[words[start:end]] += 1
    return seen


def _longest(values: Iterable[tuple[str, ...]]) -> dict[str, int]:
    """Return how many words the longest value has that begins with a word, by that word."""
    longest: dict[str, int] = {}
    for words in values:
        longest[words[0]] = max(len(words), longest.get(words[0], 0))
    return longest


def _words(text: str) -> tuple[str, ...]:
    return tuple(text[start:end].casefold() for start, end in _places(text))


def _places(text: str) -> list[tuple[int, int]]:
    """Return the places of words without surrounding punctuation; pure punctuation is kept."""
    places = list[tuple[int, int]]()
    for start, end in word_spans(text):
        word = text[start:end]
        bare = word.strip(WORD_EDGES)
        first = start + word.index(bare)  # of pure punctuation the first sign
        places.append((first, first + len(bare)) if bare else (start, end))
    return places
