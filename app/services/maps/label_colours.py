"""Colours of texts that may have several intents: for each intent, and for combinations."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from app.services.maps.views import Colour
from core.maps.palette import AMBER, BLUE, GREEN, GREY, RED, VIOLET, mixed

_MOST = 12
"""Most combinations with their own entry in the legend."""

AGREEMENT = (
    Colour("agrees", BLUE),
    Colour("shares an intent", GREEN),
    Colour("differs", RED),
    Colour("unlabelled", GREY),
)

Places = tuple[int, ...]
"""Intents of one text by their places in the legend, ascending."""


def combination_codes(
    labels: Sequence[Places | None], intents: Sequence[Colour], missing: str
) -> tuple[NDArray[np.int64], tuple[Colour, ...]]:
    """Return each text's code, (n,), and the legend: intents, combinations, none, unlabelled.

    Frequent combinations have a code each, rare ones share one; `missing` names unlabelled texts.
    """
    together = Counter(label for label in labels if label is not None and len(label) > 1)
    ranked = sorted(together, key=lambda label: (-together[label], label))
    legend = list(intents)
    code: dict[Places | None, int] = {(place,): place for place in range(len(intents))}
    for label in ranked[:_MOST]:
        code[label] = len(legend)
        legend.append(_combined([intents[place] for place in label]))
    if len(ranked) > _MOST:
        code |= dict.fromkeys(ranked[_MOST:], len(legend))
        legend.append(Colour("other combinations", VIOLET))
    code |= {(): len(legend), None: len(legend) + 1}
    legend += [Colour("no intent", AMBER, "outside"), Colour(missing, GREY, "unlabelled")]
    return np.array([code[label] for label in labels], dtype=np.int64), tuple(legend)


def agreement_codes(
    labels: Sequence[frozenset[int] | None], answers: Sequence[Places | None]
) -> NDArray[np.int64]:
    """Compare answers with labels, as sets; codes index `AGREEMENT`, -1 has no answer."""
    pairs = zip(labels, answers, strict=True)
    return np.array([_agreement(label, answer) for label, answer in pairs], dtype=np.int64)


def _agreement(label: frozenset[int] | None, answer: Places | None) -> int:
    if label is None:
        return 3
    if answer is None:
        return -1
    if label == set(answer):
        return 0
    return 1 if label & set(answer) else 2


def _combined(parts: Sequence[Colour]) -> Colour:
    return Colour(" + ".join(part.name for part in parts), mixed([part.colour for part in parts]))
