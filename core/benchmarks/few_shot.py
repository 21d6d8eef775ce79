"""`bench few-shot`: train on one file and evaluate on another, which chooses nothing."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from core.benchmarks.inputs import LabelledTexts, Watch, adapter_mb, peak_mb
from core.benchmarks.pool import PoolFigures, pool_figures, summarise_pools, without_twins
from core.encoders.loading import load_encoder
from core.heads.build import fit_head
from core.heads.votes.settings import settle
from core.recipes.heads import (
    HeadConfig,
    LinearConfig,
    NamesConfig,
    NeighboursConfig,
    PrototypesConfig,
    VotesConfig,
)
from core.recipes.labels import AnyModelRecipe
from core.training.devices import precision_of
from core.training.events import drain
from core.training.from_labels.inputs import RunInputs, exemplar_targets
from core.training.from_labels.runs import RunResult, run_recipe
from core.types import FloatArray


@dataclass(frozen=True, slots=True)
class SeedFigures:
    """Figures of one seed: accuracies in percent, times in seconds, an adapter's size in MB.

    `precision` is the number format of the products in tuning, "" without a tuning.
    """

    seed: int
    accuracy: float
    in_scope: float
    heads: dict[str, float]
    seconds: float
    train_seconds: float
    precision: str = ""
    adapter_mb: float | None = None
    pool: PoolFigures | None = None


@dataclass(frozen=True, slots=True)
class FewShotTexts:
    """Texts to train on, to evaluate on, and to learn from without their labels."""

    train: LabelledTexts
    test: LabelledTexts
    pool: LabelledTexts | None = None

    def pool_alone(self) -> LabelledTexts:
        """Return the pool without texts that are in another set."""
        return without_twins(self.pool or LabelledTexts((), ()), self.train, self.test)


def few_shot(
    recipe: AnyModelRecipe,
    base: str,
    read: Callable[[], FewShotTexts],
    watch: Watch,
    device: str = "cpu",
) -> SeedFigures:
    """Train on one set and evaluate on another, with the recipe's seed.

    Tuning computes on `device` (`cpu`, `cuda`, `cuda:1`), all else on the processor. `accuracy` is
    that of the pipeline's own head; `in_scope` is the share of test texts that the pipeline does
    not reject as out of scope.
    """
    began = time.perf_counter()
    texts = read()
    train, test, pool = texts.train, texts.test, texts.pool_alone()
    intents = train.distinct_intents()
    encoder = load_encoder(base)
    inputs = RunInputs(train.exemplars(), intents, encoder, pool=pool.texts, device=device)
    training = time.perf_counter()
    result = drain(run_recipe(recipe, inputs), watch)
    trained = time.perf_counter()
    embeddings = result.pipeline.encoder.encode(test.texts)
    predictions = result.pipeline.predict(test.texts, embeddings)
    ended = time.perf_counter()
    names = [intent.name for intent in intents]
    gain = None if texts.pool is None else pool_figures(result.pool, pool, names)
    return SeedFigures(
        seed=recipe.seed,
        accuracy=_percent([p.intent for p in predictions], test.intents),
        in_scope=100.0 * float(np.mean([not p.decision.out_of_scope for p in predictions])),
        heads=_head_accuracies(result, inputs, embeddings, test),
        seconds=round(ended - began, 2),
        train_seconds=round(trained - training, 2),
        precision=precision_of(recipe, inputs.device),
        adapter_mb=adapter_mb(result.pipeline.encoder),
        pool=gain,
    )


def summarise(figures: Sequence[SeedFigures]) -> dict[str, object]:
    """Combine the figures of all seeds into one JSON object."""
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
        "precision": figures[0].precision,
        **({} if figures[0].adapter_mb is None else {"adapter_mb": figures[0].adapter_mb}),
        **({} if figures[0].pool is None else summarise_pools([f.pool for f in figures if f.pool])),
    }


def _head_accuracies(
    result: RunResult, inputs: RunInputs, embeddings: FloatArray, test: LabelledTexts
) -> dict[str, float]:
    """Evaluate every head on the same embeddings; this chooses none of them."""
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
