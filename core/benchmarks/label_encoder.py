"""Benchmark of intent names: one encoder or two, and the gain of names over a few examples."""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from core.benchmarks.inputs import LabelledTexts, peak_mb
from core.encoders.base import Encoder
from core.encoders.dual.encoder import parameter_mb
from core.errors import InvalidInput
from core.heads.mixture import choose_weight, even_mixture
from core.heads.votes.fit import fit_votes, leave_one_out
from core.heads.votes.settings import choose_votes
from core.intent_names import names_head
from core.recipes.heads import VotesConfig
from core.recipes.labels import LabelEncoderRecipe
from core.review.borderline import select_borderline
from core.splits import few_shot
from core.training.events import Event, drain
from core.training.from_labels.inputs import RunInputs
from core.training.from_labels.names import tune_to_names
from core.types import FloatArray, Intent, ScoreArray

Rows = NDArray[np.int64]
_HOMOGENEOUS = "non-siamese"


@dataclass(frozen=True, slots=True)
class NamesSet:
    """Training and test texts; `borderline` rows of the test share words with wrong names only.

    `without_own` is the number of test rows that share no word with the right name.
    """

    train: LabelledTexts
    test: LabelledTexts
    intents: tuple[str, ...]
    borderline: Rows
    without_own: int


@dataclass(frozen=True, slots=True)
class VariantFigures:
    """One variant and seed: accuracies (of nearest names) in percent, sizes in MB, times in s."""

    variant: str
    seed: int
    accuracy: float
    borderline: float | None
    parameters_mb: float
    train_seconds: float


@dataclass(frozen=True, slots=True)
class MixtureFigures:
    """Votes of a few examples, untuned: alone, mixed with names, or with names as exemplars."""

    seed: int
    examples: float
    with_names: float
    names_as_exemplars: float
    weight: float


def names_set(train: LabelledTexts, test: LabelledTexts) -> NamesSet:
    """Select the borderline rows; raises InvalidInput for a test intent absent from training."""
    intents = tuple(sorted(set(train.intents)))
    unknown = sorted(set(test.intents) - set(intents))
    if unknown:
        raise InvalidInput(f"Intent '{unknown[0]}' is not in the training file.", "Add it there.")
    selected = select_borderline(test.texts, test.intents, intents)
    rows = np.asarray(selected.rows, dtype=np.int64)
    return NamesSet(train, test, intents, rows, len(selected.without_own))


def judge_variant(
    recipe: LabelEncoderRecipe, encoder: Encoder, data: NamesSet, watch: Callable[[Event], None]
) -> VariantFigures:
    """Train by the recipe and evaluate by the nearest name."""
    began = time.perf_counter()
    inputs = RunInputs(data.train.exemplars(), _described(data), encoder)
    tuned = drain(tune_to_names(recipe, inputs), watch)
    seconds = time.perf_counter() - began
    head = names_head(tuned, _described(data), recipe.similarity)
    accuracy, borderline = _judged(head.scores(tuned.encode(data.test.texts)), data)
    size = round(parameter_mb(tuned), 1)
    return VariantFigures(
        recipe.variant, recipe.seed, accuracy, borderline, size, round(seconds, 1)
    )


def judge_zero_shot(encoder: Encoder, data: NamesSet) -> tuple[float, float | None]:
    """Return the accuracy of names before any training, on all and on borderline rows."""
    head = names_head(encoder, _described(data))
    return _judged(head.scores(encoder.encode(data.test.texts)), data)


def judge_mixtures(
    encoder: Encoder, data: NamesSet, seeds: Sequence[int], shots: int
) -> list[MixtureFigures]:
    """Compare a few examples with and without names, for each seed.

    The weight of names is chosen on the examples' leave-one-out scores.
    """
    names = names_head(encoder, _described(data))
    asked = encoder.encode(data.test.texts)
    by_names = names.scores(asked)
    least = min(Counter(data.train.intents).values())
    each = np.eye(len(data.intents))
    figures = []
    for seed in seeds:
        rows = few_shot(data.train.intents, min(shots, least), seed)
        columns = [data.intents.index(data.train.intents[row]) for row in rows]
        seen: FloatArray = encoder.encode([data.train.texts[row] for row in rows])
        votes = choose_votes(seen, each[columns], data.intents, VotesConfig())
        weight = choose_weight(leave_one_out(votes), names.scores(seen), columns)
        by_votes = votes.scores(asked)
        mixed = even_mixture(votes, names, weight).mixed(by_votes, by_names)
        both = np.concatenate([seen, names.points]), np.concatenate([each[columns], each])
        more = fit_votes(*both, data.intents, votes.tau, votes.ridge).scores(asked)
        alone, voiced, joined = (_judged(one, data)[0] for one in (by_votes, mixed, more))
        figures.append(MixtureFigures(seed, alone, voiced, joined, round(weight, 3)))
    return figures


def summarise_names(
    data: NamesSet,
    zero_shot: tuple[float, float | None],
    mixtures: Sequence[MixtureFigures],
    variants: Sequence[VariantFigures],
) -> dict[str, object]:
    """Combine all figures and their means over seeds into one JSON object."""
    n_test = len(data.test.texts)
    by_variant = {
        name: [one for one in variants if one.variant == name]
        for name in dict.fromkeys(one.variant for one in variants)
    }
    whole = by_variant.get(_HOMOGENEOUS)
    return {
        "test_rows": n_test,
        "borderline_rows": len(data.borderline),
        "no_word_shared_with_own": round(100 * data.without_own / n_test, 1),
        "borderline_share": round(100 * len(data.borderline) / n_test, 1),
        "zero_shot": {"accuracy": zero_shot[0], "borderline": zero_shot[1]},
        "mixture": {
            "examples": _mean([one.examples for one in mixtures]),
            "with_names": _mean([one.with_names for one in mixtures]),
            "names_as_exemplars": _mean([one.names_as_exemplars for one in mixtures]),
            "per_seed": [asdict(one) for one in mixtures],
        },
        "variants": {
            name: _summary(of_variant, whole[0].parameters_mb if whole else None)
            for name, of_variant in by_variant.items()
        },
        "peak_mb": peak_mb(),
    }


def _summary(figures: Sequence[VariantFigures], whole_mb: float | None) -> dict[str, object]:
    size = figures[0].parameters_mb
    hard = [one.borderline for one in figures if one.borderline is not None]
    return {
        "accuracy": _mean([one.accuracy for one in figures]),
        "borderline": _mean(hard) if hard else None,
        "parameters_mb": size,
        "share_of_homogeneous": None if whole_mb is None else round(100 * size / whole_mb, 1),
        "train_seconds": _mean([one.train_seconds for one in figures]),
        "per_seed": {str(one.seed): [one.accuracy, one.borderline] for one in figures},
    }


def _mean(values: Sequence[float]) -> float | None:
    return round(float(np.mean(values)), 2) if values else None


def _described(data: NamesSet) -> tuple[Intent, ...]:
    return tuple(Intent(name) for name in data.intents)


def _judged(scores: ScoreArray, data: NamesSet) -> tuple[float, float | None]:
    """Return the accuracy on all and on borderline rows, in percent."""
    column = {name: place for place, name in enumerate(data.intents)}
    right = scores.argmax(1) == np.array([column[name] for name in data.test.intents])
    hard = right[data.borderline]
    accuracy = round(100 * float(right.mean()), 2)
    return accuracy, round(100 * float(hard.mean()), 2) if len(hard) else None
