"""Plant label errors in correct labels, and measure how many the list of suspects finds."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.benchmarks.inputs import LabelledTexts, peak_mb
from core.encoders.base import Encoder
from core.errors import InvalidInput
from core.heads.votes.fit import fit_votes, leave_one_out
from core.nearby.search import nearby
from core.review.label_errors import NEIGHBOURS, Suspicion, suspicion
from core.splits import Rows
from core.text import percent
from core.types import FloatArray
from core.vectors import unit_rows

SETTINGS = (0.3, 0.1)
"""tau and ridge of the votes."""


@dataclass(frozen=True, slots=True, eq=False)
class Planted:
    """All labels, (m,) int64, and the rows with a planted error, (n,) int64."""

    columns: NDArray[np.int64]
    rows: Rows


def plant(columns: NDArray[np.int64], n_intents: int, share: float, seed: int) -> Planted:
    """Give a share of the texts, which may be 0, another random intent.

    Raises:
        InvalidInput: So many labels of so many intents cannot be changed.
    """
    random = np.random.default_rng(seed)
    count = round(len(columns) * share)
    if n_intents < 2 or not 0 <= count <= len(columns):
        raise InvalidInput(
            f"{percent(share)} of {len(columns)} labels of {n_intents} intents cannot be flipped.",
            "Name a file with two intents at least, and a share such as 0.05.",
        )
    rows = np.sort(random.choice(len(columns), count, replace=False))
    wrong = columns.copy()
    wrong[rows] = (columns[rows] + random.integers(1, n_intents, count)) % n_intents
    return Planted(wrong, rows)


def judge_labels(
    embeddings: FloatArray, columns: NDArray[np.int64], intents: Sequence[str]
) -> Suspicion:
    """Rank one label for each embedded text (m, d) by votes at `SETTINGS`."""
    targets = np.eye(len(intents))[columns]
    head = fit_votes(embeddings, targets, intents, *SETTINGS)
    near = nearby(unit_rows(embeddings), NEIGHBOURS)
    return suspicion(leave_one_out(head), targets, near)


def recall_at(order: Rows, wrong: Rows, places: Sequence[int]) -> dict[int, float]:
    """Share of the wrong rows among the first n rows, for each n of `places`; 1 of none."""
    is_wrong = np.isin(order, wrong)
    return {n: float(is_wrong[:n].sum() / len(wrong)) if len(wrong) else 1.0 for n in places}


def figures_at_the_cut(suspects: Suspicion, wrong: Rows) -> dict[str, float]:
    """Return shares: of all rows that are listed, of these that are wrong, of the wrong listed.

    Of an empty list, and of no wrong rows, the share is 1.
    """
    listed = suspects.order[: suspects.likely]
    hits = int(np.isin(listed, wrong).sum())
    shares = {
        "listed": len(listed) / len(suspects.order),
        "precision": hits / len(listed) if len(listed) else 1.0,
        "recall": hits / len(wrong) if len(wrong) else 1.0,
    }
    return {name: round(share, 4) for name, share in shares.items()}


def label_error_figures(
    train: LabelledTexts, encoder: Encoder, share: float, seed: int
) -> dict[str, object]:
    """Measure how many planted errors the list finds, and how many each signal finds alone."""
    began = time.perf_counter()
    intents = sorted(set(train.intents))
    columns = np.array([intents.index(name) for name in train.intents])
    planted = plant(columns, len(intents), share, seed)
    embeddings = encoder.encode(train.texts)
    encoded = time.perf_counter()
    suspects = judge_labels(embeddings, planted.columns, intents)
    ended = time.perf_counter()
    count = len(planted.rows)
    places = sorted({count // 2, count, 500, 2 * count} - {0})
    judges = {
        "residual": suspects.residual,
        "confidence": -suspects.confidence,
        "disagreement": suspects.disagreement,
    }
    alone = {
        name: round(recall_at(np.argsort(-judge, kind="stable"), planted.rows, [500])[500], 4)
        for name, judge in judges.items()
    }
    recall = recall_at(suspects.order, planted.rows, places)
    right = suspects.suggested[planted.rows] == columns[planted.rows]
    return {
        "texts": len(columns),
        "planted": count,
        "seed": seed,
        **figures_at_the_cut(suspects, planted.rows),
        "recall_at": {str(n): round(value, 4) for n, value in recall.items()},
        "alone_at_500": alone,
        "right_suggestion": round(float(right.mean()), 4) if count else 1.0,
        "encoding_seconds": round(encoded - began, 2),
        "review_seconds": round(ended - encoded, 2),
        "peak_mb": peak_mb(),
    }
