"""Quality of multi-label answers: exact matches, over all labels, and for each intent."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.metrics.classification import IntentQuality, macro_f1, quality

Labels = Collection[str]
"""The intents of one text; an empty label is a label too."""


@dataclass(frozen=True, slots=True)
class MultiLabelReport:
    """Quality on `n` texts; shares in [0, 1].

    Attributes:
        exact: Share of texts answered with exactly their intents.
        micro_f1: F1 over all pairs of text and intent.
        macro_f1: Mean F1 over the intents that have a text.
        intents: Those that occur among labels or answers.
        n_without: Texts without an intent.
        without_recall: Share of those texts that were answered with none; 0 without such texts.
    """

    n: int
    exact: float
    micro_f1: float
    macro_f1: float
    intents: tuple[IntentQuality, ...]
    n_without: int
    without_recall: float


def multi_label_report(actual: Sequence[Labels], predicted: Sequence[Labels]) -> MultiLabelReport:
    """Compare labels with answers, any number of each for a text.

    Without any label and answer, both F1 are 0, as in scikit-learn.

    Raises:
        ValueError: The two differ in length, or are empty.
    """
    pairs = [(set(a), set(p)) for a, p in zip(actual, predicted, strict=True)]
    if not pairs:
        message = "no texts to judge"
        raise ValueError(message)
    names = sorted({name for a, p in pairs for name in a | p})
    truth, answer = _table([a for a, _ in pairs], names), _table([p for _, p in pairs], names)
    right, answered, support = (truth & answer).sum(0), answer.sum(0), truth.sum(0)
    intents = tuple(
        quality(name, *map(int, counts))
        for name, *counts in zip(names, right, answered, support, strict=True)
    )
    without, silent = truth.sum(1) == 0, answer.sum(1) == 0
    n_marks = int(answered.sum() + support.sum())
    return MultiLabelReport(
        n=len(pairs),
        exact=float((truth == answer).all(1).mean()),
        micro_f1=2 * int(right.sum()) / n_marks if n_marks else 0.0,
        macro_f1=macro_f1(intents),
        intents=intents,
        n_without=int(without.sum()),
        without_recall=float(silent[without].mean()) if without.any() else 0.0,
    )


def _table(labels: Sequence[set[str]], names: Sequence[str]) -> NDArray[np.bool_]:
    return np.array([[name in label for name in names] for label in labels], dtype=bool).reshape(
        len(labels), len(names)
    )
