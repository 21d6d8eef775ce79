"""Benchmark of Discover beside known intents: are hidden ones among the first groups shown?"""

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.benchmarks.inputs import LabelledTexts, Watch, peak_mb
from core.discover.grouping import group_texts, size_of, usual_groups
from core.discover.known import known_groups, least_known_first
from core.encoders.base import Encoder
from core.encoders.quick.copies import quick_copy
from core.errors import InvalidInput
from core.recipes.labels import AnyModelRecipe
from core.splits import few_shot
from core.training.events import drain
from core.training.from_labels.inputs import RunInputs
from core.training.from_labels.runs import run_recipe
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


@dataclass(frozen=True, slots=True)
class _Draw:
    """Texts without a label and those with one, and the intents that only the former have."""

    waiting: LabelledTexts
    labelled: LabelledTexts
    hidden: frozenset[str]


def hidden_figures(
    texts: LabelledTexts, recipe: AnyModelRecipe, encoder: Encoder, hiding: Hiding, watch: Watch
) -> dict[str, object]:
    """Count hidden intents among the first 20 groups of texts, beside labels of the others.

    As in a project, a model is trained on the labels, and its encoder embeds what is grouped, in
    the format that is quickest here. Texts without a label are repeated in other words until there
    are enough. An intent is found if at least half of the texts of a group are of it.

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
    found = list[int]()
    for draw in _draws(texts, hiding):
        tuned = _trained(draw.labelled, recipe, encoder, watch)
        found.append(_found(draw, quick_copy(tuned), hiding.seed))
    return {
        "intents": n_intents,
        "hidden": hiding.intents,
        "labels": hiding.labels,
        "texts": hiding.texts,
        "first": _FIRST,
        "recipe": recipe.name(),
        "found": round(float(np.mean(found)), 2),
        "per_draw": found,
        "seconds": round(time.perf_counter() - began, 2),
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


def _draws(texts: LabelledTexts, hiding: Hiding) -> Iterator[_Draw]:
    """Hide other intents each time, each with as many of the texts that are grouped."""
    labelled = few_shot(texts.intents, hiding.labels, hiding.seed)
    rest = np.setdiff1d(np.arange(len(texts.texts)), labelled)
    if not len(rest):
        raise InvalidInput("All texts are labelled.", "Name a file with more, or fewer --labels.")
    count = int(_SPARE * hiding.texts)
    made = in_other_words([texts.texts[row] for row in rest], count, hiding.seed)
    said = tuple(text for text, _ in made)
    waiting = LabelledTexts(said, tuple(texts.intents[rest[row]] for _, row in made))
    intents = np.array(waiting.intents)
    rng = np.random.default_rng(hiding.seed)
    each = int(hiding.texts * _SHARE / hiding.intents)
    for _ in range(_DRAWS):
        hidden = rng.choice(np.unique(intents), hiding.intents, replace=False).tolist()
        own = [_some(np.flatnonzero(intents == one), each, rng) for one in hidden]
        others = np.flatnonzero(~np.isin(intents, hidden))
        rows = np.concatenate([*own, _some(others, hiding.texts - each * hiding.intents, rng)])
        yield _Draw(
            waiting.of_rows(rows.tolist()),
            texts.of_rows([row for row in labelled.tolist() if texts.intents[row] not in hidden]),
            frozenset(hidden),
        )


def _trained(
    labelled: LabelledTexts, recipe: AnyModelRecipe, encoder: Encoder, watch: Watch
) -> Encoder:
    """Return the encoder of a model of these labels."""
    inputs = RunInputs(labelled.exemplars(), labelled.distinct_intents(), encoder)
    return drain(run_recipe(recipe, inputs), watch).pipeline.encoder


def _found(draw: _Draw, encoder: Encoder, seed: int) -> int:
    """Group texts as the page does, and count the hidden intents of the first groups."""
    unit = unit_rows(encoder.encode(draw.waiting.texts))
    count = usual_groups(len(unit), has_labels=True)
    grouping = group_texts(unit, size_of(len(unit), count), seed)
    known = known_groups(grouping, unit, unit_rows(encoder.encode(draw.labelled.texts)), seed)
    found = set[str]()
    members = grouping.members()
    for group in least_known_first(known, grouping.sizes)[:_FIRST].tolist():
        intents = Counter(draw.waiting.intents[row] for row in members[group].tolist())
        [(intent, most)] = intents.most_common(1)
        if 2 * most >= intents.total() and intent in draw.hidden:
            found.add(intent)
    return len(found)


def _some(rows: NDArray[np.int64], count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    return rng.choice(rows, min(len(rows), max(1, count)), replace=False)
