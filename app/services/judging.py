"""Measure a trained pipeline: on its test split, or on texts it had not seen in training."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from core.heads.decision import probabilities
from core.metrics.calibration import expected_calibration_error
from core.metrics.classification import classification_report
from core.metrics.geometry import alignment, silhouette, uniformity
from core.metrics.multi_label import multi_label_report
from core.pipeline import IntentPipeline
from core.training.runs import RunInputs, RunResult
from core.types import Exemplar, FloatArray, Prediction

_CONFUSIONS = 20


def judge(result: RunResult, inputs: RunInputs, test: Sequence[Exemplar]) -> dict[str, Any]:
    """Return the figures of a run as JSON values.

    Without a test split the honest scores of the run are judged: those of training texts by heads
    (and encoders) that had not seen them.
    """
    shown = test or inputs.exemplars
    texts, labels = [e.text for e in shown], ["|".join(e.intents) for e in shown]
    before = inputs.embed(inputs.encoder, texts)
    after = inputs.embed(result.pipeline.encoder, texts)
    if test:
        figures = judge_exemplars(result.pipeline, test, after)
        figures["judged_on"] = f"test split of {len(test)} texts"
    else:
        figures = _judge_honest(result, inputs)
    return {
        **figures,
        "silhouette_before": silhouette(before, labels),
        "silhouette_after": silhouette(after, labels),
        **_geometry(after, labels),
    }


def judge_exemplars(
    pipeline: IntentPipeline, exemplars: Sequence[Exemplar], embeddings: FloatArray | None = None
) -> dict[str, Any]:
    """Judge a pipeline on labelled texts.

    Where it answers with one intent, a text with several is right if any of them is named.
    """
    predictions = pipeline.predict([e.text for e in exemplars], embeddings)
    if pipeline.task == "multi-label":
        return _many_figures(
            exemplars,
            [p.decision.intents for p in predictions],
            [{one.intent: one.probability for one in p.ranked} for p in predictions],
        )
    answers = [p.intent for p in predictions]
    confidences = np.array([p.ranked[0].probability for p in predictions])
    figures = _figures(_held_against(exemplars, answers), answers, confidences)
    return {**figures, "in_scope": _in_scope(predictions)}


def _judge_honest(result: RunResult, inputs: RunInputs) -> dict[str, Any]:
    asked = [inputs.exemplars[row] for row in result.honest_rows]
    names = result.pipeline.head.intents
    shares = probabilities(result.honest, result.pipeline.calibration)
    if result.pipeline.task == "multi-label":
        found = result.honest >= result.pipeline.calibration.limits(len(names))
        answers = [tuple(names[j] for j in np.flatnonzero(row)) for row in found]
        chances = [dict(zip(names, row.tolist(), strict=True)) for row in shares]
        return {**_many_figures(asked, answers, chances), "judged_on": result.judged_on}
    predicted = [names[j] for j in result.honest.argmax(1)]
    figures = _figures(_held_against(asked, predicted), predicted, shares.max(1))
    kept = result.honest.max(1) >= result.pipeline.calibration.threshold
    return {**figures, "in_scope": float(kept.mean()), "judged_on": result.judged_on}


def _many_figures(
    exemplars: Sequence[Exemplar],
    answers: Sequence[Sequence[str]],
    chances: Sequence[Mapping[str, float]],
) -> dict[str, Any]:
    """Judge answers of any number of intents; they are accurate when all and no others are found.

    The calibration is that of the intents that were answered.
    """
    report = multi_label_report([e.intents for e in exemplars], answers)
    named = [
        (e, name, of) for e, a, of in zip(exemplars, answers, chances, strict=True) for name in a
    ]
    confidences = np.array([of.get(name, 0.0) for _, name, of in named])
    right = np.array([name in e.intents for e, name, _ in named], dtype=bool)
    error = expected_calibration_error(confidences, right) if named else 0.0
    return {
        "accuracy": report.exact,
        "exact": report.exact,
        "micro_f1": report.micro_f1,
        "macro_f1": report.macro_f1,
        "none_recall": report.without_recall,
        "n_without_intent": report.n_without,
        "expected_calibration_error": error,
        "noise": float(np.sqrt(report.exact * (1 - report.exact) / report.n)),
        "n": report.n,
        "per_intent": [asdict(quality) for quality in report.intents],
    }


def _held_against(exemplars: Sequence[Exemplar], answers: Sequence[str]) -> list[str]:
    """Which intent each answer is judged by: itself where it is one of the text's, else the first.

    A text may have several intents, and naming any of them is right.
    """
    pairs = zip(exemplars, answers, strict=True)
    return [name if name in e.intents else (e.intents or ("none",))[0] for e, name in pairs]


def _figures(
    actual: Sequence[str], predicted: Sequence[str], confidences: np.ndarray[Any, Any]
) -> dict[str, Any]:
    report = classification_report(actual, predicted)
    right = np.array([a == p for a, p in zip(actual, predicted, strict=True)])
    return {
        "accuracy": report.accuracy,
        "macro_f1": report.macro_f1,
        "expected_calibration_error": expected_calibration_error(confidences, right),
        # One standard error of the accuracy: smaller differences are no differences.
        "noise": float(np.sqrt(report.accuracy * (1 - report.accuracy) / report.n)),
        "n": report.n,
        "per_intent": [asdict(quality) for quality in report.intents],
        "confusions": [
            {"actual": c.actual, "predicted": c.predicted, "count": c.count}
            for c in report.confusions[:_CONFUSIONS]
        ],
    }


def _in_scope(predictions: Sequence[Prediction]) -> float:
    return float(np.mean([not p.decision.out_of_scope for p in predictions]))


def _geometry(embeddings: FloatArray, labels: Sequence[str]) -> dict[str, float]:
    return {
        "uniformity": uniformity(embeddings),
        "alignment": alignment(embeddings, labels),
    }
