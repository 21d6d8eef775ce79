"""What would change an answer: examples to remove, or examples that another intent needs."""

from dataclasses import dataclass, replace

import numpy as np

from app.services.explaining.explained_model import ExplainedModel
from app.services.explaining.views import Example, LoadBearing, WhyNot
from core.explain.load_bearing import Needed, copies_needed, examples_needed, load_bearing
from core.explain.one_text import Question, ask
from core.explain.solved_votes import SolvedVotes
from core.heads.mixture import voices_of
from core.text import counted, match_key
from core.types import Exemplar, FloatArray, Task

_NEAREST = 30
_NAMED = 5


@dataclass(frozen=True, slots=True, eq=False)
class AskedText:
    """A text, embedded (d,), with votes; if multi-label, each intent is asked about alone."""

    model: ExplainedModel
    votes: SolvedVotes
    embedding: FloatArray
    text: str

    @property
    def task(self) -> Task:
        """Whether an answer holds one intent, or any number of them."""
        return self.model.pipeline.task

    def question(self, column: int) -> tuple[Question, int, float | None]:
        """Return the question about an intent, the intent's column in it, and its limit.

        The limit is None where a fence does not use scores.
        """
        pipeline = self.model.pipeline
        calibration = pipeline.calibration
        voices = voices_of(pipeline.head, self.embedding[None])[0]
        if self.task == "single-label":
            limit = calibration.threshold if calibration.familiarity_measure is None else None
            return ask(self.votes, self.embedding, voices), column, limit
        alone = _alone(self.votes, column)
        own = float(calibration.limits(len(self.votes.head.intents))[column])
        return ask(alone, self.embedding, voices[[column]]), 0, own


def _alone(votes: SolvedVotes, column: int) -> SolvedVotes:
    """Return the votes for one intent, which is answered or not."""
    head, one = votes.head, [column]
    only = replace(
        head,
        intents=(head.intents[column],),
        targets=head.targets[:, one],
        weights=head.weights[:, one],
        prior=head.prior[one],
    )
    return replace(votes, head=only, solved=votes.solved[:, one])


def load_bearing_view(asked: AskedText, column: int) -> LoadBearing:
    """Find the examples whose removal would change the answer."""
    question, _, limit = asked.question(column)
    found = load_bearing(question, limit)
    examples = tuple(_example(asked.model.pipeline.exemplars[row]) for row in found.rows)
    intent = asked.votes.head.intents[column]
    after = _verdict(asked, found.after, intent)
    words = _load_words(len(examples), after, found.at_least, smallest=found.smallest)
    return LoadBearing(examples, after, found.smallest, found.at_least, words)


def _verdict(asked: AskedText, column: int, intent: str) -> str:
    if asked.task == "multi-label":
        return f"without {intent}" if column < 0 else f"with {intent}"
    return "out of scope" if column < 0 else asked.votes.head.intents[column]


def _load_words(n: int, after: str, at_least: int, *, smallest: bool) -> str:
    if not n:
        return "No small set of examples carries this answer: taking a few away does not change it."
    if n == 1:
        return f"One example carries this answer: without it, it would be {after}."
    proven = "no fewer do" if smallest else f"at least {at_least:,} are needed"
    return f"Without these {n:,} examples together it would be {after}; {proven}."


def why_not_view(asked: AskedText, column: int, behind: float) -> WhyNot:
    """Count the examples an intent needs to win the text; `behind` is the score that it lacks."""
    question, own, limit = asked.question(column)
    copies = copies_needed(question, own, limit)
    near, rows = _nearest_pool(asked)
    needed = examples_needed(question, rows, own, limit) if near else None
    intent = asked.votes.head.intents[column]
    return WhyNot(
        intent,
        behind,
        None if copies is None else copies.count,
        near[: needed.count] if needed is not None else (),
        _why_not_words(intent, copies, needed, looked=bool(near)),
    )


def _why_not_words(
    intent: str, copies: Needed | None, needed: Needed | None, *, looked: bool
) -> str:
    if copies is None:
        said = f"Not even 1,000 examples that say just this would make it {intent}."
    else:
        n = counted(copies.count, "example")
        said = f"{n} that {'says' if copies.count == 1 else 'say'} just this, labelled {intent}, "
        said += "would be enough."
    if not looked:
        return said
    if needed is None:
        return f"{said} The {_NEAREST} nearest unlabelled utterances, so labelled, would not."
    if needed.count == 1:
        return f"{said} So would the nearest unlabelled utterance, so labelled."
    return f"{said} So would the {needed.count} nearest unlabelled utterances, so labelled."


def _nearest_pool(asked: AskedText) -> tuple[tuple[Example, ...], FloatArray]:
    """Return the unlabelled utterances nearest to a text, but none with its match key."""
    nothing = np.zeros((0, len(asked.embedding)), np.float32)
    pool = asked.model.pool()
    if pool is None or not len(pool[0]):
        return (), nothing
    records, rows = pool
    order = np.argsort(-(rows @ asked.embedding), kind="stable")[: _NEAREST + _NAMED]
    own = match_key(asked.text)
    chosen = [row for row in order.tolist() if match_key(records[row].text) != own][:_NEAREST]
    examples = tuple(Example(records[row].id, records[row].text, ()) for row in chosen)
    return examples, rows[chosen] if chosen else nothing


def _example(exemplar: Exemplar) -> Example:
    return Example(exemplar.id, exemplar.text, exemplar.intents)
