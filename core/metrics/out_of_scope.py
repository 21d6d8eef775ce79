"""How well a score separates texts in scope from texts out of scope."""

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float64]


def auroc(in_scope: Scores, out_of_scope: Scores) -> float:
    """Chance that a text in scope scores above one out of scope; ties count half.

    Raises:
        ValueError: One of the two, (n,) and (m,), is empty.
    """
    from scipy.stats import rankdata  # takes a second, which would delay the first page

    _require_both(in_scope, out_of_scope)
    ranks = rankdata(np.concatenate([in_scope, out_of_scope]))
    n, m = len(in_scope), len(out_of_scope)
    return float((ranks[:n].sum() - n * (n + 1) / 2) / (n * m))


def fpr_at_95(in_scope: Scores, out_of_scope: Scores) -> float:
    """Share of texts out of scope that pass the limit which keeps 95 % of those in scope.

    Raises:
        ValueError: One of the two, (n,) and (m,), is empty.
    """
    _require_both(in_scope, out_of_scope)
    kept = -(-95 * len(in_scope) // 100)  # at least 95 %, in whole texts
    limit = np.sort(in_scope)[::-1][kept - 1]
    return float((out_of_scope >= limit).mean())


def _require_both(in_scope: Scores, out_of_scope: Scores) -> None:
    if not len(in_scope) or not len(out_of_scope):
        message = f"{len(in_scope)} texts in scope, {len(out_of_scope)} out of scope: need both"
        raise ValueError(message)
