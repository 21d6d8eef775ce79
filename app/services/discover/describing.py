"""A group in words and figures: description, typical texts, nearest intents, share answered."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from app.services.discover.views import DiscoveredGroup, NearIntent
from core.discover.grouping import Grouping
from core.discover.naming import tells_something
from core.discover.order import CORE
from core.discover.showing import show
from core.types import FloatArray

_NEAREST = 2
_MOST_SIGNS = 90
"""Characters of a typical text in a description."""


@dataclass(frozen=True, slots=True, eq=False)
class Described:
    """Texts with their groups, and each group's name and terms."""

    texts: Sequence[str]
    grouping: Grouping
    names: Sequence[str]
    terms: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True, eq=False)
class Centres:
    """Mean directions (n, d) of the intents that have labelled texts, and these texts (m, d)."""

    names: tuple[str, ...]
    rows: FloatArray = field(repr=False)
    labelled: FloatArray = field(repr=False)


def describe(
    found: Described, centres: Centres, outside: NDArray[np.bool_] | None
) -> tuple[DiscoveredGroup, ...]:
    """Describe each group, the largest first.

    `outside` says which texts the champion answers with no intent, (n,); None without a champion.
    """
    near = found.grouping.centres @ centres.rows.T
    groups = [
        _describe(found, group, rows, _nearest(centres, near[group]), outside)
        for group, rows in enumerate(found.grouping.members())
    ]
    return tuple(sorted(groups, key=lambda group: -group.size))


def _describe(
    found: Described,
    group: int,
    rows: NDArray[np.int64],
    nearest: tuple[NearIntent, ...],
    outside: NDArray[np.bool_] | None,
) -> DiscoveredGroup:
    shown = show(rows, found.grouping.closeness[rows], CORE)
    typical = tuple(found.texts[row] for row in shown.typical.tolist())
    return DiscoveredGroup(
        name=found.names[group],
        description=line_about(found.terms[group], typical[0]),
        size=shown.size,
        cohesion=round(shown.cohesion, 4),
        typical=typical,
        border=tuple(found.texts[row] for row in shown.border.tolist()),
        nearest=nearest,
        in_scope=None if outside is None else round(float((~outside[rows]).mean()), 4),
    )


def _nearest(centres: Centres, cosines: FloatArray) -> tuple[NearIntent, ...]:
    best = np.argsort(-cosines, kind="stable")[:_NEAREST].tolist()
    return tuple(NearIntent(centres.names[row], round(float(cosines[row]), 4)) for row in best)


def line_about(terms: Sequence[str], text: str) -> str:
    """Return one line such as: About parcel, late: “where is my parcel”."""
    terms = [term for term in terms if tells_something(term)]
    text = " ".join(text.split())
    text = text if len(text) <= _MOST_SIGNS else text[: _MOST_SIGNS - 1] + "…"
    return f"About {', '.join(terms)}: “{text}”" if terms else f"Such as “{text}”"
