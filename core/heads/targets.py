"""Labels as the 0/1 matrix that heads are fitted to."""

from collections.abc import Collection, Sequence

import numpy as np

from core.types import ScoreArray


def target_matrix(labels: Sequence[Collection[str]], intents: Sequence[str]) -> ScoreArray:
    """Return a row for each label with a 1 for each of its intents; (labels, intents) float64.

    Intents that have no column are left out.

    Args:
        labels: The intents of each text.
        intents: The intent of each column.
    """
    column = {intent: place for place, intent in enumerate(intents)}
    targets = np.zeros((len(labels), len(intents)))
    for row, label in enumerate(labels):
        targets[row, [column[intent] for intent in label if intent in column]] = 1.0
    return targets
