"""Stored answers of the studio, and how far the graph of a bundle is from them."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, isfinite
from pathlib import Path
from typing import Any

import numpy as np

from core.deciding import Decider
from core.errors import MALFORMED, ArtifactDamaged
from core.runtime.engine import Engine, Outputs
from core.runtime.files import ANSWERS, json_lines
from core.text import match_keys
from core.types import Prediction

MOST_ANSWERS = 200
_DIGITS = 9
_APART = "apart"
_SUMS, _SUMS_IN_8_BITS = 1e-5, 1e-3
_MOST_APART = 1e-3
"""Largest difference of a number in float32 that rounding explains on any processor."""
MORE_IN_8_BITS = 0.01
_MORE_OTHERS = 2
"""Of 200 texts: those so near a limit that another processor's rounding answers them otherwise."""
_MOST_PARTS = 1 << 22
"""Votes that are summed at a time."""
_MANY_VOTES = 200
"""So many of the heaviest votes of a graph are looked at, for rounding may change their order."""


@dataclass(frozen=True, slots=True)
class FromStored:
    """The largest differences of a graph from stored answers to some texts.

    Attributes:
        texts: Texts compared.
        score: Of the score of the intent that the studio explained; `probability` likewise.
        vote: Of the votes for it that the studio showed; where the graph explains another intent,
            it tells none for this one. A vote that it has not among its heaviest is at least as far
            away as from the lightest of these.
        others: Texts with other intents, or by another rule.
        sums: Of the graph's own scores from the sums of their votes, priors and names, as a share
            of the sum of these parts' sizes where that is above 1.
    """

    texts: int
    score: float
    probability: float
    vote: float
    others: int
    sums: float = 0.0

    @property
    def largest(self) -> float:
        """The largest of scores, probabilities and votes."""
        return max(self.score, self.probability, self.vote)


@dataclass(frozen=True, slots=True)
class Tolerance:
    """What a graph of one precision may be off by.

    Attributes:
        sums: As in `FromStored`; float32 and 8 bits have one each.
        apart: From stored answers; None where no difference is refused.
        others: Most texts that may get another answer.
    """

    sums: float
    apart: float | None
    others: int

    def allows(self, found: FromStored) -> bool:
        """Whether all differences are within these limits."""
        if found.sums > self.sums or found.largest == inf:
            return False
        return self.apart is None or (found.largest <= self.apart and found.others <= self.others)


def measured_apart(found: FromStored) -> dict[str, dict[str, float]]:
    """Return the fact of an export in 8 bits that tells how far it is from the stored answers."""
    return {_APART: {"largest": round(found.largest, _DIGITS), "others": found.others}}


def tolerance_of(facts: Mapping[str, Any]) -> Tolerance:
    """Return what a bundle's graph may be off by.

    In 8 bits it may be a little further from answers in float32 than it was when it was exported:
    another processor rounds some numbers otherwise. Earlier releases did not measure how far.

    Raises:
        ArtifactDamaged: The fact is none.
    """
    if facts.get("precision") != "int8":
        return Tolerance(_SUMS, _MOST_APART, 0)
    try:
        known = facts.get(_APART)
        if known is None:
            return Tolerance(_SUMS_IN_8_BITS, None, 0)
        apart = float(known["largest"]) + MORE_IN_8_BITS
        return Tolerance(_SUMS_IN_8_BITS, apart, int(known["others"]) + _MORE_OTHERS)
    except MALFORMED as error:
        raise ArtifactDamaged(
            f"How far the graph was from float32 cannot be read: {error}.", "Export it again."
        ) from error


def answers_of(predictions: Sequence[Prediction]) -> list[dict[str, Any]]:
    """Return what is stored of answers: intents, rule, numbers and the votes that are shown."""
    return [
        {
            "text": one.text,
            "intents": list(one.decision.intents),
            "rule": one.decision.rule,
            "explained": one.reason.intent,
            "score": round(one.reason.score, _DIGITS),
            "probability": round(_probability(one), _DIGITS),
            "votes": {
                near.exemplar_id: round(near.vote, _DIGITS) for near in one.reason.neighbours
            },
        }
        for one in predictions
    ]


def write_answers(folder: Path, predictions: Sequence[Prediction]) -> None:
    """Store answers of the studio, one a line."""
    lines = [json.dumps(one, ensure_ascii=False) + "\n" for one in answers_of(predictions)]
    (folder / ANSWERS).write_text("".join(lines), encoding="utf-8")


def compare(folder: Path, engine: Engine) -> FromStored:
    """Answer the texts of an unpacked bundle's stored answers again, by its graph.

    Raises:
        ArtifactDamaged: The stored answers cannot be read.
    """
    many = max(_MANY_VOTES, engine.decider.n_neighbours)
    engine = replace(engine, decider=replace(engine.decider, n_neighbours=many))
    try:
        stored = json_lines((folder / ANSWERS).read_text(encoding="utf-8"))
        texts = [str(one["text"]) for one in stored]
        found = _difference(stored, engine.predict(texts))
        return replace(found, sums=_gap_of_sums(engine, texts))
    except MALFORMED as error:
        raise ArtifactDamaged(
            f"The stored answers cannot be compared: {error}.", "Export it again."
        ) from error


def _difference(stored: Sequence[dict[str, Any]], again: Sequence[Prediction]) -> FromStored:
    largest = [0.0, 0.0, 0.0]
    others = 0
    for then, now in zip(stored, again, strict=True):
        decision = now.decision
        differs = [list(decision.intents), decision.rule] != [then["intents"], then["rule"]]
        others += differs and not _newly_exact(then, now)
        of_intent = {one.intent: one for one in now.ranked}[then["explained"]]
        gaps = (
            abs(of_intent.score - then["score"]),
            abs(of_intent.probability - then["probability"]),
            _gap_of_votes(then, now),
        )
        largest = [_largest(pair) for pair in zip(largest, gaps, strict=True)]
    score, probability, vote = largest
    return FromStored(len(stored), score, probability, vote, others)


def _newly_exact(then: Mapping[str, Any], now: Prediction) -> bool:
    """Whether an example says the same but for outer punctuation that earlier releases counted."""
    is_exact = now.decision.rule == "exact" and then["rule"] != "exact"
    return is_exact and len(match_keys(now.text)) > 1


def _largest(gaps: Iterable[float]) -> float:
    """Return the largest difference; one that is no number is beyond every tolerance."""
    return max((gap if isfinite(gap) else inf for gap in gaps), default=0.0)


def _gap_of_sums(engine: Engine, texts: Sequence[str]) -> float:
    """Return the largest difference of a score from the sum of its parts; 0 without votes."""
    decider = engine.decider
    if "votes" not in engine.output_names or not decider.by_votes.any():
        return 0.0
    at_once = max(1, _MOST_PARTS // (len(decider.exemplars) * len(decider.intents)))
    starts = range(0, len(texts), at_once)
    return _largest(
        _largest_gap(decider, engine.outputs(texts[at : at + at_once])) for at in starts
    )


def _largest_gap(decider: Decider, found: Outputs) -> float:
    scores = found["scores"].astype(np.float64)
    votes = found["votes"].astype(np.float64)
    spoken = found["voices"].astype(np.float64) if "voices" in found else np.zeros_like(scores)
    if votes.ndim == 3:
        rows, columns = np.nonzero(np.broadcast_to(decider.by_votes, scores.shape))
        votes = votes[rows, columns]
    else:
        best = scores.argmax(1)
        rows = np.flatnonzero(decider.by_votes[best])
        votes, columns = votes[rows], best[rows]
    prior, name = decider.prior[columns], spoken[rows, columns]
    sizes = np.abs(votes).sum(1) + np.abs(prior) + np.abs(name)
    with np.errstate(invalid="ignore"):  # of two that are endless
        gaps = np.abs(votes.sum(1) + prior + name - scores[rows, columns])
        return _largest((gaps / np.maximum(1.0, sizes)).tolist())


def _gap_of_votes(then: Mapping[str, Any], now: Prediction) -> float:
    """Return the largest difference of the votes that the studio showed for the same intent."""
    reason = next((one for one in now.reasons if one.intent == then["explained"]), None)
    if reason is None:
        return 0.0
    votes = {near.exemplar_id: near.vote for near in reason.neighbours}
    if not all(map(isfinite, votes.values())):
        return inf
    lightest = min(map(abs, votes.values()), default=0.0)
    return _largest(
        abs(vote - votes[key]) if key in votes else _largest((0.0, abs(vote) - lightest))
        for key, vote in then["votes"].items()
    )


def _probability(one: Prediction) -> float:
    return next(r.probability for r in one.ranked if r.intent == one.reason.intent)
