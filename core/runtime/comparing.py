"""Stored answers of the studio, and how far the graph of a bundle is from them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from core.errors import MALFORMED, ArtifactDamaged
from core.runtime.engine import Engine
from core.runtime.files import ANSWERS, json_lines
from core.types import Prediction

MOST_ANSWERS = 200
_DIGITS = 9
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
    """

    texts: int
    score: float
    probability: float
    vote: float
    others: int

    @property
    def largest(self) -> float:
        """The largest of scores, probabilities and votes."""
        return max(self.score, self.probability, self.vote)


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
        again = engine.predict([str(one["text"]) for one in stored])
        return _difference(stored, again)
    except MALFORMED as error:
        raise ArtifactDamaged(
            f"The stored answers cannot be compared: {error}.", "Export it again."
        ) from error


def _difference(stored: Sequence[dict[str, Any]], again: Sequence[Prediction]) -> FromStored:
    largest = [0.0, 0.0, 0.0]
    others = 0
    for then, now in zip(stored, again, strict=True):
        decision = now.decision
        others += [list(decision.intents), decision.rule] != [then["intents"], then["rule"]]
        of_intent = {one.intent: one for one in now.ranked}[then["explained"]]
        gaps = (
            abs(of_intent.score - then["score"]),
            abs(of_intent.probability - then["probability"]),
            _gap_of_votes(then, now),
        )
        largest = [max(pair) for pair in zip(largest, gaps, strict=True)]
    score, probability, vote = largest
    return FromStored(len(stored), score, probability, vote, others)


def _gap_of_votes(then: Mapping[str, Any], now: Prediction) -> float:
    """Return the largest difference of the votes that the studio showed for the same intent."""
    reason = next((one for one in now.reasons if one.intent == then["explained"]), None)
    if reason is None:
        return 0.0
    votes = {near.exemplar_id: near.vote for near in reason.neighbours}
    lightest = min(map(abs, votes.values()), default=0.0)
    gaps = (
        abs(vote - votes[key]) if key in votes else max(0.0, abs(vote) - lightest)
        for key, vote in then["votes"].items()
    )
    return max(gaps, default=0.0)


def _probability(one: Prediction) -> float:
    return next(r.probability for r in one.ranked if r.intent == one.reason.intent)
