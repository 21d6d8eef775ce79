"""Colours of texts that may have several intents: one for each intent, and for combinations."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from app.services.maps.views import Colour
from core.maps.palette import AMBER, BLUE, GREEN, GREY, RED, VIOLET, mixed

_MOST = 12
"""Combinations that have an entry of their own in the legend."""

AGREEMENT = (
    Colour("agrees", BLUE),
    Colour("shares an intent", GREEN),
    Colour("differs", RED),
    Colour("unlabelled", GREY),
)

Places = tuple[int, ...]
"""Intents of one text by their places in the legend, rising."""


def combination_codes(
    labels: Sequence[Places | None], intents: Sequence[Colour], missing: str
) -> tuple[NDArray[np.int64], tuple[Colour, ...]]:
    """Give each text a code and return the legend that the codes count.

    Texts of one intent have its code. Frequent combinations have one each, rare ones share one.

    Args:
        labels: Of each text; None where there is none.
        intents: Entries of the single intents.
        missing: What the legend calls texts without a label.

    Returns:
        Codes (n,), and the legend: intents, combinations, no intent, and those without a label.
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
    legend += [Colour("no intent", AMBER), Colour(missing, GREY)]
    return np.array([code[label] for label in labels], dtype=np.int64), tuple(legend)


def agreement_codes(
    labels: Sequence[frozenset[int] | None], answers: Sequence[Places | None]
) -> NDArray[np.int64]:
    """Hold answers against labels, as sets; the codes count `AGREEMENT`, -1 has no answer."""
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
