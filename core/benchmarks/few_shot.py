"""Measure a recipe from file to last prediction, with nothing of the test set in any choice."""

import resource
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from core.encoders.adapter.encoder import AdaptedEncoder
from core.encoders.base import Encoder
from core.encoders.loading import load_encoder
from core.errors import InvalidInput
from core.heads.build import fit_head
from core.heads.votes.settings import settle
from core.metrics.multi_label import multi_label_report
from core.recipes.heads import (
    HeadConfig,
    LinearConfig,
    NamesConfig,
    NeighboursConfig,
    PrototypesConfig,
    VotesConfig,
)
from core.recipes.labels import AnyModelRecipe
from core.training.events import Event, drain
from core.training.from_labels.inputs import RunInputs, exemplar_targets
from core.training.from_labels.runs import RunResult, run_recipe
from core.types import Exemplar, FloatArray, Intent

Watch = Callable[[Event], None]


@dataclass(frozen=True, slots=True)
class LabelledTexts:
    """A file's texts, each with one intent."""

    texts: tuple[str, ...]
    intents: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SeedFigures:
    """One seed's figures: accuracies in percent, times in seconds, an adapter's size in MB."""

    seed: int
    accuracy: float
    in_scope: float
    heads: dict[str, float]
    seconds: float
    train_seconds: float
    adapter_mb: float | None = None


def few_shot(
    recipe: AnyModelRecipe,
    base: str,
    read: Callable[[], tuple[LabelledTexts, LabelledTexts]],
    watch: Watch,
) -> SeedFigures:
    """Train on one set and judge on another, for the seed of the recipe.

    `accuracy` is that of the pipeline's own head; `in_scope` the share of test texts that the
    pipeline did not send out of scope.
    """
    began = time.perf_counter()
    train, test = read()
    exemplars = tuple(
        Exemplar(str(row), text, (intent,))
        for row, (text, intent) in enumerate(zip(train.texts, train.intents, strict=True))
    )
    intents = tuple(Intent(name) for name in sorted(set(train.intents)))
    inputs = RunInputs(exemplars, intents, load_encoder(base))
    training = time.perf_counter()
    result = drain(run_recipe(recipe, inputs), watch)
    trained = time.perf_counter()
    embeddings = result.pipeline.encoder.encode(test.texts)
    predictions = result.pipeline.predict(test.texts, embeddings)
    ended = time.perf_counter()
    return SeedFigures(
        seed=recipe.seed,
        accuracy=_percent([p.intent for p in predictions], test.intents),
        in_scope=100.0 * float(np.mean([not p.decision.out_of_scope for p in predictions])),
        heads=_head_accuracies(result, inputs, embeddings, test),
        seconds=round(ended - began, 2),
        train_seconds=round(trained - training, 2),
        adapter_mb=adapter_mb(result.pipeline.encoder),
    )


def adapter_mb(encoder: Encoder) -> float | None:
    """Size of an encoder's adapter in MB of 1,000,000 bytes; None where it has none."""
    if isinstance(encoder, AdaptedEncoder):
        return round(encoder.adapter.n_bytes / 1e6, 2)
    return None


@dataclass(frozen=True, slots=True)
class FoldFigures:
    """One run's figures on utterances of several intents; shares in percent, times in seconds.

    Attributes:
        fold: Number of the run: the fold it trains on, or the one it is judged on.
        f1: F1 over all pairs of text and intent, as the literature has it.
        exact: Texts whose intents are all found and no other is named.
        macro_f1: Mean F1 of the intents.
        none_recall: Of the texts without intent, those answered with none.
        seconds: From the first utterance to the last prediction.
        train_seconds: Until the model was ready.
        adapter_mb: Size of what the model adds to its base; None where it is a whole encoder.
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
    """Train on the first exemplars and judge on the others, each of any number of intents."""
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
    """Return for each run which folds it trains on and which it is judged on.

    The smaller side begins at the run's own number, so that one training fold or one test fold
    is the fold of that number.

    Raises:
        InvalidInput: No fold would be left to train on or to judge.
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
    """Put the figures of all folds and their means into one JSON object."""
    names = ("f1", "exact", "macro_f1", "none_recall", "seconds", "train_seconds")
    means: dict[str, object] = {
        name: round(float(np.mean([getattr(one, name) for one in figures])), 2) for name in names
    }
    sizes = [one.adapter_mb for one in figures if one.adapter_mb is not None]
    means["adapter_mb"] = round(float(np.mean(sizes)), 3) if sizes else None
    return {**means, "per_fold": [asdict(one) for one in figures], "peak_mb": peak_mb()}


def summarise(figures: Sequence[SeedFigures]) -> dict[str, object]:
    """Put the figures of all seeds into one JSON object."""
    heads = {
        name: round(float(np.mean([f.heads[name] for f in figures])), 2)
        for name in figures[0].heads
    }
    return {
        "accuracy": round(float(np.mean([f.accuracy for f in figures])), 2),
        "per_seed": {str(f.seed): round(f.accuracy, 2) for f in figures},
        "heads": heads,
        "in_scope": round(float(np.mean([f.in_scope for f in figures])), 2),
        "seconds": round(float(np.mean([f.seconds for f in figures])), 2),
        "train_seconds": round(float(np.mean([f.train_seconds for f in figures])), 2),
        "peak_mb": peak_mb(),
        **({} if figures[0].adapter_mb is None else {"adapter_mb": figures[0].adapter_mb}),
    }


def peak_mb() -> float:
    """Largest resident size of this process so far, in MiB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (2**20 if sys.platform == "darwin" else 2**10), 1)


def _head_accuracies(
    result: RunResult, inputs: RunInputs, embeddings: FloatArray, test: LabelledTexts
) -> dict[str, float]:
    """Judge every head on the same embeddings; none of them is chosen by this."""
    pipeline = result.pipeline
    seen = pipeline.encoder.encode([e.text for e in inputs.exemplars])
    targets = exemplar_targets(inputs.exemplars, inputs.intents)
    names = [intent.name for intent in inputs.intents]
    configs: list[HeadConfig] = [
        settle(VotesConfig()),
        NeighboursConfig(),
        NeighboursConfig(k=5),
        PrototypesConfig(),
        LinearConfig(),
        NamesConfig(),
    ]
    found: dict[str, float] = {}
    for config in configs:
        head = fit_head(config, seen, targets, names, result.name_embeddings)
        best = head.scores(embeddings).argmax(1)
        label = f"{config.kind}-{config.k}" if isinstance(config, NeighboursConfig) else config.kind
        found[label] = round(_percent([names[j] for j in best], test.intents), 2)
    own = pipeline.head.scores(embeddings).argmax(1)
    found[pipeline.head.kind] = round(_percent([names[j] for j in own], test.intents), 2)
    return found


def _percent(predicted: Sequence[str], actual: Sequence[str]) -> float:
    return 100.0 * float(np.mean([p == a for p, a in zip(predicted, actual, strict=True)]))
