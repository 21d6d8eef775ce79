"""Texts whose right answer is known, with what a model version says of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from app.services.comparing import names_since
from app.services.embedding import embed_texts
from app.services.studio import Studio
from app.services.subjects import Subject
from core.heads.decision import probabilities
from core.text import match_key
from core.types import Exemplar, ScoreArray, Task
from storage import dataset, projects
from storage.records import UtteranceRecord

_BINS = 10


@dataclass(frozen=True, slots=True)
class Answered:
    """A text with its label and an answer, in the names of now.

    Attributes:
        text: What was asked.
        expected: Its label.
        said: The answer: the highest ranked intent, or all those of a multi-label answer.
        confidence: Probability of the highest ranked intent.
        right: Whether the answer is one of its labels, or just these.
        refused: Whether it would be answered with no intent.
    """

    text: str
    expected: tuple[str, ...]
    said: tuple[str, ...]
    confidence: float
    right: bool
    refused: bool


@dataclass(frozen=True, slots=True)
class Judged:
    """Answers to the texts that a model version can be judged by.

    Attributes:
        answers: Of texts in scope.
        outside: Whether each text that has no intent was refused; for one intent a text.
        basis: What the texts are, in words.
    """

    answers: tuple[Answered, ...]
    outside: tuple[bool, ...]
    basis: str


@dataclass(frozen=True, slots=True)
class Bin:
    """Answers of about one confidence.

    Attributes:
        low: From which confidence.
        high: To which.
        confidence: Their mean confidence.
        right: Share that was right.
        n: How many.
    """

    low: float
    high: float
    confidence: float
    right: float
    n: int


def judge_again(studio: Studio, subject: Subject) -> Judged:
    """Let a model version answer the test split as it is now, or else each example left out."""
    if subject.project is None or subject.version is None:
        return Judged((), (), "")
    with studio.database.read() as connection:
        project = projects.get(connection, subject.project.id)
        names = {one.id: one.name for one in dataset.intents(connection, project.id)}
        renamed = names_since(connection, project.id, subject.version.dataset_version_id)
        rows = [row for row in dataset.utterances(connection, project.id) if row.labels is not None]
    seen = {match_key(exemplar.text) for exemplar in subject.pipeline.exemplars}
    fresh = [row for row in rows if match_key(row.text) not in seen]
    tests = [_exemplar(row, names) for row in fresh if row.split == "test"]
    if project.task == "single-label":
        tests = [one for one in tests if one.intents]
        nothing = [_exemplar(row, names) for row in fresh if not row.labels]
        outside = tuple(one.refused for one in _answers(studio, subject, nothing, renamed))
    else:
        outside = ()
    if tests:
        found = _answers(studio, subject, tests, renamed)
        return Judged(tuple(found), outside, f"the test split as it is now, {len(tests):,} texts")
    left_out = _left_out(subject, renamed)
    basis = f"{len(left_out):,} examples, each answered by the votes of the others"
    return Judged(tuple(left_out), outside, basis if left_out else "")


def _exemplar(row: UtteranceRecord, names: dict[str, str]) -> Exemplar:
    labels = tuple(sorted(names[key] for key in row.labels or ()))
    return Exemplar(row.id, row.text, labels)


def _answers(
    studio: Studio, subject: Subject, asked: Sequence[Exemplar], renamed: dict[str, str]
) -> list[Answered]:
    if not asked:
        return []
    pipeline = subject.pipeline
    texts = [one.text for one in asked]
    rows = embed_texts(studio.database, pipeline.encoder, texts)
    return _marked(pipeline, asked, pipeline.head.scores(rows), renamed)


def _left_out(subject: Subject, renamed: dict[str, str]) -> list[Answered]:
    """Answer each example by the others, in closed form; its own label has no say."""
    from core.heads.votes import leave_one_out

    pipeline = subject.pipeline
    if pipeline.head.kind != "votes" or pipeline.head.carriers is not None:
        return []
    asked = [
        Exemplar(one.id, one.text, tuple(renamed.get(name, name) for name in one.intents))
        for one in pipeline.exemplars
    ]
    return _marked(pipeline, asked, leave_one_out(pipeline.head), renamed)


def _marked(
    pipeline: Any, asked: Sequence[Exemplar], scores: ScoreArray, renamed: dict[str, str]
) -> list[Answered]:
    """Hold answers by scores (n, intents) against labels."""
    names = [renamed.get(name, name) for name in pipeline.head.intents]
    task: Task = pipeline.task
    shares = probabilities(scores, pipeline.calibration)
    chosen = scores >= pipeline.calibration.limits(len(names))
    found = []
    for row, one in enumerate(asked):
        best = int(scores[row].argmax())
        said = (names[best],)
        right = names[best] in one.intents
        if task == "multi-label":
            said = tuple(names[column] for column in np.flatnonzero(chosen[row]).tolist())
            right = set(said) == set(one.intents)
        refused = not chosen[row].any() if task == "multi-label" else not chosen[row, best]
        found.append(
            Answered(one.text, one.intents, said, float(shares[row, best]), right, bool(refused))
        )
    return found


def calibration_bins(answers: Sequence[Answered]) -> tuple[Bin, ...]:
    """Group answers by how sure they are; where one intent is answered."""
    bins = []
    for step in range(_BINS):
        low, high = step / _BINS, (step + 1) / _BINS
        inside = [
            one for one in answers if low <= one.confidence < high or one.confidence == high == 1.0
        ]
        if inside:
            sure = float(np.mean([one.confidence for one in inside]))
            right = float(np.mean([one.right for one in inside]))
            bins.append(Bin(low, high, sure, right, len(inside)))
    return tuple(bins)
