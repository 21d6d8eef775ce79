"""How well a score tells texts in scope from texts out of scope."""

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

Scores = NDArray[np.float64]


def auroc(in_scope: Scores, out_of_scope: Scores) -> float:
    """Chance that a text in scope scores above one out of scope; ties count half."""
    ranks = rankdata(np.concatenate([in_scope, out_of_scope]))
    n, m = len(in_scope), len(out_of_scope)
    return float((ranks[:n].sum() - n * (n + 1) / 2) / (n * m))


def false_positive_rate(in_scope: Scores, out_of_scope: Scores, recall: float = 0.95) -> float:
    """Share of texts out of scope let in by the limit that keeps `recall` of those in scope."""
    limit = np.sort(in_scope)[::-1][int(np.ceil(recall * len(in_scope))) - 1]
    return float((out_of_scope >= limit).mean())
