"""Evaluate a trained pipeline on its test split, or on held-out scores."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.calibration.calibration import Calibration, probabilities
from core.calibration.thresholds import fit_multi_label_calibration
from core.heads.folds import is_said
from core.heads.targets import target_matrix
from core.metrics.calibration import expected_calibration_error
from core.metrics.classification import IntentQuality, classification_report
from core.metrics.coverage import coverage
from core.metrics.geometry import alignment, silhouette, uniformity
from core.metrics.multi_label import multi_label_report
from core.pipeline import Answerer, LearnedTexts, learned_texts
from core.review.borderline import idle_words, select_borderline
from core.text import counted, label_words
from core.training.from_labels.inputs import RunInputs
from core.training.from_labels.runs import RunResult
from core.types import Exemplar, FloatArray, Prediction, ScoreArray

Embed = Callable[[list[str]], FloatArray | None]
"""Texts to embeddings, (n, d); None where the model that is judged embeds them itself."""

_CONFUSIONS = 20
_FOLDS = 5
_ENOUGH = 20
"""Fewest borderline texts for which an accuracy is reported."""


@dataclass(frozen=True, slots=True)
class UnlearnedTests:
    """Texts to judge by, without those that the model has learned.

    Attributes:
        left_out: How many were left out, for the model has learned a text of their wording.
        outside: Texts that a person labelled out of scope; none in multi-label projects.
    """

    texts: tuple[Exemplar, ...]
    left_out: int
    outside: tuple[str, ...] = ()

    def words(self) -> str:
        """Say what was left out: "; 3 texts that it has learned were left out", or nothing."""
        if not self.left_out:
            return ""
        was = "was" if self.left_out == 1 else "were"
        return f"; {counted(self.left_out, 'text')} that it has learned {was} left out"


def unlearned_tests(
    tests: Sequence[Exemplar], learned: LearnedTexts, outside: Sequence[str] = ()
) -> UnlearnedTests:
    """Leave out the texts that say the same as one that a model has learned."""
    texts = tuple(test for test in tests if test.text not in learned)
    refusable = tuple(text for text in outside if text not in learned)
    return UnlearnedTests(texts, len(tests) - len(texts), refusable)


def judge(result: RunResult, inputs: RunInputs, tests: UnlearnedTests) -> dict[str, Any]:
    """Return the measures of a run as JSON values.

    Without test texts, the run's held-out scores are evaluated: scores of training texts by heads
    (and encoders) that were trained without them.
    """
    said = is_said(inputs.exemplars)
    test = tests.texts
    shown = test or [e for e, judged in zip(inputs.exemplars, said, strict=True) if judged]
    texts, labels = [e.text for e in shown], ["|".join(e.intents) for e in shown]
    before = inputs.embed(inputs.encoder, texts)
    after = inputs.embed(result.pipeline.encoder, texts)
    if test:
        figures = judge_exemplars(result.pipeline, test, after)
        figures["judged_on"] = f"test set of {len(test):,} texts"
    else:
        figures = _judge_held_out(result, inputs)
    figures["judged_on"] += tests.words()
    figures["left_out"] = tests.left_out
    if result.held_out.n_learned:
        figures["base_learned"] = result.held_out.n_learned
    if tests.outside:
        outside = list(tests.outside)
        embedded = inputs.embed(result.pipeline.encoder, outside)
        figures |= outside_figures(result.pipeline, outside, embedded)
    # Texts with several intents or none belong to no cluster.
    alone = np.array([len(e.intents) == 1 for e in shown], dtype=bool)
    names = [label for label, is_alone in zip(labels, alone, strict=True) if is_alone]
    return {
        **figures,
        "silhouette_before": silhouette(before[alone], names),
        "silhouette_after": silhouette(after[alone], names),
        "uniformity": uniformity(after),
        "alignment": alignment(after[alone], names),
    }


def judge_exemplars(
    model: Answerer, exemplars: Sequence[Exemplar], embeddings: FloatArray | None = None
) -> dict[str, Any]:
    """Evaluate a model on labelled texts.

    Single-label: the accuracy counts top-ranked intents that are one of the text's labels, and
    `answered_right` leaves out those that are refused as out of scope. Multi-label: an answer is
    right if its intents equal the labels.
    """
    predictions = model.predict([e.text for e in exemplars], embeddings)
    if model.task == "multi-label":
        return _judge_sets(exemplars, predictions, model.intents)
    answers = [p.intent for p in predictions]
    confidences = np.array([p.ranked[0].probability for p in predictions])
    held = _held_against(exemplars, answers)
    names = model.intents
    figures = _figures(held, answers, confidences, names)
    hard = borderline_figures([e.text for e in exemplars], held, answers, names)
    kept = [not prediction.decision.out_of_scope for prediction in predictions]
    return {**figures, **hard, **_refusals(kept, held, answers)}


def tests_for(model: Answerer, labelled: Sequence[Exemplar]) -> UnlearnedTests:
    """Return the texts that can test a model, those that fit no intent told apart."""
    every = every_test(model, labelled)
    return unlearned_tests(every.texts, learned_texts(model), every.outside)


def every_test(model: Answerer, labelled: Sequence[Exemplar]) -> UnlearnedTests:
    """Return the same with the texts that the model has learned."""
    may_lack_intents = model.task == "multi-label"
    inside = tuple(one for one in labelled if one.intents or may_lack_intents)
    outside = () if may_lack_intents else tuple(one.text for one in labelled if not one.intents)
    return UnlearnedTests(inside, 0, outside)


def judge_tests(
    model: Answerer, tests: UnlearnedTests, embed: Embed | None = None
) -> dict[str, Any]:
    """Evaluate a model on texts with an intent, if any, and on texts that fit none, if any."""
    figures = dict[str, Any]()
    if tests.texts:
        rows = embed and embed([one.text for one in tests.texts])
        figures = judge_exemplars(model, tests.texts, rows)
    outside = list(tests.outside)
    return figures | outside_figures(model, outside, embed and embed(outside))


def outside_figures(
    model: Answerer, texts: Sequence[str], embeddings: FloatArray | None = None
) -> dict[str, Any]:
    """Measure which share of the texts that fit no intent is refused; empty without a text."""
    if not texts:
        return {}
    refused = [one.decision.out_of_scope for one in model.predict(texts, embeddings)]
    return {"outside_n": len(refused), "kept_out": float(np.mean(refused))}


def borderline_figures(
    texts: Sequence[str], actual: Sequence[str], predicted: Sequence[str], names: Sequence[str]
) -> dict[str, Any]:
    """Return the accuracy on texts that share words with wrong intent names only; {} below 20."""
    known = set(names)
    rows = [row for row, name in enumerate(actual) if name in known]
    said, right = [texts[r] for r in rows], [actual[r] for r in rows]
    found = select_borderline(said, right, names, idle_words(said, right))
    hard = [rows[row] for row in found.rows]
    if len(hard) < _ENOUGH:
        return {}
    hits = [actual[row] == predicted[row] for row in hard]
    return {"borderline_accuracy": float(np.mean(hits)), "borderline_n": len(hard)}


def _judge_sets(
    exemplars: Sequence[Exemplar], predictions: Sequence[Prediction], names: Sequence[str]
) -> dict[str, Any]:
    pairs = zip(exemplars, predictions, strict=True)
    marks = [(one.probability, one.intent in e.intents) for e, p in pairs for one in p.ranked]
    confidences, right = map(np.array, zip(*marks, strict=True))
    answers = [p.decision.intents for p in predictions]
    figures = _set_figures([e.intents for e in exemplars], answers, names)
    return {**figures, "expected_calibration_error": expected_calibration_error(confidences, right)}


def _judge_held_out(result: RunResult, inputs: RunInputs) -> dict[str, Any]:
    asked = [inputs.exemplars[row] for row in result.held_out.rows]
    names = result.pipeline.head.intents
    shares = probabilities(result.held_out.scores, result.pipeline.calibration)
    if inputs.task == "multi-label":
        return _judge_held_out_sets(result, asked, shares)
    predicted = [names[j] for j in result.held_out.scores.argmax(1)]
    held = _held_against(asked, predicted)
    figures = _figures(held, predicted, shares.max(1), names)
    figures |= borderline_figures([e.text for e in asked], held, predicted, names)
    kept = result.held_out.scores.max(1) >= result.pipeline.calibration.threshold
    figures |= _refusals(kept.tolist(), held, predicted)
    return {**figures, "judged_on": result.held_out.judged_on}


def _judge_held_out_sets(
    result: RunResult, asked: Sequence[Exemplar], shares: ScoreArray
) -> dict[str, Any]:
    names = result.pipeline.head.intents
    targets = target_matrix([exemplar.intents for exemplar in asked], names)
    chosen = _held_out_answers(result.held_out.scores, targets, result.pipeline.calibration)
    answers = [tuple(names[j] for j in np.flatnonzero(row)) for row in chosen]
    error = expected_calibration_error(shares.ravel(), targets.ravel() > 0)
    figures = _set_figures([e.intents for e in asked], answers, names)
    return {**figures, "expected_calibration_error": error, "judged_on": result.held_out.judged_on}


def _held_out_answers(
    scores: ScoreArray, targets: ScoreArray, calibration: Calibration
) -> NDArray[np.bool_]:
    """Answer each text by thresholds chosen without it (cross-validation); (n, intents) bool."""
    order = np.random.default_rng(0).permutation(len(scores))
    folds = [part for part in np.array_split(order, _FOLDS) if 0 < len(part) < len(scores)]
    if not calibration.thresholds or not folds:
        return np.asarray(scores >= calibration.limits(scores.shape[1]))
    answers = np.zeros(scores.shape, dtype=bool)
    for fold in folds:
        seen = np.setdiff1d(np.arange(len(scores)), fold)
        others = fit_multi_label_calibration(scores[seen], targets[seen])
        answers[fold] = scores[fold] >= others.limits(scores.shape[1])
    return answers


def _held_against(exemplars: Sequence[Exemplar], answers: Sequence[str]) -> list[str]:
    """Return the intent that each answer is compared with: itself if it is a label, else the first.

    A text may have several labels, and any of them is right.
    """
    pairs = zip(exemplars, answers, strict=True)
    return [name if name in e.intents else e.intents[0] for e, name in pairs]


def _figures(
    actual: Sequence[str],
    predicted: Sequence[str],
    confidences: np.ndarray[Any, Any],
    names: Sequence[str],
) -> dict[str, Any]:
    """Return single-label measures; `names` are the intents that the model knows."""
    report = classification_report(actual, predicted)
    right = np.array([a == p for a, p in zip(actual, predicted, strict=True)])
    return {
        "accuracy": report.accuracy,
        "macro_f1": report.macro_f1,
        **coverage(report.intents, names),
        "expected_calibration_error": expected_calibration_error(confidences, right),
        "noise": _noise(report.accuracy, report.n),
        "n": report.n,
        "per_intent": _per_intent(report.intents),
        "confusions": [
            {"actual": c.actual, "predicted": c.predicted, "count": c.count}
            for c in report.confusions[:_CONFUSIONS]
        ],
    }


def _set_figures(
    actual: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]], names: Sequence[str]
) -> dict[str, Any]:
    """Return multi-label measures; the accuracy is the share of exact matches.

    `names` are the intents that the model knows.
    """
    report = multi_label_report(actual, predicted)
    pairs = zip(map(_in_words, actual), map(_in_words, predicted), strict=True)
    wrong = Counter((a, p) for a, p in pairs if a != p)
    ranked = sorted(wrong.items(), key=lambda item: (-item[1], item[0]))
    return {
        "task": "multi-label",
        "accuracy": report.exact,
        "exact": report.exact,
        "micro_f1": report.micro_f1,
        "macro_f1": report.macro_f1,
        **coverage(report.intents, names),
        "noise": _noise(report.exact, report.n),
        "n": report.n,
        "n_without_intent": report.n_without,
        "none_recall": report.without_recall if report.n_without else None,
        "per_intent": _per_intent(report.intents),
        "confusions": [
            {"actual": a, "predicted": p, "count": count} for (a, p), count in ranked[:_CONFUSIONS]
        ],
    }


def _in_words(intents: Sequence[str]) -> str:
    return label_words(sorted(intents), "multi-label")


def _noise(accuracy: float, n: int) -> float:
    """Return one standard error of an accuracy; smaller differences are not significant."""
    return float(np.sqrt(accuracy * (1 - accuracy) / n))


def _per_intent(intents: Sequence[IntentQuality]) -> list[dict[str, Any]]:
    return [
        {
            "intent": q.intent,
            "precision": q.precision,
            "recall": q.recall,
            "f1": q.f1,
            "support": q.support,
        }
        for q in intents
    ]


def _refusals(
    kept: Sequence[bool], actual: Sequence[str], predicted: Sequence[str]
) -> dict[str, float]:
    """Return the shares of texts that are answered at all, and that are answered rightly."""
    right = [k and a == p for k, a, p in zip(kept, actual, predicted, strict=True)]
    return {"in_scope": float(np.mean(kept)), "answered_right": float(np.mean(right))}
