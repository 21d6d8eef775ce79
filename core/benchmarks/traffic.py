"""How far figures about traffic can be trusted: intervals, false alarms, rises that are told."""

import time
from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.benchmarks.inputs import LabelledTexts, Watch, peak_mb
from core.encoders.base import Encoder
from core.recipes.labels import AnyModelRecipe
from core.traffic.shares import Portion, compare_shares
from core.training.events import drain
from core.training.from_labels.inputs import RunInputs
from core.training.from_labels.runs import run_recipe

WEEK = 5_000
"""Texts of a week."""

_INTERVALS, _WEEKS = 1_000, 200
"""Resamples of the covered share; pairs of weeks without and with a rise."""

_USUAL, _RAISED = 0.05, 0.08
"""Portion of the chosen intent in a usual week, and in one with a planted rise."""

OUTSIDE = ""
"""In place of an intent: the model refuses the text."""


@dataclass(frozen=True, slots=True)
class Heard:
    """Labelled texts to train on, and those that are heard: labelled ones, and out of scope."""

    train: LabelledTexts
    inside: LabelledTexts
    outside: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class AnsweredTraffic:
    """The true intent of each text (empty: out of scope), and the model's answer, both (n,)."""

    true: NDArray[np.str_]
    answers: NDArray[np.str_]


def traffic_figures(
    recipe: AnyModelRecipe,
    encoder: Encoder,
    heard: Heard,
    watch: Watch,
    seed: int = 0,
) -> dict[str, object]:
    """Train, answer what is heard, and draw weeks of it."""
    began = time.perf_counter()
    inputs = RunInputs(heard.train.exemplars(), heard.train.distinct_intents(), encoder)
    pipeline = drain(run_recipe(recipe, inputs), watch).pipeline
    said = [*heard.inside.texts, *heard.outside]
    answers = [
        one.decision.intents[0] if one.decision.intents else OUTSIDE
        for one in pipeline.predict(said)
    ]
    true = [*heard.inside.intents, *([OUTSIDE] * len(heard.outside))]
    traffic = AnsweredTraffic(np.array(true), np.array(answers))
    rng = np.random.default_rng(seed)
    return {
        "recipe": recipe.kind,
        "week": WEEK,
        "tries": {"interval_holds": _INTERVALS, "false_alarms": _WEEKS, "rises_told": _WEEKS},
        "coverage": round(float((traffic.answers != OUTSIDE).mean()), 4),
        "interval_holds": _interval_holds(traffic, rng),
        "false_alarms": _false_alarms(traffic, rng),
        "rises_told": _rises_told(traffic, rng),
        "seconds": round(time.perf_counter() - began, 2),
        "peak_mb": peak_mb(),
    }


def _interval_holds(traffic: AnsweredTraffic, rng: np.random.Generator) -> float:
    """Return the percentage of weeks whose interval of the covered share holds the true one."""
    covered = traffic.answers != OUTSIDE
    truth, held = float(covered.mean()), 0
    for _ in range(_INTERVALS):
        week = covered[rng.integers(len(covered), size=WEEK)]
        low, high = Portion(int(week.sum()), WEEK).interval()
        held += low <= truth <= high
    return _percent(held, _INTERVALS)


def _false_alarms(traffic: AnsweredTraffic, rng: np.random.Generator) -> float:
    """Return the percentage of pairs of equal weeks of which any change is told."""
    alarms = 0
    for _ in range(_WEEKS):
        weeks = [traffic.answers[rng.integers(len(traffic.answers), size=WEEK)] for _ in range(2)]
        alarms += any(change.is_real for change in compare_shares(*map(_counts, weeks)))
    return _percent(alarms, _WEEKS)


def _rises_told(traffic: AnsweredTraffic, rng: np.random.Generator) -> float:
    """Return the percentage of planted rises that are told, as a rise of the very intent."""
    intents = sorted(set(traffic.true.tolist()) - {OUTSIDE})
    told = 0
    for number in range(_WEEKS):
        intent = intents[number % len(intents)]
        usual, raised = (_with_share(traffic, intent, s, rng) for s in (_USUAL, _RAISED))
        for change in compare_shares(_counts(usual), _counts(raised)):
            if change.name == intent and change.is_real:
                told += change.after.value > change.before.value
    return _percent(told, _WEEKS)


def _percent(count: int, n: int) -> float:
    return round(100.0 * count / n, 1)


def _with_share(
    traffic: AnsweredTraffic, intent: str, share: float, rng: np.random.Generator
) -> NDArray[np.str_]:
    """Draw the answers of a week in which an intent truly has a share."""
    own = np.flatnonzero(traffic.true == intent)
    others = np.flatnonzero(traffic.true != intent)
    n_own = int(rng.binomial(WEEK, share))
    rows = np.concatenate([rng.choice(own, n_own), rng.choice(others, WEEK - n_own)])
    week: NDArray[np.str_] = traffic.answers[rows]
    return week


def _counts(answers: NDArray[np.str_]) -> Counter[str]:
    return Counter(answers.tolist())
