"""Labels as the 0/1 matrix that heads are fitted to."""

from collections.abc import Collection, Sequence

import numpy as np

from core.types import ScoreArray


def target_matrix(
    labels: Sequence[Collection[str]], intents: Sequence[str], *, others: bool = False
) -> ScoreArray:
    """Return a row for each label with a 1 for each of its intents; (labels, intents) float64.

    With `others`, intents of a label that have no column are left out.

    Raises:
        KeyError: A label names an intent without a column, and `others` is false.
    """
    column = {intent: place for place, intent in enumerate(intents)}
    targets = np.zeros((len(labels), len(intents)))
    for row, label in enumerate(labels):
        targets[row, [column[key] for key in label if key in column or not others]] = 1.0
    return targets
