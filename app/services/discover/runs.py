"""Group a project's unlabelled texts as a job, and keep the groups for the Discover page."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.jobs.context import JobContext, Publish
from app.services.answering.opened import Space, find_space, open_space
from app.services.discover.describing import Centres, line_about
from app.services.discover.grouped import (
    GroupChoice,
    Grouped,
    centres_of,
    group_together,
    read_texts,
    said_by_intent,
)
from app.services.embedding import (
    embed_texts,
    encoder_of_maps,
    precision_of_maps,
    resolve_device,
)
from app.services.studio import Studio
from core.discover.known import are_alike, known_groups
from core.encoders.base import Encoder
from core.errors import Conflict, InvalidInput
from core.text import counted, free_name, normalise
from core.types import FloatArray
from core.vectors import unit_rows
from storage import jobs, projects
from storage.computed import text_groups
from storage.computed.taken_groups import forget_others, taken_groups
from storage.computed.text_groups import GroupMember
from storage.database import Database, Transaction
from storage.queries import dataset, utterances
from storage.queries.utterances import Filter
from storage.records import JobRecord, ProjectRecord, TextGroupRecord, UtteranceRecord, now

KIND = "discover"
WAITING = Filter(state="unlabelled")
OUTSIDE = Filter(state="out-of-scope")
_ENCODED = 0.8
"""Share of the work that encoding is."""


@dataclass(frozen=True, slots=True)
class GroupFacts:
    """What the Discover page tells of a group, as of the time it was made or joined last.

    `nearest` are the closest intents with labelled texts: id, and cosine of the two centres.
    `space` is the fingerprint of the encoder of its centre. `texts_then`: how many texts it had
    when somebody was done with it, with a label or without.
    `is_new`: the newest grouping founded it, unlike labelled texts. `known`: how well labels
    tell what it is about, in [0, 1]; None without a label. `left`: ids of texts that it had until
    texts were grouped anew. `for_later`: somebody put it aside; None of one that nobody has.
    `is_split`: its texts went to new groups, and it was taken neither before nor since.
    `outside`: ids of texts that were grouped on wish though they are out of scope.
    `came_from`: of a part of a split, the group and closeness of texts, by id, that were in a group
    which had been merged into the whole.
    """

    description: str
    cohesion: float
    nearest: Sequence[tuple[str, float]]
    is_new: bool = False
    known: float | None = None
    left: Sequence[str] = ()
    for_later: bool | None = None
    is_split: bool = False
    texts_then: int | None = None
    space: str = ""
    outside: Sequence[str] = ()
    came_from: Mapping[str, tuple[int, float]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class _Before:
    """Groups that texts join, the group of each text in one, and the names that are in use."""

    groups: Sequence[TextGroupRecord]
    places: dict[str, int]
    names: Collection[str]


def start_grouping(
    studio: Studio,
    project: str,
    n_groups: int | None = None,
    *,
    anew: bool = False,
    out_of_scope: bool = False,
) -> JobRecord:
    """Queue a job that puts the texts that wait for a label into groups.

    Groups that are there keep their number, name and texts, and new texts join them, or found
    others; with `anew` all waiting texts are grouped afresh, and only groups that were taken stay,
    with their labelled texts. Texts that are `out_of_scope` are grouped on wish, too, unless they
    are in a group that stays. A job like it that has not ended is returned instead.

    Raises:
        Conflict: A job with other choices has not ended.
        NotFound: There is no such project.
        InvalidInput: Nothing waits for a label, or so many groups cannot be made.
    """
    GroupChoice(n_groups).check()
    with studio.database.write() as connection:
        target = projects.find(connection, project)
        outside = count_texts(connection, target, OUTSIDE) if out_of_scope else 0
        if not outside and not count_texts(connection, target, WAITING):
            raise InvalidInput("No text waits for a label.", "Import more texts on the Data page.")
        payload = {
            "n_groups": n_groups,
            "anew": anew,
            "out_of_scope": out_of_scope,
            "device": studio.settings.device,
        }
        under_way = jobs.live_of(connection, target.id, KIND)
        if any(one.payload != payload for one in under_way):
            raise Conflict(
                "Groups are being made already, by other choices.",
                "Wait until they are there, then choose again.",
            )
        job = under_way[0] if under_way else jobs.enqueue(connection, KIND, payload, target.id)
    studio.executor.ensure_running()
    return job


def do_grouping(studio: Studio, context: JobContext) -> Publish:
    """Encode the texts and group them; return the step that stores the groups."""
    payload = context.job.payload
    with context.database.read() as connection:
        project = projects.get(connection, context.job.project_id or 0)
        space = find_space(connection, project.name, None)
        before = _before(connection, project, anew=bool(payload["anew"]))
        members = utterances.by_ids(connection, project.id, list(before.places))
    waiting = read_texts(context.database, project, WAITING)
    if payload.get("out_of_scope"):  # jobs of earlier releases do not have it
        waiting += read_texts(context.database, project, OUTSIDE)
    every = {one.id: one for one in (*members.values(), *waiting)}
    context.report(0.0, "opening the language model")
    device = resolve_device(payload["device"])
    exact = open_space(studio, space, device).encoder
    encoder = encoder_of_maps(studio, exact, device)
    texts = list(every.values())
    unit = _embedded(context, encoder, texts)
    context.report(_ENCODED, f"grouping {counted(len(texts), 'text')}", at_once=True)
    beside = list(said_by_intent(context.database, project).values())
    choice = GroupChoice(payload["n_groups"], _known(texts, before), beside)
    made = replace(group_together(texts, unit, choice), space=encoder.fingerprint)
    centres = intent_centres(context.database, space, encoder)
    groups = _records(made, before, centres)

    def publish(connection: Transaction) -> dict[str, Any]:
        anew = bool(payload["anew"])
        settled = _begin_anew(connection, project, texts) if anew else set(before.places)
        _renew(connection, project, groups)
        fresh = [group for group in groups if not group.id]
        free = iter(text_groups.add(connection, project.id, fresh))
        members = members_of(made, [group.id or next(free) for group in groups])
        placed = [one for one in members if one.utterance_id not in settled]
        again = _measured_again(connection, project, members, before, made.space)
        text_groups.place(connection, project.id, [*placed, *again])
        told = {"groups": len(fresh), "texts": len(placed), "by": space.name}
        return {**told, "precision": precision_of_maps(studio, encoder, exact)}

    return publish


def _begin_anew(
    connection: Transaction, project: ProjectRecord, texts: Sequence[UtteranceRecord]
) -> set[str]:
    """Remove the groups that were not taken; return the ids of texts that stay in the others.

    These have got a label since they were read, such as with a group that was taken meanwhile.
    """
    head = projects.get(connection, project.id).head_revision
    forget_others(connection, project.id, head)
    places = text_groups.places(connection, project.id)
    there = {one.id: one.labels for one in texts if one.id in places}
    now = utterances.by_ids(connection, project.id, list(there))
    return {key for key, one in now.items() if one.labels not in (None, there[key])}


def _measured_again(
    connection: Transaction,
    project: ProjectRecord,
    members: Sequence[GroupMember],
    before: _Before,
    space: str,
) -> list[GroupMember]:
    """Return texts that stay in groups of another encoder, as close as they are by that of now.

    Texts that were moved since they were read are left out.
    """
    other = {group.id for group in before.groups if group.facts.get("space") != space}
    now = text_groups.places(connection, project.id) if other else {}
    stays = {key for key, group in before.places.items() if now.get(key) == group in other}
    return [
        one
        for one in members
        if one.utterance_id in stays and before.places[one.utterance_id] == one.group_id
    ]


def count_out_of_scope(studio: Studio, project: str) -> int:
    """Count the texts outside the test set that are labelled out of scope.

    Raises:
        NotFound: There is no such project.
    """
    with studio.database.read() as connection:
        return count_texts(connection, projects.find(connection, project), OUTSIDE)


def count_texts(connection: Transaction, project: ProjectRecord, which: Filter) -> int:
    """Count the texts outside the test set that match a filter."""
    every = utterances.count_all(connection, project.id, which)
    return every - utterances.count_all(connection, project.id, replace(which, split="test"))


def _before(connection: Transaction, project: ProjectRecord, *, anew: bool) -> _Before:
    groups = text_groups.list_all(connection, project.id)
    if not anew:
        places = text_groups.places(connection, project.id)
        return _Before(groups, places, [group.name for group in groups])
    kept = taken_groups(connection, project.id, project.head_revision).kept
    return _Before((), {}, [group.name for group in groups if group.id in kept])


def _embedded(
    context: JobContext, encoder: Encoder, texts: Sequence[UtteranceRecord]
) -> FloatArray:
    def told(done: int, total: int) -> None:
        words = f"reading, {done:,} of {counted(total, 'text')}"
        context.report(_ENCODED * done / total, words)

    said = [one.text for one in texts]
    return unit_rows(embed_texts(context.database, encoder, said, told))


def _known(texts: Sequence[UtteranceRecord], before: _Before) -> dict[str, str]:
    """Return the groups of texts that stay; their names are the numbers of the groups."""
    return {
        normalise(one.text): str(before.places[one.id]) for one in texts if one.id in before.places
    }


def intent_centres(database: Database, space: Space, encoder: Encoder) -> Centres:
    """Find where the intents are, by id."""
    with database.read() as connection:
        own = {key: key for key in dataset.open_intents(connection, space.project.id)}
    return centres_of(database, space.project, own, encoder)


def _records(made: Grouped, before: _Before, centres: Centres) -> list[TextGroupRecord]:
    """Describe each group; those that are kept have their number and name, others no number."""
    kept = {str(group.id): group for group in before.groups}
    taken = set(before.names)
    records = list[TextGroupRecord]()
    drafts = new_records(made, centres)
    for at, (new, rows) in enumerate(zip(drafts, made.grouping.members(), strict=True)):
        if (old := kept.get(made.names[at])) is not None:
            joined = [key for key in new.facts["outside"] if key not in before.places]
            outside = {"outside": [*old.facts.get("outside", ()), *joined]}
            new = replace(old, facts={**new.facts, **outside}, centre=new.centre)
        else:
            is_new = bool(kept) and not are_alike(made.rows[rows], centres.labelled)
            facts = {**new.facts, "is_new": is_new}
            new = replace(new, name=free_name(new.name, taken, " "), facts=facts)
            taken.add(new.name)
        records.append(new)
    return records


def _renew(
    connection: Transaction, project: ProjectRecord, groups: Sequence[TextGroupRecord]
) -> None:
    """Store what was found about groups that are there, beside what people did with them since."""
    acted = {one.id: one.facts for one in text_groups.list_all(connection, project.id)}
    kept = ("description", "left", "for_later", "is_split", "reopened", "texts_then", "came_from")
    for group in groups:
        if (facts := acted.get(group.id)) is not None:
            told = {name: facts[name] for name in kept if name in facts}
            values = {"facts": {**group.facts, **told}, "centre": group.centre}
            text_groups.change(connection, project.id, group.id, values)


def _known_groups(made: Grouped, centres: Centres) -> list[float] | list[None]:
    """Return how well labels tell what each group is about; None without a label."""
    if not len(centres.labelled):
        return [None] * len(made.grouping.centres)
    known = known_groups(made.grouping, made.rows, centres.labelled)
    return [round(one, 4) for one in known.tolist()]


def new_records(made: Grouped, centres: Centres) -> list[TextGroupRecord]:
    """Describe groups as if none of them were stored yet, with the intents that are nearest."""
    near = made.grouping.centres @ centres.rows.T
    known = _known_groups(made, centres)
    records = list[TextGroupRecord]()
    for at, rows in enumerate(made.grouping.members()):
        closest = np.argsort(-near[at], kind="stable")[:3].tolist()
        nearest = [(centres.names[one], round(float(near[at, one]), 4)) for one in closest]
        new = _record(made, at, rows, nearest)
        records.append(replace(new, facts={**new.facts, "known": known[at]}))
    return records


def _record(
    made: Grouped,
    at: int,
    rows: NDArray[np.int64],
    nearest: Sequence[tuple[str, float]],
) -> TextGroupRecord:
    """Describe a group that is not stored yet: the group `at`, whose texts are `rows`."""
    facts = GroupFacts(
        description=line_about(made.terms[at], made.texts[rows[0]].text),
        cohesion=round(float(made.grouping.closeness[rows].mean()), 4),
        nearest=nearest,
        space=made.space,
        outside=[made.texts[row].id for row in rows if made.texts[row].labels is not None],
    )
    centre = made.grouping.centres[at].astype("<f4").tobytes()
    return TextGroupRecord(0, made.names[at], asdict(facts), centre, None, 0, now())


def members_of(made: Grouped, numbers: Sequence[int]) -> list[GroupMember]:
    """Return all texts with the numbers of their groups."""
    places = zip(made.texts, made.grouping.of.tolist(), made.grouping.closeness, strict=True)
    return [GroupMember(one.id, numbers[group], float(near)) for one, group, near in places]
