"""What a review lists: each finding says what is odd, why, by which texts, and what mends it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from app.services.live.live_model import LiveModel
from app.services.what_if.repairs import Repair
from core.errors import InvalidInput
from core.heads.mixture import MixtureHead, without_names
from core.heads.targets import target_matrix
from core.heads.votes.fit import VoteHead, fit_votes, leave_one_out
from core.review.nearby import Nearby
from core.text import label_words
from core.types import FloatArray, ScoreArray
from storage.records import UtteranceRecord

Kind = Literal[
    "conflict",
    "label",
    "greedy",
    "confusion",
    "overgrown",
    "thin",
    "misleading",
    "duplicate",
    "next",
]
KINDS: tuple[Kind, ...] = get_args(Kind)
"""What does most harm comes first."""

_MOST_FITTED = 12_000
_SETTINGS = (0.3, 0.1)
"""tau and ridge of votes that judge where the model's own head has none of all examples."""


@dataclass(frozen=True, slots=True)
class FoundText:
    """A text of a finding.

    Attributes:
        id: Of the utterance.
        text: What it says.
        intents: Its label, by id; None where it has none.
        place: Its split.
        note: What it has to do with the finding.
        suggested: Ids of the label that would mend it, where one would.
    """

    id: str
    text: str
    intents: tuple[str, ...] | None
    place: str
    note: str = ""
    suggested: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Remedy:
    """What can be done about a finding; without a repair it stays as it is, and is settled.

    Attributes:
        words: On the button.
        repair: What is done.
        asks: What has to be chosen first: a `name`, an `intent`, a `description`, or nothing.
    """

    words: str
    repair: Repair | None
    asks: Literal["", "name", "intent", "description"] = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that a person should look at.

    Attributes:
        id: Stays the same as long as it is the same finding.
        kind: What sort it is.
        title: In a few words.
        why: In a sentence or two.
        figure: By which its kind is ordered.
        measure: The same in words.
        texts: Those that it is about.
        remedies: What mends it; the last one keeps everything as it is.
        intents: Ids of the intents that it is about.
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


KEEP = Remedy("Keep as it is", None)
"""The last remedy of every finding."""


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """What findings are made of.

    Attributes:
        live: The model that answers.
        head: Votes of all examples: the model's own, or where it has none, some fitted for this.
        columns: Intent id of each score column.
        names: Of the project's intents, by id.
        labels: Of the examples, ids.
        honest: Scores of the examples by votes that have not seen them, (m, intents).
        near: Their neighbours.
        tests: Labelled texts to judge by.
        test_rows: Their embeddings, (n, d).
        synthetic: Ids of the examples that nobody said; these are not doubted.
    """

    live: LiveModel
    head: VoteHead = field(repr=False)
    columns: tuple[str, ...]
    names: Mapping[str, str] = field(repr=False)
    labels: tuple[tuple[str, ...], ...] = field(repr=False)
    honest: ScoreArray = field(repr=False)
    near: Nearby = field(repr=False)
    tests: tuple[UtteranceRecord, ...] = field(repr=False)
    test_rows: FloatArray = field(repr=False)
    synthetic: frozenset[str] = field(default=frozenset(), repr=False)

    @property
    def single(self) -> bool:
        """Whether a text has one intent."""
        return bool(self.live.pipeline.task == "single-label")

    def example(
        self, row: int, note: str = "", suggested: tuple[str, ...] | None = None
    ) -> FoundText:
        """Return an example as a text of a finding."""
        one = self.live.pipeline.exemplars[row]
        return FoundText(one.id, one.text, self.labels[row], "train", note, suggested)

    def is_said(self, row: int) -> bool:
        """Whether an example was said by somebody, not made from a template."""
        return self.live.pipeline.exemplars[row].id not in self.synthetic

    def name(self, key: str) -> str:
        """Name of an intent."""
        return self.names.get(key, "an intent that is gone")

    def said(self, labels: Sequence[str]) -> str:
        """A label in words."""
        task = self.live.pipeline.task
        return label_words(sorted(self.name(key) for key in labels), task)


def votes_of(live: LiveModel) -> VoteHead:
    """Return votes of all examples: the live head's, or some fitted to the same embeddings.

    Raises:
        InvalidInput: There are too many examples to fit votes for this.
    """
    head, pipeline = without_names(live.pipeline.head), live.pipeline
    if isinstance(head, VoteHead) and head.carriers is None and head.diagonal is not None:
        return head
    if len(pipeline.exemplars) > _MOST_FITTED:
        raise InvalidInput(
            f"{len(pipeline.exemplars):,} examples are too many to be reviewed at once.",
            f"Review works with up to {_MOST_FITTED:,}.",
        )
    targets = target_matrix([exemplar.intents for exemplar in pipeline.exemplars], head.intents)
    return fit_votes(pipeline.embeddings, targets, head.intents, *_SETTINGS)


def honest_of(head: VoteHead) -> ScoreArray:
    """Score every example by the others, (m, intents)."""
    return leave_one_out(head)


def honest_with_names(live: LiveModel) -> ScoreArray:
    """Score every example by the others and by the names beside the votes, (m, intents)."""
    honest, head = honest_of(votes_of(live)), live.pipeline.head
    if isinstance(head, MixtureHead):
        honest += head.voices(live.pipeline.embeddings)
    return honest


def labels_of(live: LiveModel) -> tuple[tuple[str, ...], ...]:
    """Labels of the examples as they vote now, by id."""
    said = (live.votes_as(exemplar.id) for exemplar in live.pipeline.exemplars)
    return tuple(() if one is None else one[1] for one in said)


def truth_of(evidence: Evidence, labels: Sequence[tuple[str, ...] | None]) -> NDArray[np.int64]:
    """Column of each label of one intent; -1 where it has none, or another number of them."""
    place = {key: column for column, key in enumerate(evidence.columns) if key}
    found = [place.get(of[0], -1) if of is not None and len(of) == 1 else -1 for of in labels]
    return np.array(found, dtype=np.int64)
