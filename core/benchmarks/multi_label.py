"""`bench multi-label`: train on some folds of multi-label utterances, evaluate on the others."""

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from core.benchmarks.inputs import Watch, adapter_mb, peak_mb
from core.encoders.base import Encoder
from core.errors import InvalidInput
from core.metrics.multi_label import multi_label_report
from core.recipes.labels import AnyModelRecipe
from core.training.events import drain
from core.training.from_labels.inputs import RunInputs
from core.training.from_labels.runs import run_recipe
from core.types import Exemplar, Intent


@dataclass(frozen=True, slots=True)
class FoldFigures:
    """One run on multi-label utterances; shares in percent, times in seconds, sizes in MB.

    Attributes:
        fold: Number of the run: of its only training fold or its only test fold.
        f1: Micro F1 over all pairs of text and intent, as in the literature.
        exact: Share of texts answered with exactly their intents.
        none_recall: Share of the texts without intent that are answered with none.
        seconds: From the first utterance to the last prediction.
    """

    fold: int
    f1: float
    exact: float
    macro_f1: float
    none_recall: float
    seconds: float
    train_seconds: float
    adapter_mb: float | None = None


def multi_label(
    recipe: AnyModelRecipe,
    encoder: Encoder,
    data: tuple[Sequence[Exemplar], Sequence[Exemplar]],
    fold: int,
    watch: Watch,
) -> FoldFigures:
    """Train on the first exemplars and evaluate on the others; each has any number of intents."""
    train, test = data
    began = time.perf_counter()
    intents = tuple(Intent(name) for name in sorted({n for e in train for n in e.intents}))
    inputs = RunInputs(tuple(train), intents, encoder, task="multi-label")
    pipeline = drain(run_recipe(recipe, inputs), watch).pipeline
    trained = time.perf_counter()
    predictions = pipeline.predict([e.text for e in test])
    ended = time.perf_counter()
    report = multi_label_report(
        [e.intents for e in test], [p.decision.intents for p in predictions]
    )
    return FoldFigures(
        fold=fold,
        f1=round(100 * report.micro_f1, 2),
        exact=round(100 * report.exact, 2),
        macro_f1=round(100 * report.macro_f1, 2),
        none_recall=round(100 * report.without_recall, 2),
        seconds=round(ended - began, 2),
        train_seconds=round(trained - began, 2),
        adapter_mb=adapter_mb(pipeline.encoder),
    )


def choose_folds(n_folds: int, n_train: int) -> list[tuple[list[int], list[int]]]:
    """Return training folds and test folds of each run; a single fold has the run's number.

    Raises:
        InvalidInput: No fold would remain to train on or to evaluate on.
    """
    if not 0 < n_train < n_folds:
        raise InvalidInput(
            f"Of {n_folds} folds, {n_train} cannot be trained on.",
            f"Name a number from 1 to {n_folds - 1}.",
        )
    runs = []
    for first in range(n_folds):
        few = sorted((first + n) % n_folds for n in range(min(n_train, n_folds - n_train)))
        rest = [fold for fold in range(n_folds) if fold not in few]
        runs.append((few, rest) if n_train <= n_folds // 2 else (rest, few))
    return runs


def summarise_folds(figures: Sequence[FoldFigures]) -> dict[str, object]:
    """Combine the figures of all folds and their means into one JSON object."""
    names = ("f1", "exact", "macro_f1", "none_recall", "seconds", "train_seconds")
    means: dict[str, object] = {
        name: round(float(np.mean([getattr(one, name) for one in figures])), 2) for name in names
    }
    sizes = [one.adapter_mb for one in figures if one.adapter_mb is not None]
    means["adapter_mb"] = round(float(np.mean(sizes)), 3) if sizes else None
    return {**means, "per_fold": [asdict(one) for one in figures], "peak_mb": peak_mb()}
