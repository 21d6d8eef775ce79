"""Measure a trained pipeline: on its test split, or on texts it had not seen in training."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from core.heads.decision import probabilities
from core.metrics.calibration import expected_calibration_error
from core.metrics.classification import classification_report
from core.metrics.geometry import alignment, silhouette, uniformity
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
    """Judge a pipeline on labelled texts; one with several intents is right if any is named."""
    predictions = pipeline.predict([e.text for e in exemplars], embeddings)
    answers = [p.intent for p in predictions]
    confidences = np.array([p.ranked[0].probability for p in predictions])
    figures = _figures(_held_against(exemplars, answers), answers, confidences)
    return {**figures, "in_scope": _in_scope(predictions)}


def _judge_honest(result: RunResult, inputs: RunInputs) -> dict[str, Any]:
    asked = [inputs.exemplars[row] for row in result.honest_rows]
    names = result.pipeline.head.intents
    shares = probabilities(result.honest, result.pipeline.calibration)
    predicted = [names[j] for j in result.honest.argmax(1)]
    figures = _figures(_held_against(asked, predicted), predicted, shares.max(1))
    kept = result.honest.max(1) >= result.pipeline.calibration.threshold
    return {**figures, "in_scope": float(kept.mean()), "judged_on": result.judged_on}


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
        "per_intent": [
            {
                "intent": q.intent,
                "precision": q.precision,
                "recall": q.recall,
                "f1": q.f1,
                "support": q.support,
            }
            for q in report.intents
        ],
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
