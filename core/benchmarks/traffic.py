"""How far figures about traffic can be trusted: intervals, false alarms, rises that are told."""

import time
from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.benchmarks.inputs import LabelledTexts, Watch, peak_mb
from core.discover.grouping import group_texts
from core.discover.joining import join
from core.encoders.base import Encoder
from core.recipes.labels import AnyModelRecipe
from core.traffic.drift import ALPHA as DRIFT_ALPHA
from core.traffic.drift import corrected, mean_drift, meaning_drift
from core.traffic.shares import Portion, compare_shares
from core.training.events import drain
from core.training.from_labels.inputs import RunInputs
from core.training.from_labels.runs import run_recipe
from core.types import FloatArray
from core.vectors import unit_rows

WEEK = 5_000
"""Texts of a week."""

_INTERVALS, _WEEKS = 1_000, 200
"""Resamples of the covered share; pairs of weeks without and with a rise."""

_DRIFTS, _NEW_WEEKS = 100, 100
"""Pairs of weeks without and with a new subject that are compared by meaning, and grouped."""

_NEW = 0.05
"""Portion of the second week that is about something of which nobody spoke in the first."""

_USUAL, _RAISED = 0.05, 0.08
"""Portion of the chosen intent in a usual week, and in one with a planted rise."""

OUTSIDE = ""
"""In place of an intent: the model refuses the text."""


@dataclass(frozen=True, slots=True)
class Heard:
    """Labelled texts to train on, and those that are heard: labelled ones, and out of scope.

    What is heard should not be trained on: the studio compares answers to new texts alone.
    """

    train: LabelledTexts
    inside: LabelledTexts
    outside: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class AnsweredTraffic:
    """The true intent of each text (empty: out of scope), the model's answer, and its embedding.

    The first two are (n,), the embeddings unit rows (n, d).
    """

    true: NDArray[np.str_]
    answers: NDArray[np.str_]
    unit: FloatArray


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
    unit = unit_rows(pipeline.encoder.encode(said))
    traffic = AnsweredTraffic(np.array(true), np.array(answers), unit)
    rng = np.random.default_rng(seed)
    return {
        "recipe": recipe.kind,
        "week": WEEK,
        "tries": {
            "interval_holds": _INTERVALS,
            "false_alarms": _WEEKS,
            "rises_told": _WEEKS,
            "drift_false_alarms": _DRIFTS,
            "drift_told": _DRIFTS,
            "new_group_false_alarms": _NEW_WEEKS,
            "new_group_found": _NEW_WEEKS,
        },
        "coverage": round(float((traffic.answers != OUTSIDE).mean()), 4),
        "interval_holds": _interval_holds(traffic, rng),
        "false_alarms": _false_alarms(traffic, rng),
        "rises_told": _rises_told(traffic, rng),
        "drift_false_alarms": _drift_told(traffic, 0.0, rng),
        "drift_told": _drift_told(traffic, _NEW, rng),
        "new_group_false_alarms": _groups_founded(traffic, 0.0, rng),
        "new_group_found": _groups_founded(traffic, _NEW, rng),
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


def _drift_told(traffic: AnsweredTraffic, share: float, rng: np.random.Generator) -> float:
    """Return the percentage of pairs of weeks of which drift is told, in meaning or in answers.

    In the second week a share of the texts is about an intent that the first week lacks.
    """
    told = 0
    for _ in range(_DRIFTS):
        first, second = _weeks_with_news(traffic, share, rng)
        seed = int(rng.integers(2**31))
        meaning = meaning_drift(traffic.unit[first], traffic.unit[second], seed)
        covered = (traffic.answers != OUTSIDE).astype(np.float64)
        answered = mean_drift(covered[first], covered[second], seed)
        told += min(corrected([meaning.p_value, answered.p_value])) <= DRIFT_ALPHA
    return _percent(told, _DRIFTS)


def _groups_founded(traffic: AnsweredTraffic, share: float, rng: np.random.Generator) -> float:
    """Return the percentage of pairs of weeks of which sorting the second in founds a group.

    With a share about an intent that the first week lacks, at least half of the texts of one new
    group must be about it. Texts are grouped as the page does it: those of the first week into the
    root of their number, the others join them.
    """
    told = 0
    for _ in range(_NEW_WEEKS):
        first, second = (np.unique(rows) for rows in _weeks_with_news(traffic, share, rng))
        second = np.setdiff1d(second, first)
        news = np.setdiff1d(traffic.true[second], traffic.true[first])
        old, added = traffic.unit[first], traffic.unit[second]
        size = len(first) ** 0.5
        joined = join(group_texts(old, size), old, added, size)
        is_new = np.isin(traffic.true[second], news)
        of = joined.of[len(first) :]
        fresh = range(int(joined.of[: len(first)].max()) + 1, len(joined.centres))
        told += any(not share or is_new[of == group].mean() >= 0.5 for group in fresh)
    return _percent(told, _NEW_WEEKS)


def _weeks_with_news(
    traffic: AnsweredTraffic, share: float, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Draw the rows of two weeks; a share of the second is about an intent that the first lacks."""
    intent = rng.choice(sorted(set(traffic.true.tolist()) - {OUTSIDE}))
    own, others = np.flatnonzero(traffic.true == intent), np.flatnonzero(traffic.true != intent)
    n_own = int(rng.binomial(WEEK, share))
    second = np.concatenate([rng.choice(own, n_own), rng.choice(others, WEEK - n_own)])
    return rng.choice(others, WEEK), second


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
