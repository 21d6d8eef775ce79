"""What would change an answer: examples to remove, or examples that another intent needs."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from app.services.explaining.explained_model import ExplainedModel, UnlabelledTexts
from app.services.explaining.views import Example, LoadBearing, WhyNot
from core.explain.load_bearing import (
    Needed,
    copies_needed,
    examples_needed,
    load_bearing,
)
from core.explain.one_text import Question, ask
from core.explain.solved_votes import SolvedVotes
from core.heads.mixture import voices_of
from core.pipeline import IntentPipeline, said_by
from core.review.outvoted import outvoted
from core.text import counted, match_key
from core.types import FloatArray, Task
from core.vectors import nearest

_NEAREST = 30
_LOOKED_AT = 300
"""This many unlabelled texts nearest to a text are asked whether they speak for an intent."""

_NEIGHBOURS = 5
_NEAR_TIE = 0.05
"""Up to this difference of scores two intents are nearly tied."""

_BY_LABEL = "The answer is the label of just this text, so it rests on no other example."


@dataclass(frozen=True, slots=True, eq=False)
class AskedText:
    """A text, embedded (d,), with votes; if multi-label, each intent is asked about alone.

    `speaking` are the intents that could be meant by it. `label` is the answer where an example
    with just these words gives it, whatever the votes say; None where votes decide.
    """

    model: ExplainedModel
    votes: SolvedVotes
    embedding: FloatArray
    text: str
    speaking: frozenset[str]
    label: str | None = None

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
        own = float(calibration.limits(len(self.votes.head.intents))[column])
        if self.task == "single-label":  # `has_one_limit`: it is that of all
            limit = own if calibration.familiarity_measure is None else None
            return ask(self.votes, self.embedding, voices), column, limit
        alone = _alone(self.votes, column)
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
    """Find the examples whose removal would change the answer; none of a text with a label."""
    if asked.label is not None:
        return LoadBearing((), asked.label, smallest=False, at_least=1, words=_BY_LABEL)
    question, _, limit = asked.question(column)
    found = load_bearing(question, limit)
    examples = shown_examples(asked.model.pipeline, found.rows)
    intent = asked.votes.head.intents[column]
    after = _verdict(asked, found.after, intent)
    is_named = asked.task == "multi-label" or found.after < 0 or after in asked.speaking
    words = _load_words(len(examples), after if is_named else "another intent")
    is_told_by_name = asked.task == "single-label" and found.before >= 0
    if is_told_by_name and _lack_all_of(asked, column, found.rows):
        words = _name_words(examples, intent)
    return LoadBearing(examples, after, found.smallest, found.at_least, words)


def _lack_all_of(asked: AskedText, column: int, rows: Sequence[int]) -> bool:
    """Whether without some examples an intent of a project has none left: its name speaks then.

    Where it has none as it is, its name speaks already.
    """
    own = asked.votes.head.targets[:, column]
    left = np.delete(own, rows)
    return asked.model.project is not None and bool(own.any()) and not left.any()


def _name_words(examples: Sequence[Example], intent: str) -> str:
    """Say that without some examples, which may be of others, too, an intent has its name alone."""
    n = counted(len(examples), "example")
    which = "all" if all(intent in one.intents for one in examples) else "among them all"
    return f"The answer rests on {n}, {which} that {intent} has: only its name would be left."


def _verdict(asked: AskedText, column: int, intent: str) -> str:
    if asked.task == "multi-label":
        return f"without {intent}" if column < 0 else f"with {intent}"
    return "out of scope" if column < 0 else asked.votes.head.intents[column]


def _load_words(n: int, after: str) -> str:
    """Say what the answer would be without n examples."""
    if not n:
        return "No small group of examples was found without which the answer would change."
    them = "it" if n == 1 else "them"
    return f"The answer rests on {counted(n, 'example')}: without {them} it would be {after}."


def why_not_view(asked: AskedText, column: int, behind: float) -> WhyNot:
    """Count the examples an intent needs to win the text; `behind` is the score that it lacks.

    Of the unlabelled texts only those are named that speak for the intent themselves.
    """
    question, own, limit = asked.question(column)
    copies = _copies(asked, question, own, limit)
    pool = asked.model.pool()
    near, rows = _nearest_speaking(asked, column, pool)
    is_voted = asked.label is None  # else no label of another text changes the answer
    needed = examples_needed(question, rows, own, limit) if near and is_voted else None
    intent = asked.votes.head.intents[column]
    speaks = intent in asked.speaking
    is_near = speaks and is_voted and behind <= _NEAR_TIE
    words = _why_not_words(intent, copies, needed, is_near=is_near)
    return WhyNot(
        intent,
        behind,
        copies,
        near[: needed.count] if needed is not None else (),
        words if speaks else f"Hardly any similar example is labelled {intent}. {words}",
        adds=is_near and copies == 1,
        revision=0 if pool is None else pool.revision,
    )


def _copies(asked: AskedText, question: Question, own: int, limit: float | None) -> int | None:
    """Count the examples with a text's words that would do; None: not even 1,000.

    One does, for it decides alone. Where an example has the words with another label, the two
    contradict each other, and the votes decide.
    """
    pipeline = asked.model.pipeline
    if asked.text not in said_by(pipeline.exemplars, pipeline.exact):
        return 1
    found = copies_needed(question, own, limit)
    return None if found is None else found.count


def _why_not_words(intent: str, copies: int | None, needed: Needed | None, *, is_near: bool) -> str:
    if copies is None:
        said = f"By votes alone, not even 1,000 more examples of these words make it {intent}."
    elif copies == 1:
        tie = "A near tie. " if is_near else ""
        said = f"{tie}Adding this text to {intent} would make that the answer."
    else:
        n = counted(copies, "more example")
        said = f"By votes alone, it would take {n} of these words to make it {intent}."
    if needed is None:
        return said
    if needed.count == 1:
        return f"{said} Labelling this unlabelled text {intent} would be enough."
    n_texts = counted(needed.count, "unlabelled text")
    return f"{said} Labelling these {n_texts} {intent} would be enough."


def _nearest_speaking(
    asked: AskedText, column: int, pool: UnlabelledTexts | None
) -> tuple[tuple[Example, ...], FloatArray]:
    """Return the nearest unlabelled texts that speak for an intent, but none with the match key."""
    nothing = np.zeros((0, len(asked.embedding)), np.float32)
    if pool is None or not len(pool.records):
        return (), nothing
    records, rows = pool.records, pool.embeddings
    order = np.argsort(-(rows @ asked.embedding), kind="stable")[:_LOOKED_AT]
    order = order[_speak_for(asked, column, rows[order])]
    own = match_key(asked.text)
    chosen = [row for row in order.tolist() if match_key(records[row].text) != own][:_NEAREST]
    examples = tuple(Example(records[row].id, records[row].text, ()) for row in chosen)
    return examples, rows[chosen] if chosen else nothing


def _speak_for(asked: AskedText, column: int, rows: FloatArray) -> NDArray[np.bool_]:
    """Return which texts, as unit rows (n, d), the model and their neighbours take for an intent.

    More than half of a text's nearest examples must be labelled so: five, or all of the intent.
    """
    pipeline = asked.model.pipeline
    intent = asked.votes.head.intents[column]
    labelled = np.array([intent in exemplar.intents for exemplar in pipeline.exemplars])
    n_near = min(_NEIGHBOURS, int(labelled.sum()))
    if n_near == 0:
        return np.zeros(len(rows), dtype=bool)
    scores = pipeline.head.scores(rows)
    if asked.task == "multi-label":
        answered = scores[:, column] >= pipeline.calibration.limits(scores.shape[1])[column]
    else:
        answered = scores.argmax(1) == column
    cosines = (rows @ pipeline.embeddings.T).astype(np.float64)
    agree = labelled[nearest(cosines, n_near)].mean(1) > 0.5
    return np.asarray(answered & agree)


def shown_examples(pipeline: IntentPipeline, rows: Sequence[int]) -> tuple[Example, ...]:
    """Return examples of a model, with the label that their neighbours have where it is another."""
    labels = [exemplar.intents for exemplar in pipeline.exemplars]
    others = outvoted(pipeline.embeddings, labels, rows)
    chosen = [(row, pipeline.exemplars[row]) for row in rows]
    return tuple(Example(e.id, e.text, e.intents, others.get(row, ())) for row, e in chosen)
