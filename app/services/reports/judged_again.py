"""Evaluate a model version again on present labelled texts, for its report."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.services.embedding import embed_texts
from app.services.explaining.explained_model import ExplainedModel
from app.services.studio import Studio
from core.calibration.calibration import probabilities
from core.calibration.fence import signals_left_out
from core.heads.folds import left_with_source, said_rows, sources_of
from core.heads.mixture import voices_of, without_names
from core.heads.votes.fit import VoteHead, leave_one_out
from core.pipeline import IntentPipeline
from core.text import match_key
from core.types import Exemplar, ScoreArray
from storage import projects
from storage.queries import dataset
from storage.records import UtteranceRecord

_BINS = 10


@dataclass(frozen=True, slots=True)
class JudgedText:
    """A text with its label and an answer, in present names.

    A multi-label answer is right if it is exactly the label, another if its intent is in the label.
    `confidence` is the probability of the highest ranked intent.
    """

    text: str
    expected: tuple[str, ...]
    said: tuple[str, ...]
    confidence: float
    right: bool
    refused: bool


@dataclass(frozen=True, slots=True)
class JudgedVersion:
    """Answers on which a model version is evaluated.

    `outside` tells whether each text without intent was rejected, for single-label projects; `bins`
    are as in `Bin`.
    """

    answers: tuple[JudgedText, ...]
    outside: tuple[bool, ...]
    basis: str
    bins: tuple["Bin", ...] = ()


@dataclass(frozen=True, slots=True)
class Bin:
    """Answers with confidence from `low` to `high`, or pairs of text and intent by probability.

    `confidence` is their mean confidence, `right` the share that was right, `n` their number.
    """

    low: float
    high: float
    confidence: float
    right: float
    n: int


_Marked = tuple[list[JudgedText], tuple[Bin, ...]]


def judge_again(studio: Studio, model: ExplainedModel) -> JudgedVersion:
    """Evaluate a model version on the present test set or, without one, by leave-one-out."""
    if model.project is None or model.version is None:
        return JudgedVersion((), (), "")
    with studio.database.read() as connection:
        project = projects.get(connection, model.project.id)
        names = {one.id: one.name for one in dataset.intents(connection, project.id)}
        rows = [row for row in dataset.utterances(connection, project.id) if row.labels is not None]
    seen = {match_key(exemplar.text) for exemplar in model.pipeline.exemplars}
    fresh = [row for row in rows if match_key(row.text) not in seen]
    tests = [_exemplar(row, names) for row in fresh if row.split == "test"]
    if project.task == "single-label":
        tests = [one for one in tests if one.intents]
        unlike = [row for row in fresh if not row.labels]
        of_tests = [row for row in unlike if row.split == "test"]
        nothing = [_exemplar(row, names) for row in of_tests or unlike]
        outside = tuple(one.refused for one in _answers(studio, model, nothing)[0])
    else:
        outside = ()
    if tests:
        found, bins = _answers(studio, model, tests)
        basis = f"the test set as it is now, {len(tests):,} texts"
        return JudgedVersion(tuple(found), outside, basis, bins)
    left_out, bins = _left_out(model)
    basis = f"{len(left_out):,} examples, each answered by the votes of the others"
    return JudgedVersion(tuple(left_out), outside, basis if left_out else "", bins)


def _exemplar(row: UtteranceRecord, names: dict[str, str]) -> Exemplar:
    labels = tuple(sorted(names[key] for key in row.labels or ()))
    return Exemplar(row.id, row.text, labels)


def _answers(studio: Studio, model: ExplainedModel, asked: Sequence[Exemplar]) -> _Marked:
    if not asked:
        return [], ()
    pipeline = model.pipeline
    texts = [one.text for one in asked]
    rows = embed_texts(studio.database, pipeline.encoder, texts)
    scores = pipeline.head.scores(rows)
    return _marked(pipeline, asked, (scores, pipeline.calibration.familiarity(rows, scores)))


def _left_out(model: ExplainedModel) -> _Marked:
    """Answer each example by the others, in closed form, without its own label.

    Synthetic examples are not evaluated, and do not vote on their source.
    """
    pipeline = model.pipeline
    head = without_names(pipeline.head)
    if not isinstance(head, VoteHead) or head.carriers is not None:
        return [], ()
    sources = sources_of(pipeline.exemplars)
    rows = said_rows(sources)
    asked = [
        Exemplar(one.id, one.text, one.intents) for one in (pipeline.exemplars[row] for row in rows)
    ]
    scores = left_with_source(head, leave_one_out(head), sources)
    scores += voices_of(pipeline.head, pipeline.embeddings)
    left_out, measure = scores[rows], pipeline.calibration.familiarity_measure
    familiarity = left_out.max(1)
    if measure is not None:
        familiarity = measure.fence.familiarity(
            signals_left_out(measure.shapes, left_out, rows, sources)
        )
    return _marked(pipeline, asked, (left_out, familiarity))


def _marked(
    pipeline: IntentPipeline,
    asked: Sequence[Exemplar],
    measured: tuple[ScoreArray, ScoreArray],
) -> _Marked:
    """Compare answers, by scores (n, intents) and familiarity (n,), with labels."""
    scores, familiar = measured
    names = list(pipeline.head.intents)
    task = pipeline.task
    shares = probabilities(scores, pipeline.calibration)
    limits = pipeline.calibration.limits(len(names))
    chosen = scores >= limits
    found = []
    for row, one in enumerate(asked):
        best = int(scores[row].argmax())
        said: tuple[str, ...] = (names[best],)
        right = names[best] in one.intents
        if task == "multi-label":
            said = tuple(names[column] for column in np.flatnonzero(chosen[row]).tolist())
            right = set(said) == set(one.intents)
        refused = not chosen[row].any() if task == "multi-label" else familiar[row] < limits[best]
        found.append(
            JudgedText(one.text, one.intents, said, float(shares[row, best]), right, bool(refused))
        )
    if task == "multi-label":
        return found, _pair_bins(shares, asked, names)
    return found, calibration_bins(found)


def calibration_bins(answers: Sequence[JudgedText]) -> tuple[Bin, ...]:
    """Group single-label answers by confidence."""
    sure, right = [one.confidence for one in answers], [one.right for one in answers]
    return _bins(np.array(sure, dtype=np.float64), np.array(right, dtype=bool))


def _pair_bins(
    shares: ScoreArray, asked: Sequence[Exemplar], names: Sequence[str]
) -> tuple[Bin, ...]:
    has = np.array([[name in one.intents for name in names] for one in asked], dtype=bool)
    return _bins(shares.ravel(), has.ravel())


def _bins(sure: ScoreArray, right: NDArray[np.bool_]) -> tuple[Bin, ...]:
    """Group by confidence (n,) into tenths, leaving out empty ones."""
    steps = np.minimum((sure * _BINS).astype(np.int64), _BINS - 1)
    return tuple(
        Bin(
            step / _BINS,
            (step + 1) / _BINS,
            float(sure[steps == step].mean()),
            float(right[steps == step].mean()),
            int((steps == step).sum()),
        )
        for step in np.unique(steps).tolist()
    )
