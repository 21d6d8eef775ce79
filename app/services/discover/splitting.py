"""Divide a group by meaning into a few."""

import math
from collections.abc import Sequence
from dataclasses import replace

from app.services.answering.opened import find_space, open_space
from app.services.discover.grouped import (
    GroupChoice,
    Grouped,
    group_together,
    said_by_intent,
)
from app.services.discover.runs import group_record, members_of
from app.services.discover.stored import waiting_texts
from app.services.embedding import embed_texts, encoder_of_maps
from app.services.studio import Studio
from core.errors import Conflict, InvalidInput
from core.text import counted, free_name
from core.vectors import unit_rows
from storage import projects
from storage.computed import text_groups
from storage.computed.taken_groups import taken_groups
from storage.computed.text_groups import Families, GroupMember
from storage.database import Transaction
from storage.queries import utterances
from storage.records import ProjectRecord, TextGroupRecord, UtteranceRecord

_FEWEST, _MOST_PARTS = 4, 6
"""A group of fewer texts is not split; a larger one into at most so many parts."""


def split_group(studio: Studio, project: str, number: int) -> tuple[int, ...]:
    """Divide a group by meaning; return the numbers of the new groups, the largest first.

    The group is left without texts that wait, and listed no more unless it was taken. Merging the
    new groups into it takes the split back. They remember which of their texts came from groups
    that had been merged into it.

    Raises:
        NotFound: There is no such group.
        InvalidInput: It has too few texts, or all are the same to the encoder.
        Conflict: Somebody has changed the group meanwhile.
    """
    with studio.database.read() as connection:
        target = projects.find(connection, project)
        ids = waiting_texts(connection, target, number)
        records = utterances.by_ids(connection, target.id, ids)
        taken = taken_groups(connection, target.id, target.head_revision).kept
    made = _parted(studio, project, [records[key] for key in ids])
    with studio.database.write() as connection:
        if waiting_texts(connection, target, number) != ids:
            raise Conflict("Somebody has changed the group meanwhile.", "Split it once more.")
        families = text_groups.families(connection, target.id)
        whole = families.groups[number]
        joined = [part for part in families.parts[number] if part != number]
        fresh = _fresh(made, whole, families, text_groups.members(connection, target.id, joined))
        numbers = text_groups.add(connection, target.id, fresh)
        facts = {**whole.facts, "is_split": number not in taken}
        text_groups.change(connection, target.id, number, {"facts": facts})
        text_groups.place(connection, target.id, members_of(made, numbers))
    return tuple(numbers)


def _parted(studio: Studio, project: str, texts: list[UtteranceRecord]) -> Grouped:
    if len(texts) < _FEWEST:
        raise InvalidInput(
            f"{counted(len(texts), 'text')}: too few to split.", "Take them, or label each."
        )
    with studio.database.read() as connection:
        space = find_space(connection, project, None)
    encoder = encoder_of_maps(studio, open_space(studio, space).encoder)
    beside = list(said_by_intent(studio.database, space.project).values())
    unit = unit_rows(embed_texts(studio.database, encoder, [one.text for one in texts]))
    n_parts = min(_MOST_PARTS, max(2, round(math.sqrt(len(texts)) / 3)))
    made = group_together(texts, unit, GroupChoice(n_parts, beside=beside))
    made = replace(made, space=encoder.fingerprint)
    if len(made.grouping.centres) < 2:
        raise InvalidInput("These texts are all the same to the model.", "Take them together.")
    return made


def _fresh(
    made: Grouped, whole: TextGroupRecord, families: Families, joined: Sequence[GroupMember]
) -> list[TextGroupRecord]:
    """Return the new groups, each with the name and the description that its own texts give it."""
    names = {one.name for one in families.groups.values() if one.id != whole.id}
    came = {one.utterance_id: (one.group_id, one.closeness) for one in joined}
    fresh = list[TextGroupRecord]()
    for at, rows in enumerate(made.grouping.members()):
        new = group_record(made, at, rows, whole.facts["nearest"])
        ids = [made.texts[row].id for row in rows]
        own = {"came_from": {key: came[key] for key in ids if key in came}}
        new = replace(new, facts={**new.facts, "known": whole.facts.get("known"), **own})
        fresh.append(replace(new, name=free_name(new.name, names, " ")))
        names.add(fresh[-1].name)
    return fresh


def bring_back(connection: Transaction, project: ProjectRecord, number: int, whole: int) -> None:
    """Give a group that left another one its texts again, if a split of that one had moved them.

    Only texts that are in a group of the other one are moved.
    """
    families = text_groups.families(connection, project.id)
    own, parts = families.parts[number], families.parts.get(whole, ())
    told = [families.groups[part].facts.get("came_from", {}) for part in parts]
    came = {key: place for one in told for key, place in one.items() if place[0] in own}
    there = text_groups.members(connection, project.id, parts) if came else []
    back = [key for one in there if (key := one.utterance_id) in came]
    text_groups.place(connection, project.id, [GroupMember(key, *came[key]) for key in back])
