"""Which words decide an answer: integrated gradients, and the same text without each word.

Integrated gradients (Sundararajan et al. 2017, Eq. 1) follow the straight line from blank words to
the text's words, on the word embeddings before the first layer. The words' shares sum to the
difference of scores, up to an error of the integral that is returned. Leaving a word out is exact,
but these effects need not sum to anything. Both explain the present encoder.
"""

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
from core.text import word_spans
from core.types import ScoreArray

_FEWEST, _MOST = 16, 128
"""Intervals of the line; doubled from the first to the second while the error is too large."""

_TOLERANCE = 0.01

_TOKENS_AT_ONCE = 256
"""Gradients need 150 KB for each token of each point: all points of a text of 250 words at once
took more than 1 GB."""

_CENTRE, _WIDTH = 0.3, 0.15
"""Where on the line the scores change most, and how densely points lie there."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word of the text, text[start:end], and its part in the difference of scores.

    Attributes:
        share: Its part of the difference by integrated gradients.
        effect: Fall of the difference when the word is left out; exact.
    """

    text: str
    start: int
    end: int
    share: float
    effect: float


@dataclass(frozen=True, slots=True)
class Attribution:
    """Why one intent leads another, word by word.

    Attributes:
        difference: The intent's score minus the rival's; without a rival, the intent's score.
        blank: The same for a text of blank words.
        error: |blank + sum of shares - difference|, as a share of the difference.
    """

    words: tuple[Word, ...]
    difference: float
    blank: float
    error: float


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A difference of scores, and its fall without each word (start, end); exact."""

    words: tuple[tuple[int, int], ...]
    difference: float
    effects: tuple[float, ...]


def agreement(words: Sequence[Word]) -> float:
    """Return how far the words' shares and effects tell the same: their cosine, in [-1, 1].

    They differ where words act together, as in a text of several requests: leaving one out then
    says something else than the way from blank words to the text.
    """
    both = np.array([(word.share, word.effect) for word in words]).reshape(-1, 2)
    sizes = float(np.sqrt(np.square(both).sum(0).prod()))
    return float((both[:, 0] * both[:, 1]).sum()) / sizes if sizes > 0.0 else 0.0


def attribute(
    encoder: Encoder, head: VoteHead | MixtureHead, text: str, column: int, rival: int | None
) -> Attribution:
    """Tell which words of a text give an intent its lead over a rival; None: its score alone.

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
    """Compute by how much a difference of scores falls without each word, for any encoder.

    The difference is the intent's score minus the rival's, or its score alone without a rival.
    """
    words = word_spans(text)
    texts = [text, *(text[:start] + text[end:] for start, end in words)]
    scores = head.scores(encoder.encode([_joined(one) for one in texts]))
    exact = scores[:, column] - (0.0 if rival is None else scores[:, rival])
    return LeftOut(words, float(exact[0]), tuple((exact[0] - exact[1:]).tolist()))


def _joined(text: str) -> str:
    """Close the gap left by a removed word."""
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
        """Compute the difference for embeddings (n, d), with gradients; (n,)."""
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

    The rule is even in s, where a place is centre + width * sinh(s): a transformer's scores change
    mostly on a short stretch of the line, while Gauss-Legendre's points crowd at its ends. Doubling
    the intervals keeps these points and adds one in each interval.
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
    """Sum each token's share of the gradients at points of the line; (tokens,)."""
    start, path = line
    summed = torch.zeros_like(path)
    at_once = max(1, _TOKENS_AT_ONCE // len(path))
    for first in range(0, len(points[0]), at_once):
        part = slice(first, first + at_once)
        along, weights = (torch.from_numpy(values[part]).to(start) for values in points)
        with torch.enable_grad():
            words = (start + along[:, None, None] * path).requires_grad_()
            total = difference(found.embed(words)).sum()
            (gradient,) = torch.autograd.grad(total, words)
        summed += torch.einsum("s,std->td", weights, gradient)
    shares: ScoreArray = (summed * path).sum(1).double().cpu().numpy()
    return shares


def _by_word(found: TextInput, words: Sequence[tuple[int, int]], shares: ScoreArray) -> ScoreArray:
    """Sum shares by word; a token belongs to the word that holds its last character."""
    ends = np.array([end for _, end in words], dtype=np.int64)
    sums = np.zeros(len(words))
    for span, share in zip(found.spans, shares, strict=True):
        if span is not None and len(words):
            place = min(int(np.searchsorted(ends, span[1])), len(words) - 1)
            sums[place] += share
    return sums
