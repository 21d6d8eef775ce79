"""Evaluate a model version again on present labelled texts, for its report."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from app.services.embedding import embed_texts
from app.services.explaining.explained_model import ExplainedModel
from app.services.studio import Studio
from core.calibration.calibration import probabilities
from core.heads.folds import left_with_source, said_rows, sources_of
from core.heads.mixture import voices_of, without_names
from core.heads.votes.fit import VoteHead, leave_one_out
from core.pipeline import IntentPipeline, learned_texts
from core.types import Exemplar, ScoreArray, Task
from storage.queries import dataset

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

    `outside` tells whether each text without intent was rejected; these are of the test set, or
    without any, as `outside_known` says, of the texts that the line for out of scope may have been
    set by. `bins` are as in `Bin`.
    """

    answers: tuple[JudgedText, ...]
    outside: tuple[bool, ...]
    basis: str
    bins: tuple["Bin", ...] = ()
    outside_known: bool = False

    @property
    def on_tests(self) -> bool:
        """Whether the answers are to test texts; else they are to examples without their votes."""
        return self.basis.startswith("the test")


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


@dataclass(frozen=True, slots=True)
class IntentFigures:
    """How many texts an intent has, how many of them are found, how many are answered with it."""

    support: int
    found: int
    said: int

    @property
    def recall(self) -> float | None:
        """Share of its texts that are answered with it; None without texts."""
        return self.found / self.support if self.support else None

    @property
    def precision(self) -> float | None:
        """Share of the answers with it that are right; None where it is never said."""
        return self.found / self.said if self.said else None


_Marked = tuple[list[JudgedText], tuple[Bin, ...]]


def judge_again(studio: Studio, model: ExplainedModel) -> JudgedVersion:
    """Evaluate a model version on the present test set or, without one, by leave-one-out."""
    if model.project is None or model.version is None:
        return JudgedVersion((), (), "")
    tests = _unlearned(studio, model, "test")
    outside, is_known = _judge_outside(studio, model, tests)
    judged = _judge(studio, model, tests)
    if not judged.answers:
        left_out, bins = _left_out(model)
        basis = f"{len(left_out):,} examples, each answered by all the others"
        judged = JudgedVersion(tuple(left_out), (), basis if left_out else "", bins)
    return replace(judged, outside=outside, outside_known=is_known)


def judge_on_tests(studio: Studio, model: ExplainedModel) -> JudgedVersion:
    """Evaluate a model version on the present test set alone; without one there are no answers."""
    return _judge(studio, model, _unlearned(studio, model, "test"))


def _judge(studio: Studio, model: ExplainedModel, fresh: Sequence[Exemplar]) -> JudgedVersion:
    several = model.pipeline.task == "multi-label"
    tests = [one for one in fresh if several or one.intents]
    found, bins = _answers(studio, model, tests)
    basis = f"the test texts of today, {len(tests):,} in all" if tests else ""
    return JudgedVersion(tuple(found), (), basis, bins)


def _judge_outside(
    studio: Studio, model: ExplainedModel, fresh: Sequence[Exemplar]
) -> tuple[tuple[bool, ...], bool]:
    """Tell which texts labelled out of scope are refused: of the test set, else of all.

    The second value is whether they are not of the test set. Of several intents, examples may have
    none: each is answered by all the others.
    """
    tests = [one for one in fresh if not one.intents]
    asked = tests or [one for one in _unlearned(studio, model, None) if not one.intents]
    refused = [one.refused for one in _answers(studio, model, asked)[0]]
    if not tests and any(not one.intents for one in model.pipeline.exemplars):
        refused += [one.refused for one in _left_out(model)[0] if not one.expected]
    return tuple(refused), bool(refused) and not tests


def _unlearned(studio: Studio, model: ExplainedModel, split: str | None) -> list[Exemplar]:
    """Return labelled texts, with present names, that a version has not learned."""
    if model.project is None:
        return []
    learned = learned_texts(model.pipeline)
    with studio.database.read() as connection:
        names = dataset.intent_names(connection, model.project.id)
        return [
            Exemplar(row.id, row.text, tuple(sorted(names[key] for key in row.labels)))
            for row in dataset.utterances(connection, model.project.id, split)
            if row.labels is not None and row.text not in learned
        ]


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
        familiarity = measure.left_out(left_out, rows, sources)
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


def figures_by_intent(answers: Sequence[JudgedText], task: Task) -> dict[str, IntentFigures]:
    """Count answers by intent, as they are given: a text that is refused is not found.

    A single answer is held against the label that it names, else against the first one.
    """
    support, found, said = Counter[str](), Counter[str](), Counter[str]()
    for one in answers:
        given = () if task == "single-label" and one.refused else one.said
        hits = [name for name in given if name in one.expected]
        wanted = one.expected
        if task == "single-label":
            wanted = tuple(name for name in one.said if name in one.expected) or one.expected[:1]
        support.update(wanted)
        found.update(hits)
        said.update(given)
    names = support.keys() | said.keys()
    return {name: IntentFigures(support[name], found[name], said[name]) for name in names}


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
