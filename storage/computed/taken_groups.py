"""Groups that were taken: which they are, and which texts were left of them.

They outlast `Group anew`, which puts what waits in them into other groups.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from sqlalchemy.engine import Connection

from core.splits import drawn_rows
from storage.computed import text_groups
from storage.computed.text_groups import Families
from storage.log.label_origins import labelled_with_groups

_MOST_LEFT = 1_000
"""Texts left of groups that are remembered; of more, an even share of each group."""


@dataclass(frozen=True, slots=True)
class TakenGroups:
    """Texts whose label came with a group, and the groups that have any of them.

    Attributes:
        labelled: Ids of these texts.
        kept: Numbers of their groups, and of all that are shown in one with them.
        left: Ids of other texts that are in these groups, or were until texts were grouped anew,
            by the number of the group that is shown. Some have got a label since.
    """

    labelled: frozenset[str]
    kept: frozenset[int]
    left: Mapping[int, Collection[str]]


def taken_groups(connection: Connection, project_id: int, revision: int) -> TakenGroups:
    """Find the groups, as they are now, whose texts were labelled with them up to a revision."""
    labelled = labelled_with_groups(connection, project_id, revision)
    families = text_groups.families(connection, project_id)
    places = text_groups.places(connection, project_id) if labelled else {}
    shown = {key: families.shown(number) for key, number in places.items()}
    again = text_groups.asked_again(connection, project_id)  # it may be in a group that nobody took
    taken = {shown[key] for key in labelled - again.keys() if key in shown}
    left = {number: _remembered(families, number) for number in sorted(taken)}
    for key, number in shown.items():
        if number in taken and key not in labelled:
            left[number].add(key)
    kept = {part for number in taken for part in families.parts[number]}
    return TakenGroups(frozenset(labelled), frozenset(kept), left)


def forget_others(connection: Connection, project_id: int, revision: int) -> None:
    """Remove the groups that were not taken; the others remember what waits in them.

    They are shown as done until a label of theirs is taken back, or another text joins them. What
    is out of scope is asked about no more, unless it is grouped again.
    """
    found = taken_groups(connection, project_id, revision)
    waits = text_groups.waiting_places(connection, project_id)
    every = {number: sorted(waits.keys() & left) for number, left in found.left.items()}
    share = min(1.0, _MOST_LEFT / max(1, sum(map(len, every.values()))))
    groups = text_groups.families(connection, project_id).groups
    text_groups.remove_all(connection, project_id, found.kept)
    for number in found.kept - every.keys():
        facts = {**groups[number].facts, "outside": []}
        text_groups.change(connection, project_id, number, {"facts": facts})
    for number, left in every.items():
        rows = drawn_rows(len(left), round(share * len(left)), seed=number)
        remembered = {"left": [left[row] for row in rows], "reopened": False, "outside": []}
        facts = {**groups[number].facts, **remembered}
        text_groups.change(connection, project_id, number, {"facts": facts, "set_aside": 0})


def _remembered(families: Families, number: int) -> set[str]:
    every = (families.groups[part].facts.get("left", ()) for part in families.parts[number])
    return {key for left in every for key in left}
