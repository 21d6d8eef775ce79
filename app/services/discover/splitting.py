"""Divide a group by meaning into a few."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from app.services.answering.opened import find_space, open_space
from app.services.discover.grouped import (
    GroupChoice,
    Grouped,
    group_together,
    said_by_intent,
)
from app.services.discover.runs import intent_centres, members_of, new_records
from app.services.discover.stored import waiting_texts
from app.services.embedding import embed_texts, encoder_of_maps
from app.services.studio import Studio
from core.errors import Conflict, InvalidInput
from core.text import counted, free_name
from core.vectors import unit_rows
from storage import projects
from storage.computed import text_groups
from storage.computed.taken_groups import taken_groups
from storage.computed.text_groups import GroupMember
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
        Conflict: Somebody has changed the group meanwhile, or it is split already.
    """
    with studio.database.read() as connection:
        target = projects.find(connection, project)
        ids = waiting_texts(connection, target, number)
        records = utterances.by_ids(connection, target.id, ids)
        taken = taken_groups(connection, target.id, target.head_revision).kept
    if not ids:  # an answer that was lost is asked for again
        raise Conflict(
            "No text of this group waits any more: it was split or labelled meanwhile.",
            "Look at the groups that are there now.",
        )
    made, drafts = _parted(studio, project, [records[key] for key in ids])
    with studio.database.write() as connection:
        if waiting_texts(connection, target, number) != ids:
            raise Conflict("Somebody has changed the group meanwhile.", "Split it once more.")
        families = text_groups.families(connection, target.id)
        whole = families.groups[number]
        joined = [part for part in families.parts[number] if part != number]
        came = {
            one.utterance_id: (one.group_id, one.closeness)
            for one in text_groups.members(connection, target.id, joined)
        }
        names = {one.name for one in families.groups.values() if one.id != number}
        fresh = _fresh(made, drafts, names, came)
        numbers = text_groups.add(connection, target.id, fresh)
        facts = {**whole.facts, "is_split": number not in taken}
        text_groups.change(connection, target.id, number, {"facts": facts})
        text_groups.place(connection, target.id, members_of(made, numbers))
    return tuple(numbers)


def _parted(
    studio: Studio, project: str, texts: list[UtteranceRecord]
) -> tuple[Grouped, list[TextGroupRecord]]:
    """Divide texts; also describe each part, with its own nearest intents."""
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
    return made, new_records(made, intent_centres(studio.database, space, encoder))


def _fresh(
    made: Grouped,
    drafts: Sequence[TextGroupRecord],
    names: set[str],
    came: Mapping[str, tuple[int, float]],
) -> list[TextGroupRecord]:
    """Return the new groups, each with a name that is not in use, and with what it came from."""
    fresh = list[TextGroupRecord]()
    for new, rows in zip(drafts, made.grouping.members(), strict=True):
        ids = [made.texts[row].id for row in rows]
        own = {"came_from": {key: came[key] for key in ids if key in came}}
        name = free_name(new.name, names, " ")
        fresh.append(replace(new, name=name, facts={**new.facts, **own}))
        names.add(name)
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
