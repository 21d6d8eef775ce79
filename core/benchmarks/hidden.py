"""Benchmark of Discover beside known intents: are hidden ones among the first groups shown?"""

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.benchmarks.inputs import LabelledTexts, peak_mb
from core.discover.grouping import group_texts, usual_groups
from core.discover.known import known_groups, least_known_first
from core.encoders.base import Encoder
from core.errors import InvalidInput
from core.splits import few_shot
from core.types import FloatArray
from core.vectors import unit_rows

_DRAWS = 5
_FIRST = 20
"""Groups that somebody looks at."""

_SHARE = 0.05
"""Share of the texts that are of hidden intents, all of these alike."""

_SPARE = 1.5
"""Texts in other words that are made for each one that is drawn, so that draws differ."""

FRAMES = (
    "{}",
    "hi, {}",
    "{} please",
    "hello there, {}",
    "{} thanks",
    "quick question: {}",
    "can you help me, {}",
    "{} if you can",
    "ok so {}",
    "i would like to ask, {}",
    "{} asap",
    "sorry to bother you but {}",
)
"""The same in other words: what people say around what they want."""


@dataclass(frozen=True, slots=True)
class Hiding:
    """How many intents are hidden, labels each other has, texts are grouped, and the seed."""

    intents: int
    labels: int = 10
    texts: int = 50_000
    seed: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class _Said:
    """Texts of length-1 rows (n, d) with their intents' columns, and the same of the labels."""

    unit: FloatArray
    columns: NDArray[np.int64]
    labelled: FloatArray
    label_columns: NDArray[np.int64]


def hidden_figures(texts: LabelledTexts, encoder: Encoder, hiding: Hiding) -> dict[str, object]:
    """Count hidden intents among the first 20 groups of texts, beside labels of the others.

    Texts without a label are repeated in other words until there are enough. An intent is found if
    at least half of the texts of a group are of it.

    Raises:
        InvalidInput: There are too few intents to hide so many.
    """
    n_intents = len(set(texts.intents))
    if not 0 < hiding.intents < n_intents:
        raise InvalidInput(
            f"Of {n_intents} intents {hiding.intents} cannot be hidden.",
            f"Hide 1 to {n_intents - 1}.",
        )
    began = time.perf_counter()
    said = _said(texts, encoder, hiding)
    encoded = time.perf_counter()
    rng = np.random.default_rng(hiding.seed)
    found = [_found(said, hiding, rng) for _ in range(_DRAWS)]
    return {
        "intents": n_intents,
        "hidden": hiding.intents,
        "labels": hiding.labels,
        "texts": hiding.texts,
        "first": _FIRST,
        "found": round(float(np.mean(found)), 2),
        "per_draw": found,
        "encoding_seconds": round(encoded - began, 2),
        "seconds": round(time.perf_counter() - encoded, 2),
        "peak_mb": peak_mb(),
    }


def in_other_words(texts: Sequence[str], count: int, seed: int) -> list[tuple[str, int]]:
    """Return about `count` texts with their rows, each once as it is and then in other words."""
    rng = np.random.default_rng(seed)
    each = min(len(FRAMES), max(1, -(-count // len(texts))))
    return [
        (FRAMES[frame].format(text), row)
        for row, text in enumerate(texts)
        for frame in (0, *(1 + rng.choice(len(FRAMES) - 1, each - 1, replace=False)).tolist())
    ]


def _said(texts: LabelledTexts, encoder: Encoder, hiding: Hiding) -> _Said:
    columns = np.unique(np.array(texts.intents), return_inverse=True)[1]
    labelled = few_shot(texts.intents, hiding.labels, hiding.seed)
    rest = np.setdiff1d(np.arange(len(columns)), labelled)
    if not len(rest):
        raise InvalidInput("All texts are labelled.", "Name a file with more, or fewer --labels.")
    count = int(_SPARE * hiding.texts)
    made = in_other_words([texts.texts[row] for row in rest], count, hiding.seed)
    return _Said(
        unit_rows(encoder.encode([text for text, _ in made])),
        columns[rest[[row for _, row in made]]],
        unit_rows(encoder.encode([texts.texts[row] for row in labelled])),
        columns[labelled],
    )


def _found(said: _Said, hiding: Hiding, rng: np.random.Generator) -> int:
    """Hide some intents, group texts as the page does, and look at the first groups."""
    hidden = rng.choice(np.unique(said.columns), hiding.intents, replace=False)
    each = int(hiding.texts * _SHARE / hiding.intents)
    own = [_some(np.flatnonzero(said.columns == one), each, rng) for one in hidden]
    others = np.flatnonzero(~np.isin(said.columns, hidden))
    rows = np.concatenate([*own, _some(others, hiding.texts - each * hiding.intents, rng)])
    labelled = said.labelled[~np.isin(said.label_columns, hidden)]
    unit, columns = said.unit[rows], said.columns[rows]
    count = usual_groups(len(rows), has_labels=True)
    grouping = group_texts(unit, len(rows) / (count + 0.5), hiding.seed)
    known = known_groups(grouping, unit, labelled, hiding.seed)
    found = set[int]()
    for group in least_known_first(known, grouping.sizes)[:_FIRST].tolist():
        intents, counts = np.unique(columns[grouping.of == group], return_counts=True)
        best = int(counts.argmax())
        if 2 * counts[best] >= counts.sum() and intents[best] in hidden:
            found.add(int(intents[best]))
    return len(found)


def _some(rows: NDArray[np.int64], count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    return rng.choice(rows, min(len(rows), max(1, count)), replace=False)
