"""Split texts into subwords: greedy prefixes, and hashed buckets for unknown characters."""

import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field

CONTINUED = "##"
_PARTS = re.compile(r"\w+|[^\w\s]")
_REMEMBERED = 50_000


def split_words(text: str) -> list[str]:
    """Lower-case a text and split it at spaces and around punctuation."""
    return _PARTS.findall(text.lower())


@dataclass(frozen=True, slots=True)
class Subwords:
    """A vocabulary shared by all sides of an encoder, in the order of ids; `##` continues a word.

    `buckets` further ids are for characters that no subword begins with.
    """

    pieces: tuple[str, ...]
    buckets: int
    _ids: dict[str, int] = field(init=False, repr=False, compare=False)
    _known: dict[str, tuple[int, ...]] = field(init=False, repr=False, compare=False)
    _longest: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_ids", {piece: at for at, piece in enumerate(self.pieces)})
        object.__setattr__(self, "_known", {})
        longest = max((len(piece.removeprefix(CONTINUED)) for piece in self.pieces), default=1)
        object.__setattr__(self, "_longest", longest)

    def ids(self, text: str, longest: int) -> list[int]:
        """Tokenise in lower case, into at most `longest` ids; an empty text gives one hashed id."""
        found: list[int] = []
        for word in split_words(text):
            found += self._word(word)
            if len(found) >= longest:
                break
        return found[:longest] or [self.bucket("")]

    def bucket(self, character: str) -> int:
        """Hash a character to one of the ids after the vocabulary."""
        return len(self.pieces) + zlib.crc32(character.encode()) % self.buckets

    def tokenise(self, texts: Sequence[str], longest: int) -> list[list[int]]:
        """Tokenise several texts."""
        return [self.ids(text, longest) for text in texts]

    def _word(self, word: str) -> tuple[int, ...]:
        found = self._known.get(word)
        if found is None:
            found = tuple(self._split(word))
            if len(self._known) < _REMEMBERED:
                self._known[word] = found
        return found

    def _split(self, word: str) -> list[int]:
        """Take the longest known subword repeatedly, from left to right."""
        ids: list[int] = []
        at = 0
        while at < len(word):
            mark = CONTINUED if at else ""
            ends = range(min(len(word), at + self._longest), at, -1)
            end = next((end for end in ends if mark + word[at:end] in self._ids), None)
            if end is None:
                ids.append(self.bucket(word[at]))
                at += 1
            else:
                ids.append(self._ids[mark + word[at:end]])
                at = end
        return ids
