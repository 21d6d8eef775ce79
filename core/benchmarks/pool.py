"""Pools of unlabelled texts for benchmarks; their labels only judge what a training gave them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.benchmarks.inputs import LabelledTexts
from core.splits import drawn_rows
from core.text import match_key
from core.training.from_labels.rounds import PoolGain


@dataclass(frozen=True, slots=True)
class PoolFigures:
    """What a pool brought in one training.

    Attributes:
        texts: Texts that the model learned from.
        outside: Texts that were taken for out of scope.
        kept: Whether the model is that of the second round.
        right: Percent of the learned texts that got the label of the file; None without any.
        judged: Held-out labels that were answered with and without the pool.
        right_with: Those that were right with the pool.
        right_without: Those that were right without it.
    """

    texts: int
    outside: int
    kept: bool
    right: float | None
    judged: int
    right_with: int
    right_without: int


def parted(pool: LabelledTexts, known: set[str]) -> tuple[LabelledTexts, tuple[str, ...]]:
    """Part a pool into texts of known intents or none, and texts of all other intents."""
    pairs = list(zip(pool.texts, pool.intents, strict=True))
    inside = [(text, intent) for text, intent in pairs if intent in known or not intent]
    outside = tuple(text for text, intent in pairs if intent not in known and intent)
    texts, intents = tuple(text for text, _ in inside), tuple(intent for _, intent in inside)
    return LabelledTexts(texts, intents), outside


def mixed_pool(
    inside: LabelledTexts, outside: Sequence[str], share: float | None, seed: int
) -> LabelledTexts:
    """Put texts out of scope into a pool, with the intent "".

    With a share in (0, 1), texts of the more plentiful kind are left out by chance, so that this
    share of the pool is out of scope; otherwise all are taken.
    """
    n_in, n_out = len(inside.texts), len(outside)
    if share is not None:
        wanted = round(n_in * share / (1.0 - share))
        n_in = n_in if wanted <= n_out else round(n_out * (1.0 - share) / share)
        n_out = min(n_out, wanted)
    kept = drawn_rows(len(inside.texts), n_in, seed)
    added = drawn_rows(len(outside), n_out, seed)
    texts = [*(inside.texts[row] for row in kept), *(outside[row] for row in added)]
    intents = [*(inside.intents[row] for row in kept), *[""] * len(added)]
    order = np.random.default_rng(seed).permutation(len(texts))
    return LabelledTexts(tuple(texts[at] for at in order), tuple(intents[at] for at in order))


def without_twins(pool: LabelledTexts, *others: LabelledTexts) -> LabelledTexts:
    """Leave out texts that are in other sets, compared as `core.text.match_key` does."""
    seen = {match_key(text) for other in others for text in other.texts}
    rows = [row for row, text in enumerate(pool.texts) if match_key(text) not in seen]
    return pool.of_rows(rows)


def pool_figures(gain: PoolGain | None, pool: LabelledTexts, intents: Sequence[str]) -> PoolFigures:
    """Return what a training made of a pool; `intents` are the names behind its columns."""
    found = gain or PoolGain()
    actual = dict(zip(pool.texts, pool.intents, strict=True))
    pairs = zip(found.lesson.texts, found.lesson.columns, strict=True)
    right = [actual[text] == intents[column] for text, column in pairs]
    return PoolFigures(
        texts=found.n,
        outside=found.n_outside,
        kept=found.kept,
        right=100.0 * float(np.mean(right)) if right else None,
        judged=found.n_judged,
        right_with=found.right,
        right_without=found.right_without,
    )


def summarise_pools(figures: Sequence[PoolFigures]) -> dict[str, object]:
    """Combine the figures of all seeds: means, and a list of one entry for each seed."""
    known = [one.right for one in figures if one.right is not None]
    return {
        "pool_right": round(float(np.mean(known)), 2) if known else None,
        "pool": {
            "texts": [one.texts for one in figures],
            "outside": [one.outside for one in figures],
            "kept": [one.kept for one in figures],
            "held_out": [[one.right_with, one.right_without, one.judged] for one in figures],
        },
    }
