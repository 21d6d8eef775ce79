"""Which words carry a decision: integrated gradients, and the same text without each word.

Integrated gradients (Sundararajan et al. 2017, Eq. 1) along the straight line from blank words to
those of the text, on the word embeddings before the first layer: what the words are given sums to
the difference that they make, but for an error of the integral that is returned. Leaving a word out
is exact, and need not sum to anything. Both explain the encoder as it is.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from core.encoders.base import Encoder
from core.encoders.word_embeddings import TextInput, text_input, unit_length
from core.heads.base import Head
from core.heads.mixture import MixtureHead, without_names
from core.heads.votes.fit import VoteHead
from core.types import ScoreArray

_ALONE = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(f"[{_ALONE}]|[^\\s{_ALONE}]+")
"""What white space parts; signs of scripts that write none between words stand alone."""

_FEWEST, _MOST = 16, 128
"""Intervals of the line; more only where fewer leave too large an error."""

_TOLERANCE = 0.01

_CENTRE, _WIDTH = 0.3, 0.15
"""About where on the line words come to be told apart, and how close together points lie there."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word of the text and what it does.

    Attributes:
        text: The word.
        start: Where it begins in the text.
        end: Where it ends.
        share: Its part of the difference by integrated gradients.
        effect: By how much the difference falls when the word is left out; exact.
    """

    text: str
    start: int
    end: int
    share: float
    effect: float


@dataclass(frozen=True, slots=True)
class Attribution:
    """Why one intent leads another, in words.

    Attributes:
        words: In the order of the text.
        difference: Score of the intent less that of the rival; of the intent alone without one.
        blank: The same of a text whose words say nothing.
        error: By how much `blank` and the words' shares miss `difference`, as a share of it.
    """

    words: tuple[Word, ...]
    difference: float
    blank: float
    error: float


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A difference of scores, and by how much it falls without each word.

    Attributes:
        words: Where each begins and ends in the text.
        difference: Of the whole text.
        effects: Of each word; exact.
    """

    words: tuple[tuple[int, int], ...]
    difference: float
    effects: tuple[float, ...]


def attribute(
    encoder: Encoder, head: VoteHead | MixtureHead, text: str, column: int, rival: int | None
) -> Attribution:
    """Tell which words of a text carry an intent's lead over a rival.

    Args:
        encoder: Any transformer.
        head: Votes on its embeddings, perhaps with names beside them.
        text: What was asked.
        column: The intent, mostly the winner.
        rival: Another intent, or None for the score alone.

    Raises:
        InvalidInput: The encoder cannot say which words it reads.
    """
    found = text_input(encoder, text)
    left_out = leave_words_out(encoder, head, text, column, rival)
    difference = _Difference.of(head, column, rival)
    shares, blank, error = _integrated(found, difference, left_out.difference)
    by_word = _by_word(found, left_out.words, shares)
    words = zip(left_out.words, by_word.tolist(), left_out.effects, strict=True)
    return Attribution(
        tuple(
            Word(text[start:end], start, end, share, effect)
            for (start, end), share, effect in words
        ),
        left_out.difference,
        blank,
        error,
    )


def leave_words_out(
    encoder: Encoder, head: Head, text: str, column: int, rival: int | None
) -> LeftOut:
    """Tell what each word does to a difference of scores by leaving it out; for any encoder.

    Args:
        encoder: Any.
        head: On its embeddings.
        text: What was asked.
        column: The intent, mostly the winner.
        rival: Another intent, or None for the score alone.
    """
    words = tuple(match.span() for match in _WORD.finditer(text))
    texts = [text, *(text[:start] + text[end:] for start, end in words)]
    scores = head.scores(encoder.encode([_joined(one) for one in texts]))
    exact = scores[:, column] - (0.0 if rival is None else scores[:, rival])
    return LeftOut(words, float(exact[0]), tuple((exact[0] - exact[1:]).tolist()))


def _joined(text: str) -> str:
    """Close the gap that a word has left."""
    return " ".join(text.split())


@dataclass(frozen=True, slots=True, eq=False)
class _Difference:
    """The difference of two scores as a function of embeddings."""

    exemplars: Tensor
    weights: Tensor
    prior: float
    taus: Tensor

    @classmethod
    def of(cls, mixed: VoteHead | MixtureHead, column: int, rival: int | None) -> "_Difference":
        head = without_names(mixed)
        if not isinstance(head, VoteHead):
            message = f"no gradients of a head of kind {head.kind}"
            raise TypeError(message)
        weights, prior = head.weights[:, column], head.prior[column]
        if rival is not None:
            weights, prior = weights - head.weights[:, rival], prior - head.prior[rival]
        # Exemplars without a weight in this difference need no gradient.
        chosen = np.flatnonzero(np.abs(weights) > 0)
        rows, heavy = head.exemplars[chosen], weights[chosen]
        taus = np.full(len(chosen), head.tau)
        if isinstance(mixed, MixtureHead):
            named = [column] if rival is None else [column, rival]
            rows = np.concatenate([rows, mixed.names.points[named]])
            heavy = np.concatenate(
                [heavy, mixed.weights[named] * np.array([1.0, -1.0])[: len(named)]]
            )
            taus = np.concatenate([taus, mixed.taus[named]])
        return cls(
            torch.from_numpy(rows),
            torch.from_numpy(heavy.astype(np.float32)),
            float(prior),
            torch.from_numpy(taus.astype(np.float32)),
        )

    def __call__(self, embeddings: Tensor) -> Tensor:
        """Compute it for embeddings (n, d), with gradients; (n,)."""
        cosines = unit_length(embeddings.cpu()) @ self.exemplars.T
        return torch.exp((cosines - 1.0) / self.taus) @ self.weights + self.prior


def _integrated(
    found: TextInput, difference: _Difference, exact: float
) -> tuple[ScoreArray, float, float]:
    """Return each token's share, the difference of the blank text, and the relative error."""
    content = torch.tensor([span is not None for span in found.spans], device=found.words.device)
    start = torch.where(content[:, None], found.blank, found.words)
    path = found.words - start
    with torch.no_grad():
        blank = float(difference(found.embed(start[None]))[0])
    intervals = _FEWEST
    shares = _gradients(found, difference, (start, path), _points(intervals))
    while (error := _relative(blank + shares.sum() - exact, exact)) > _TOLERANCE:
        if intervals == _MOST:
            break
        intervals *= 2
        # Every other point is new, and each of the old ones counts half as much.
        places, weights = _points(intervals)
        between = _gradients(found, difference, (start, path), (places[1::2], weights[1::2]))
        shares = shares / 2.0 + between
    return shares, blank, error


def _relative(missing: float, whole: float) -> float:
    return float(abs(missing) / max(abs(whole), 1e-9))


def _points(intervals: int) -> tuple[ScoreArray, ScoreArray]:
    """Return places from 0 to 1 and weights, (intervals + 1,) each, of the trapezoidal rule.

    It is even in s, where a place is centre + width * sinh(s): a transformer's answer hardly moves
    but on a short stretch of the line, and Gauss-Legendre's points are close together at the ends.
    The points of twice as many intervals are these and one in each interval.
    """
    low, high = np.arcsinh((np.array([0.0, 1.0]) - _CENTRE) / _WIDTH)
    even = np.linspace(low, high, intervals + 1)
    weights = _WIDTH * np.cosh(even) * (high - low) / intervals
    weights[[0, -1]] /= 2.0
    return _CENTRE + _WIDTH * np.sinh(even), weights


def _gradients(
    found: TextInput,
    difference: _Difference,
    line: tuple[Tensor, Tensor],
    points: tuple[ScoreArray, ScoreArray],
) -> ScoreArray:
    """Sum what the gradients at points of the line give each token; (tokens,)."""
    start, path = line
    along, weights = (torch.from_numpy(part).to(start) for part in points)
    with torch.enable_grad():
        words = (start + along[:, None, None] * path).requires_grad_()
        total = difference(found.embed(words)).sum()
        (gradient,) = torch.autograd.grad(total, words)
    summed = torch.einsum("s,std->td", weights, gradient)
    shares: ScoreArray = (summed * path).sum(1).double().cpu().numpy()
    return shares


def _by_word(found: TextInput, words: Sequence[tuple[int, int]], shares: ScoreArray) -> ScoreArray:
    """Sum the pieces of each word: a piece belongs to the word that holds its last sign."""
    ends = np.array([end for _, end in words], dtype=np.int64)
    sums = np.zeros(len(words))
    for span, share in zip(found.spans, shares, strict=True):
        if span is not None and len(words):
            place = min(int(np.searchsorted(ends, span[1])), len(words) - 1)
            sums[place] += share
    return sums
