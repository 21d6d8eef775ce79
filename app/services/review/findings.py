"""Findings of a review: what looks wrong, why, in which texts, and which repairs are offered."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from app.services.live.live_model import LiveModel
from app.services.live.row_answers import exemplar_scores, left_out, votes_left_out
from app.services.studio import Studio
from app.services.what_if.repairs import Repair
from core.errors import InvalidInput
from core.heads.mixture import MixtureHead, without_names
from core.heads.votes.fit import VoteHead, fit_votes
from core.nearby.search import Nearby
from core.review.label_errors import Suspicion
from core.text import label_words
from core.types import Exemplar, FloatArray, ScoreArray, Task
from storage.records import ModelVersionRecord, UtteranceRecord

Kind = Literal[
    "people",
    "proposal",
    "conflict",
    "tested",
    "label",
    "greedy",
    "confusion",
    "overgrown",
    "thin",
    "misleading",
    "duplicate",
    "next",
    "doubt",
]
KINDS: tuple[Kind, ...] = get_args(Kind)
"""All kinds, the most harmful first.

`people`: texts that two people answered differently, one of them in a folder that was synced;
`proposal`: changes that a program or a person proposed; `tested`: examples that are test texts,
too; `doubt`: labels worth a look once all others are settled.
"""

_BYTES_A_TEXT = 500
"""About what an example or test text takes in memory with its ids and labels."""

_AGREED = 0.5
"""Share of an example's neighbours, by nearness, that a proposed label needs."""

_MOST_FITTED = 12_000
VOTE_SETTINGS = (0.3, 0.1)
"""tau and ridge of the votes fitted for review, where the model has no votes of all examples."""


@dataclass(frozen=True, slots=True)
class FoundText:
    """A text of a finding; `suggested` is a label, as intent ids, that would repair it."""

    id: str
    text: str
    intents: tuple[str, ...] | None
    place: str
    note: str = ""
    suggested: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Effect:
    """How many answers become right and wrong, of test texts and of pins."""

    mends: int
    breaks: int

    @property
    def net(self) -> int:
        """Answers that become right, less those that become wrong."""
        return self.mends - self.breaks


@dataclass(frozen=True, slots=True)
class Remedy:
    """What a person can do about a finding; without a repair it is settled as it is.

    Attributes:
        effect: None where it is not known.
        label_ids: Unlabelled texts to label instead; then there is no repair.
    """

    words: str
    repair: Repair | None
    asks: Literal["", "name", "intent", "description"] = ""
    effect: Effect | None = None
    label_ids: tuple[str, ...] = ()

    @property
    def keeps(self) -> bool:
        """Whether it settles the finding without a change."""
        return self.repair is None and not self.label_ids


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that a person should look at; one of the remedies keeps everything as it is.

    Attributes:
        id: The same in every review that finds the same.
        figure: Number by which findings of one kind are ordered.
    """

    id: str
    kind: Kind
    title: str
    why: str
    figure: float
    measure: str
    texts: tuple[FoundText, ...]
    remedies: tuple[Remedy, ...]
    intents: tuple[str, ...] = ()


SAME_TEXT = "same text"
"""The measure of two texts that differ in case, space or outer punctuation at most."""

KEEP = Remedy("Keep as it is", None)
KEEP_BOTH = Remedy("They differ: keep both", None)


def quoted(name: str) -> str:
    """Return an intent's name as sentences write it, since it may be a word such as "maybe"."""
    return f"“{name}”"


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """Data from which findings are computed.

    It is cached, so it holds neither the live model's encoder nor the root of its votes.

    Attributes:
        exemplars: The examples of the live model that the project holds as they vote, m of them.
        head: Votes of all examples: the model's own, or else votes fitted for the review.
        held_out: Leave-one-out scores of the examples, (m, intents).
        judges: Votes by an encoder that has not learned the labels, by which these are doubted.
        doubted: Leave-one-out scores of the examples by `judges`, (m, intents).
        suspects: How likely each example's label is wrong.
        near: Neighbours of the examples, by an encoder that has not learned their labels. A tuned
            one lays the texts of an intent together, as if they said the same.
        learned: Whether that encoder is not here any more, so that they are the tuned one's.
        test_rows: Embeddings of `tests`, (n, d).
        answers: What the model answers each example without its own vote; None: it is refused.
        test_answers: The same of the test texts; None, too, where the model has learned one.
        fresh: Which test texts the model has not learned, (n,); the others test nothing.
        synthetic: Ids of the examples made from templates; their labels are not doubted.
    """

    version: ModelVersionRecord
    task: Task
    exemplars: tuple[Exemplar, ...] = field(repr=False)
    head: VoteHead = field(repr=False)
    columns: tuple[str, ...]
    names: Mapping[str, str] = field(repr=False)
    labels: tuple[tuple[str, ...], ...] = field(repr=False)
    held_out: ScoreArray = field(repr=False)
    judges: VoteHead = field(repr=False)
    doubted: ScoreArray = field(repr=False)
    near: Nearby = field(repr=False)
    suspects: Suspicion = field(repr=False)
    tests: tuple[UtteranceRecord, ...] = field(repr=False)
    test_rows: FloatArray = field(repr=False)
    answers: tuple[str | None, ...] = field(repr=False)
    test_answers: tuple[str | None, ...] = field(repr=False)
    fresh: NDArray[np.bool_] = field(repr=False)
    learned: bool = False
    synthetic: frozenset[str] = field(default=frozenset(), repr=False)

    @property
    def single(self) -> bool:
        """Whether a text has one intent."""
        return self.task == "single-label"

    def example(
        self, row: int, note: str = "", suggested: tuple[str, ...] | None = None
    ) -> FoundText:
        """Return an example as a text of a finding."""
        exemplar = self.exemplars[row]
        return FoundText(exemplar.id, exemplar.text, self.labels[row], "train", note, suggested)

    def proposed(self, row: int) -> int | None:
        """Return the column of the label that the nearest examples and the votes agree on."""
        column = int(self.suspects.suggested[row])
        agreed = self.suspects.support[row] >= _AGREED and not self.head.targets[row, column]
        return column if agreed and self.columns[column] else None

    def is_said(self, row: int) -> bool:
        """Whether an example is a real utterance, not made from a template."""
        return self.exemplars[row].id not in self.synthetic

    def name(self, key: str) -> str:
        """Return the name of an intent as sentences write it."""
        name = self.names.get(key)
        return "an intent that is gone" if name is None else quoted(name)

    def label(self, labels: Sequence[str]) -> str:
        """Return a label in words."""
        return label_words(sorted(self.name(key) for key in labels), self.task)

    @property
    def size(self) -> int:
        """Bytes of its arrays, and about those of its texts."""
        arrays = {
            id(value): value.nbytes
            for part in (self, self.head, self.judges, self.near, self.suspects)
            for value in (getattr(part, one.name) for one in fields(part))
            if isinstance(value, np.ndarray)
        }
        n_texts = len(self.exemplars) + len(self.tests)
        return sum(arrays.values()) + _BYTES_A_TEXT * n_texts


def votes_of(live: LiveModel, rows: NDArray[np.int64] | None = None) -> VoteHead:
    """Return votes of examples: the live head's, or votes fitted to its embeddings.

    `rows` are those of the examples, (m,), which may be few of the live model's; None: all.

    Raises:
        InvalidInput: There are too many examples to fit votes.
    """
    head, pipeline = without_names(live.pipeline.head), live.pipeline
    n_all = len(pipeline.exemplars)
    rows = np.arange(n_all) if rows is None else rows
    if isinstance(head, VoteHead) and head.diagonal is not None and _is_whole(live, rows):
        return head if len(rows) == n_all else _of_rows(head, head.diagonal, rows)
    if len(rows) > _MOST_FITTED:
        raise InvalidInput(
            f"{len(rows):,} examples are too many to be reviewed at once.",
            f"Review works with up to {_MOST_FITTED:,}.",
        )
    return fit_votes(
        pipeline.embeddings[rows], pipeline.targets[rows], head.intents, *VOTE_SETTINGS
    )


def _is_whole(live: LiveModel, rows: NDArray[np.int64]) -> bool:
    """Whether these are all examples of a live model, or nearly all of many."""
    return len(rows) == len(live.pipeline.exemplars) or len(rows) > _MOST_FITTED


def votes_held_out(
    studio: Studio, live: LiveModel, head: VoteHead, rows: NDArray[np.int64]
) -> ScoreArray:
    """Score examples of a live model, of rows (m,), by the others; `head` has their votes."""
    own = votes_left_out(studio, live)
    if own is not None and _is_whole(live, rows):
        return own[rows]
    return left_out(head, [live.pipeline.exemplars[row] for row in rows.tolist()])


def _of_rows(head: VoteHead, diagonal: ScoreArray, rows: NDArray[np.int64]) -> VoteHead:
    """Return some of the votes of a head, each as heavy as among all."""
    return replace(
        head,
        exemplars=head.exemplars[rows],
        targets=head.targets[rows],
        weights=head.weights[rows],
        diagonal=diagonal[rows],
        root=None,
    )


def held_out_with_names(studio: Studio, live: LiveModel) -> ScoreArray:
    """Score every example by the others' votes and by intent names, (m, intents)."""
    own = exemplar_scores(studio, live)
    if own is not None:
        return own[0]
    scores, head = left_out(votes_of(live), live.pipeline.exemplars), live.pipeline.head
    if isinstance(head, MixtureHead):
        scores += head.voices(live.pipeline.embeddings)
    return scores


def labels_of(live: LiveModel) -> tuple[tuple[str, ...], ...]:
    """Return the intent ids that each example votes for now."""
    votes = (live.votes_as(exemplar.id) for exemplar in live.pipeline.exemplars)
    return tuple(() if vote is None else vote[1] for vote in votes)


def truth_of(evidence: Evidence, labels: Sequence[tuple[str, ...] | None]) -> NDArray[np.int64]:
    """Return each label's column; -1 for a label without one intent that has a column."""
    column = {key: at for at, key in enumerate(evidence.columns) if key}
    truth = [column.get(of[0], -1) if of is not None and len(of) == 1 else -1 for of in labels]
    return np.array(truth, dtype=np.int64)
