"""The threshold of a project that was filled from the sure cores of groups.

The texts of a core are closer to each other than those that will be asked, so that held out they
score too high: the threshold that rejects a twentieth of them rejects a third of what is asked. The
doubtful members of the same groups, which wait for a label, stand for what waits.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from core.splits import Rows
from core.training.from_labels.inputs import CoreLabels, RunInputs
from core.types import ScoreArray


def usable_cores(inputs: RunInputs, rows: Rows) -> CoreLabels | None:
    """Return the labels from groups, if any held-out row has one and any text of them waits."""
    cores = inputs.cores
    if cores is None or not cores.doubtful or not _is_core(inputs, cores, rows).any():
        return None
    return cores


def threshold_beside_cores(
    inputs: RunInputs, rows: Rows, held_out: ScoreArray, doubtful: ScoreArray, rejection: float
) -> float:
    """Return the score that rejects a share of the texts that labels and doubtful texts stand for.

    `rows` and `held_out`, (n,), are the exemplars that were held out and their largest scores;
    `doubtful`, (m,), are those of the doubtful texts. A label from elsewhere counts 1. The labels
    from groups and the doubtful texts together count as many as these labels, divided as labelled
    and waiting texts are.

    Raises:
        ValueError: No label came with a group.
    """
    cores = usable_cores(inputs, rows)
    if cores is None:
        message = "no label came with a group"
        raise ValueError(message)
    is_core = _is_core(inputs, cores, rows)
    each = is_core.sum() * cores.waiting / len(doubtful)
    weights = [np.where(is_core, 1.0 - cores.waiting, 1.0), np.full(len(doubtful), each)]
    scores, shares = np.concatenate([held_out, doubtful]), np.concatenate(weights)
    return float(np.quantile(scores, rejection, weights=shares, method="inverted_cdf"))


def threshold_of(
    inputs: RunInputs,
    rows: Rows,
    scores: ScoreArray,
    scored: Callable[[Sequence[str]], ScoreArray],
    rejection: float,
) -> float:
    """Return the score that rejects a share of the texts in scope, cores of groups or not.

    `rows` and `scores`, (n, intents), are the exemplars that were held out; `scored` scores texts,
    (m, intents), and is asked for the doubtful ones alone, if there are any.
    """
    cores, held_out = usable_cores(inputs, rows), scores.max(1)
    if cores is None:
        return float(np.quantile(held_out, rejection))
    doubtful = scored(cores.doubtful).max(1)
    return threshold_beside_cores(inputs, rows, held_out, doubtful, rejection)


def _is_core(inputs: RunInputs, cores: CoreLabels, rows: Rows) -> NDArray[np.bool_]:
    return np.array([inputs.exemplars[row].id in cores.ids for row in rows], dtype=np.bool_)
