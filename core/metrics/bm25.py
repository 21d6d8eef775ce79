"""BM25 (Robertson and Zaragoza 2009, Eq. 3.15): the keyword baseline of response selection."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from core.types import ScoreArray

_WORD = re.compile(r"\w+")


def words(text: str) -> list[str]:
    """Split a text into its words, in lower case."""
    return _WORD.findall(text.lower())


@dataclass(frozen=True, slots=True)
class Bm25:
    """Statistics of a collection; made by `fit_bm25`.

    Attributes:
        rarity: Inverse document frequency of each word.
        unseen: Inverse document frequency of a word in no document.
        mean_length: Mean number of words of a document.
    """

    rarity: dict[str, float]
    unseen: float
    mean_length: float
    k1: float = 1.2
    b: float = 0.75

    def scores(self, query: str, documents: Sequence[str]) -> ScoreArray:
        """Score documents for a query; (documents,) float64."""
        asked = set(words(query))
        return np.array([self._score(asked, Counter(words(text))) for text in documents])

    def _score(self, asked: set[str], counts: Counter[str]) -> float:
        length = 1 - self.b + self.b * counts.total() / self.mean_length
        return sum(
            self.rarity.get(word, self.unseen)
            * counts[word]
            * (self.k1 + 1)
            / (counts[word] + self.k1 * length)
            for word in sorted(asked & counts.keys())
        )


def fit_bm25(documents: Iterable[str]) -> Bm25:
    """Count the words of a collection; raises ValueError without documents."""
    found: Counter[str] = Counter()
    n_documents = n_words = 0
    for text in documents:
        parts = words(text)
        found.update(set(parts))
        n_documents, n_words = n_documents + 1, n_words + len(parts)
    if not n_documents:
        message = "no documents to count"
        raise ValueError(message)

    def rarity(n: int) -> float:
        return math.log(1 + (n_documents - n + 0.5) / (n + 0.5))

    table = {word: rarity(n) for word, n in found.items()}
    return Bm25(table, rarity(0), max(1.0, n_words / n_documents))
