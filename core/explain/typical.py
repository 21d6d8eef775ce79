"""The example that stands for an intent: the one most like all others with its label."""

from collections.abc import Mapping, Sequence

import numpy as np

from core.heads.folds import said_rows, sources_of
from core.types import Exemplar, FloatArray
from core.vectors import mean_directions


def typical_examples(exemplars: Sequence[Exemplar], unit: FloatArray) -> Mapping[str, Exemplar]:
    """Return each intent's example nearest to its mean direction; `unit` are unit rows, (m, d).

    A wrongly labelled text lies far from the others, so it does not stand for them. Made texts are
    left out.
    """
    real = said_rows(sources_of(exemplars)).tolist()
    pairs = [(row, name) for row in real for name in exemplars[row].intents]
    if not pairs:
        return {}
    names = sorted({name for _, name in pairs})
    place = {name: number for number, name in enumerate(names)}
    rows = np.array([row for row, _ in pairs])
    of = np.array([place[name] for _, name in pairs])
    centres = mean_directions(unit[rows], of, len(names))
    closeness = np.einsum("ij,ij->i", unit[rows], centres[of])
    found: dict[str, Exemplar] = {}
    for at in np.argsort(-closeness, kind="stable").tolist():
        found.setdefault(names[of[at]], exemplars[rows[at]])
    return found
