"""From scores to answers with evidence: the one way in which the studio and exported graphs decide.

It needs NumPy alone, so that a server without torch decides by the same code.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from core.calibration.out_of_scope import in_scope
from core.text import hidden_key, match_keys
from core.types import (
    Decision,
    Exemplar,
    IntentScore,
    Method,
    Neighbour,
    Prediction,
    Reason,
    ScoreArray,
    Task,
)
from core.vectors import nearest

_DECIMALS = 12

Columns = NDArray[np.int64]
"""Places of intents among the scores, (n,)."""
VotesOf = Callable[[NDArray[np.int64], Columns], ScoreArray]
"""Takes rows of texts and one column for each, both (n,); returns exemplars' votes, (n, m)."""


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """What a model computed of n texts, for c intents and m exemplars.

    Attributes:
        scores: Scores, (n, c); `shares` are their probabilities and `voices` the parts of them that
            the intents' names gave, (n, c) as well.
        familiarity: What is compared with the thresholds, (n,); not used for several intents.
        similarity: Cosines to the exemplars, (n, m).
        votes_of: Returns the exemplars' votes on the score of one intent for each row.
    """

    scores: ScoreArray
    shares: ScoreArray
    voices: ScoreArray
    familiarity: ScoreArray
    similarity: ScoreArray
    votes_of: VotesOf


@dataclass(frozen=True, slots=True)
class Decided:
    """A decision without its evidence.

    Attributes:
        columns: Columns of the scores that an explanation of the decision is about.
        probabilities: Of the intents of the decision, in their order.
    """

    decision: Decision
    columns: list[int]
    probabilities: tuple[float, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Decider:
    """What a model answers by, besides the scores.

    Attributes:
        intents: Names of the score columns.
        limits: Threshold of each column, (c,).
        measure: What the thresholds of one intent apply to.
        exemplars: The labelled utterances that are shown as evidence.
        n_neighbours: Number of exemplars in a reason.
        exact: Match key to intents; texts with contradicting labels are absent.
        prior: The part of each score that no exemplar gave, (c,).
        by_votes: Whether the evidence of a column is ordered by votes, not cosines, (c,).
        by_name: Whether a column is scored by its intent's name alone, (c,).
    """

    intents: tuple[str, ...]
    task: Task
    limits: ScoreArray
    measure: Method
    exemplars: tuple[Exemplar, ...]
    n_neighbours: int
    prior: ScoreArray
    by_votes: NDArray[np.bool_]
    by_name: NDArray[np.bool_]
    exact: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    model_version: str | None = None
    dataset_version: str | None = None

    def renamed(self, intents: tuple[str, ...]) -> "Decider":
        """Return a decider whose intents, in the order of the scores, have these names."""
        to = dict(zip(self.intents, intents, strict=True))

        def named(names: Sequence[str]) -> tuple[str, ...]:
            return tuple(sorted(to.get(name, name) for name in names))

        return replace(
            self,
            intents=intents,
            exemplars=tuple(replace(e, intents=named(e.intents)) for e in self.exemplars),
            exact={key: named(names) for key, names in self.exact.items()},
        )

    def decide(self, texts: Sequence[str], found: Measured) -> list[Prediction]:
        """Answer texts in their order, each independently."""
        ranked = _ranked(self.intents, found.scores, found.shares)
        decided = self.decided(texts, found.scores, found.shares, found.familiarity)
        reasons = self._reasons(found, [one.columns for one in decided])
        return [
            Prediction(
                text,
                ranked[row],
                one.decision,
                reasons[row],
                self.model_version,
                self.dataset_version,
            )
            for row, (text, one) in enumerate(zip(texts, decided, strict=True))
        ]

    def decided(
        self, texts: Sequence[str], scores: ScoreArray, shares: ScoreArray, familiarity: ScoreArray
    ) -> list[Decided]:
        """Decide as `decide` does, without evidence; arrays are those of `Measured`."""
        if self.task == "multi-label":
            found = [self._many(*row) for row in zip(texts, scores, strict=True)]
        else:
            inside = in_scope(familiarity, self.limits[scores.argmax(1)]).tolist()
            rows = zip(texts, scores, familiarity.tolist(), inside, strict=True)
            found = [self._one(*row, inside=within) for *row, within in rows]
        column = {name: at for at, name in enumerate(self.intents)}
        return [
            Decided(
                decision,
                columns,
                tuple(float(of_text[column[name]]) for name in decision.intents if name in column),
            )
            for (decision, columns), of_text in zip(found, shares, strict=True)
        ]

    def _twin(self, text: str) -> tuple[str, ...] | None:
        """Return the intents of an exemplar that says the same; None where none does."""
        known = (said for key in match_keys(text) for said in (key, hidden_key(key)))
        return next((self.exact[said] for said in known if said in self.exact), None)

    def _one(
        self, text: str, scores: ScoreArray, familiarity: float, *, inside: bool
    ) -> tuple[Decision, list[int]]:
        """Decide by the highest score; also return its column."""
        best = int(scores.argmax())
        name, threshold = self.intents[best], float(self.limits[best])
        twin = self._twin(text)
        rule: Literal["exact", "votes", "out-of-scope"] = "exact"
        if twin is None:
            rule = "votes" if inside else "out-of-scope"
            twin = (name,) if rule == "votes" else ()
        by_fence = None if self.measure == "votes" else familiarity
        score = float(scores[best])
        return Decision(twin, rule, score, threshold, name, self.measure, by_fence), [best]

    def _many(self, text: str, scores: ScoreArray) -> tuple[Decision, list[int]]:
        """Decide on every intent by its own threshold; also return the columns to explain."""
        names, thresholds = self.intents, self.limits
        twin = self._twin(text)
        if twin is None:
            chosen = np.flatnonzero(scores >= thresholds)
        else:
            chosen = np.array([at for at, name in enumerate(names) if name in twin], dtype=np.int64)
        columns = chosen[np.argsort(-scores[chosen], kind="stable")].tolist()
        leading = columns[0] if columns else int((scores - thresholds).argmax())
        rule: Literal["exact", "votes", "no-intent"] = "votes" if columns else "no-intent"
        if twin is not None:
            rule = "exact"
        decision = Decision(
            tuple(names[column] for column in columns),
            rule,
            float(scores[leading]),
            float(thresholds[leading]),
            names[leading],
        )
        return decision, columns or [leading]

    def _reasons(
        self, found: Measured, columns: Sequence[Sequence[int]]
    ) -> list[tuple[Reason, ...]]:
        """Explain the scores of at least one column for each text."""
        thresholds, prior = self.limits.tolist(), self.prior.tolist()
        rows = np.repeat(np.arange(len(columns)), [len(of_text) for of_text in columns])
        flat = np.array([column for of_text in columns for column in of_text], dtype=np.int64)
        evidence = iter(self._evidence(found, rows, flat))
        return [
            tuple(
                Reason(
                    self.intents[column],
                    float(found.scores[row, column]),
                    thresholds[column],
                    prior[column],
                    next(evidence),
                    float(found.voices[row, column]),
                    bool(self.by_name[column]),
                )
                for column in of_text
            )
            for row, of_text in enumerate(columns)
        ]

    def _evidence(
        self, found: Measured, rows: NDArray[np.int64], columns: Columns
    ) -> list[tuple[Neighbour, ...]]:
        """Return the exemplars that explain the score of each row's column.

        Those that vote are ordered by absolute vote, others by cosine.
        """
        similarity = found.similarity
        if len(rows) > len(similarity):  # saves a copy where each text has one row
            similarity = similarity[rows]
        votes = found.votes_of(rows, columns)
        weight = similarity
        if self.by_votes.any():
            # An intent without examples has no votes, so the nearest exemplars are shown.
            weight = np.where(self.by_votes[columns][:, None], np.abs(votes), similarity)
        # The last bits of a product depend on the number of texts in the batch; rounding keeps
        # the order of exemplars with equal weight.
        places = nearest(np.round(weight, _DECIMALS), self.n_neighbours)
        near = np.take_along_axis(similarity, places, 1).tolist()
        voted = np.take_along_axis(votes, places, 1).tolist()
        return [
            tuple(
                Neighbour(exemplar.id, exemplar.text, exemplar.intents, cosine, vote)
                for exemplar, cosine, vote in zip(
                    (self.exemplars[place] for place in row), near[at], voted[at], strict=True
                )
            )
            for at, row in enumerate(places.tolist())
        ]


def _ranked(
    intents: tuple[str, ...], scores: ScoreArray, shares: ScoreArray
) -> list[tuple[IntentScore, ...]]:
    """Pair scores and probabilities with intents, in falling order of the scores."""
    order = np.argsort(-scores, axis=1, kind="stable")
    names = np.array(intents, dtype=object)[order].tolist()
    by_score = np.take_along_axis(scores, order, 1).tolist()
    by_share = np.take_along_axis(shares, order, 1).tolist()
    return [
        tuple(map(IntentScore, *columns)) for columns in zip(names, by_score, by_share, strict=True)
    ]
