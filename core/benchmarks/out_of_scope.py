"""Benchmark of the fence: how well it separates texts in scope from texts out of scope."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np

from core.benchmarks.inputs import LabelledTexts, Watch, peak_mb
from core.calibration.fence import (
    Fence,
    IntentShapes,
    fit_fence,
    fit_intent_shapes,
    signals,
    signals_left_out,
    with_limit,
)
from core.encoders.base import Encoder
from core.metrics.out_of_scope import auroc, fpr_at_95
from core.recipes.labels import AnyModelRecipe
from core.training.events import drain
from core.training.from_labels.inputs import RunInputs, exemplar_targets
from core.training.from_labels.runs import RunResult, run_recipe
from core.types import Method, ScoreArray

DEFAULT: Method = "mixture"


@dataclass(frozen=True, slots=True)
class ScopeTexts:
    """Texts for training, calibration and evaluation; those of `pool` have no label."""

    train: LabelledTexts
    test: LabelledTexts
    outside_calibration: tuple[str, ...]
    outside_test: tuple[str, ...]
    pool: tuple[str, ...] = ()


def out_of_scope_figures(
    recipe: AnyModelRecipe, encoder: Encoder, texts: ScopeTexts, watch: Watch
) -> dict[str, object]:
    """Train on texts in scope, set the limit with some out of scope, and evaluate on others.

    The base encoder measures the distances: a tuned encoder pulls unknown texts to known ones.
    """
    began = time.perf_counter()
    exemplars, intents = texts.train.exemplars(), texts.train.distinct_intents()
    inputs = RunInputs(exemplars, intents, encoder, pool=texts.pool)
    result = drain(run_recipe(recipe, inputs), watch)
    targets = exemplar_targets(exemplars, intents)
    shapes = fit_intent_shapes(encoder.encode(texts.train.texts), targets)
    judged = _Judged.of(result, encoder, shapes, texts)
    own = judged.figures(DEFAULT)
    names = [intent.name for intent in intents]
    best = judged.scores.argmax(1)
    plain = [names[column] == name for column, name in zip(best, texts.test.intents, strict=True)]
    return {
        "recipe": recipe.kind,
        "method": DEFAULT,
        "auroc": own["auroc"],
        "in_scope_accuracy": round(100.0 * float(np.mean(np.array(plain) & judged.kept)), 2),
        "accuracy_without_fence": round(100.0 * float(np.mean(plain)), 2),
        "in_scope_kept": round(100.0 * float(judged.kept.mean()), 2),
        "oos_recall": round(100.0 * float((~judged.let_in).mean()), 2),
        "fpr_at_95": own["fpr_at_95"],
        "methods": {method: judged.figures(method) for method in get_args(Method)},
        "seconds": round(time.perf_counter() - began, 2),
        "peak_mb": peak_mb(),
    }


@dataclass(frozen=True, slots=True, eq=False)
class _Judged:
    """Signals of each set, and the default fence's decisions on the test sets."""

    held_out: ScoreArray
    inside: ScoreArray
    outside: ScoreArray
    scores: ScoreArray
    kept: np.ndarray[tuple[int], np.dtype[np.bool_]]
    let_in: np.ndarray[tuple[int], np.dtype[np.bool_]]

    @classmethod
    def of(
        cls, result: RunResult, encoder: Encoder, shapes: IntentShapes, texts: ScopeTexts
    ) -> "_Judged":
        def measured(asked: Sequence[str]) -> tuple[ScoreArray, ScoreArray]:
            scores = result.pipeline.scores(asked)
            return signals(shapes, encoder.encode(asked), scores), scores

        held_out = signals_left_out(shapes, result.held_out.scores, result.held_out.rows)
        inside, scores = measured(texts.test.texts)
        outside, outer = measured(texts.outside_test)
        calibration, _ = measured(texts.outside_calibration)
        fence = fit_fence(DEFAULT, held_out)
        fence = with_limit(fence, fence.familiarity(held_out), fence.familiarity(calibration))
        kept = fence.inside(fence.familiarity(inside), scores.argmax(1))
        let_in = fence.inside(fence.familiarity(outside), outer.argmax(1))
        return cls(held_out, inside, outside, scores, kept, let_in)

    def figures(self, method: Method) -> dict[str, float]:
        fence: Fence = fit_fence(method, self.held_out)
        both = fence.familiarity(self.inside), fence.familiarity(self.outside)
        return {"auroc": round(auroc(*both), 4), "fpr_at_95": round(fpr_at_95(*both), 4)}
