"""Groups of unlabelled texts: which texts are in which, and what people did with a group."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from core.discover.standing import Standing
from core.errors import NotFound
from storage.queries.dataset import LABELS_TEXT, with_utterances
from storage.records import TextGroupRecord, now, record_of
from storage.tables import grouped_text, text_group, utterance

_CHUNK = 5_000
_GONE = ""
"""Name of the row that holds the highest number once its group is gone; no group is named so."""


@dataclass(frozen=True, slots=True)
class GroupMember:
    """A text in a group, and its cosine to the group's centre, in [-1, 1]."""

    utterance_id: str
    group_id: int
    closeness: float


@dataclass(frozen=True, slots=True, eq=False)
class Families:
    """Groups with those that were merged into them, by the number of the group that is shown."""

    groups: Mapping[int, TextGroupRecord]
    parts: Mapping[int, Sequence[int]]

    def shown(self, number: int) -> int:
        """Return the group in which a group's texts are shown.

        An earlier release let groups be merged in a circle: of these it is the first.
        """
        passed = [number]
        while (into := self.groups[passed[-1]].merged_into) is not None:
            if into in passed:
                return min(passed[passed.index(into) :])
            passed.append(into)
        return passed[-1]

    @property
    def circular(self) -> list[int]:
        """Numbers of the groups that are shown though they were merged into another."""
        return [number for number in self.parts if self.groups[number].merged_into is not None]


@dataclass(slots=True)
class Inhabitants:
    """How many texts of a group wait for a label, and how many have each label.

    Skipped texts and those of the test set are neither. `outside` of those that wait are out of
    scope, and were grouped on wish.
    """

    waiting: int = 0
    outside: int = 0
    labels: Counter[tuple[str, ...]] = field(default_factory=Counter)


def list_all(connection: Connection, project_id: int) -> list[TextGroupRecord]:
    """Return all groups of a project in the order of their numbers."""
    mine = sa.and_(text_group.c.project_id == project_id, text_group.c.name != _GONE)
    rows = connection.execute(sa.select(text_group).where(mine).order_by(text_group.c.id))
    return [record_of(TextGroupRecord, row) for row in rows]


def families(connection: Connection, project_id: int) -> Families:
    """Return all groups of a project, with what was merged into each that is shown."""
    groups = {group.id: group for group in list_all(connection, project_id)}
    parts: dict[int, list[int]] = {}
    found = Families(groups, parts)
    for number in groups:
        parts.setdefault(found.shown(number), []).append(number)
    return found


def find(connection: Connection, project_id: int, number: int) -> TextGroupRecord:
    """Return a group, or raise `NotFound`."""
    query = sa.select(text_group).where(_is(project_id, number), text_group.c.name != _GONE)
    if (row := connection.execute(query).first()) is not None:
        return record_of(TextGroupRecord, row)
    if 1 <= number <= _highest(connection, project_id):
        raise NotFound(
            "This group is there no more: texts were grouped anew meanwhile, or one was erased.",
            "Nothing was changed. Look at the groups that are there now.",
        )
    raise NotFound(f"There is no group {number}.", "Look at the groups again.")


def places(connection: Connection, project_id: int) -> dict[str, int]:
    """Return the group of each text that is in one, by the text's id."""
    query = sa.select(grouped_text.c.utterance_id, grouped_text.c.group_id)
    rows = connection.execute(query.where(grouped_text.c.project_id == project_id))
    return {row.utterance_id: row.group_id for row in rows}


def members(connection: Connection, project_id: int, groups: Collection[int]) -> list[GroupMember]:
    """Return the texts of some groups, whether they have a label or not."""
    query = sa.select(grouped_text).where(
        grouped_text.c.project_id == project_id, grouped_text.c.group_id.in_(groups)
    )
    return [record_of(GroupMember, row) for row in connection.execute(query)]


def waiting_places(connection: Connection, project_id: int) -> dict[str, int]:
    """Return the group of each text that is in one and waits for a label, by the text's id."""
    query = sa.select(grouped_text.c.utterance_id, grouped_text.c.group_id)
    query = query.select_from(with_utterances(grouped_text))
    rows = connection.execute(query.where(grouped_text.c.project_id == project_id, *_waits()))
    return {row.utterance_id: row.group_id for row in rows}


def waiting_in(connection: Connection, project_id: int, groups: Sequence[int]) -> list[str]:
    """Return the ids of the texts of some groups that wait for a label, the closest first.

    Those that were out of scope when they were grouped, and still are, wait for another one.
    """
    query = sa.select(utterance.c.id, utterance.c.labels).select_from(with_utterances(grouped_text))
    query = query.where(
        grouped_text.c.project_id == project_id,
        grouped_text.c.group_id.in_(groups),
        sa.or_(sa.and_(*_waits()), sa.and_(*_is_outside())),
    )
    order = (grouped_text.c.closeness.desc(), grouped_text.c.utterance_id)
    again = asked_again(connection, project_id)
    rows = connection.execute(query.order_by(*order))
    return [row.id for row in rows if row.labels is None or row.id in again]


def decided_in(connection: Connection, project_id: int, groups: Sequence[int]) -> set[str]:
    """Return the ids of the texts of some groups that wait for no label, nor for another one."""
    query = sa.select(grouped_text.c.utterance_id).select_from(with_utterances(grouped_text))
    query = query.where(
        grouped_text.c.project_id == project_id,
        grouped_text.c.group_id.in_(groups),
        sa.not_(sa.and_(*_waits())),
    )
    return set(connection.execute(query).scalars()) - asked_again(connection, project_id).keys()


def asked_again(connection: Connection, project_id: int) -> dict[str, int]:
    """Return the group of each text that was out of scope when it was grouped, and still is.

    By the text's id.
    """
    query = sa.select(text_group.c.facts).where(text_group.c.project_id == project_id)
    every = connection.execute(query).scalars()
    told = {key for facts in every for key in facts.get("outside", ())}
    if not told:
        return {}
    outside = sa.select(grouped_text.c.utterance_id, grouped_text.c.group_id)
    outside = outside.select_from(with_utterances(grouped_text)).where(
        grouped_text.c.project_id == project_id, *_is_outside()
    )
    rows = connection.execute(outside)
    return {row.utterance_id: row.group_id for row in rows if row.utterance_id in told}


def inhabitants(connection: Connection, project_id: int) -> dict[int, Inhabitants]:
    """Count the texts of each group by label; groups without texts are left out."""
    query = sa.select(
        grouped_text.c.group_id, utterance.c.labels, sa.func.count().label("n")
    ).select_from(with_utterances(grouped_text))
    query = query.where(
        grouped_text.c.project_id == project_id,
        utterance.c.split != "test",
        utterance.c.skipped == 0,
    ).group_by(grouped_text.c.group_id, utterance.c.labels)
    found: dict[int, Inhabitants] = {}
    for row in connection.execute(query):
        group = found.setdefault(row.group_id, Inhabitants())
        if row.labels is None:
            group.waiting += row.n
        else:
            group.labels[tuple(row.labels)] += row.n
    for number in asked_again(connection, project_id).values():
        found[number].waiting += 1
        found[number].outside += 1
        found[number].labels[()] -= 1
    return found


def of_families(
    connection: Connection, project_id: int, families: Families
) -> dict[int, Inhabitants]:
    """Count the texts of each group that is shown, with those of the groups merged into it."""
    found = inhabitants(connection, project_id)
    together: dict[int, Inhabitants] = {}
    for number, parts in families.parts.items():
        every = together[number] = Inhabitants()
        for one in (found[part] for part in parts if part in found):
            every.waiting += one.waiting
            every.outside += one.outside
            every.labels += one.labels
    return together


def standing_of(group: TextGroupRecord, found: Inhabitants) -> Standing:
    """Return where a group with these texts stands."""
    told = group.facts.get("for_later")
    return Standing(
        waiting=found.waiting,
        labelled=found.labels.total(),
        set_aside=group.set_aside,
        texts_then=group.facts.get("texts_then"),
        put_aside=None if told is None else bool(told),
        is_reopened=bool(group.facts.get("reopened")),
    )


def add(connection: Connection, project_id: int, groups: Sequence[TextGroupRecord]) -> list[int]:
    """Add groups under numbers that no group has had; return these, in order."""
    first = _highest(connection, project_id) + 1
    numbers = list(range(first, first + len(groups)))
    rows = [
        {"project_id": project_id, **asdict(group), "id": number}
        for group, number in zip(groups, numbers, strict=True)
    ]
    if rows:
        connection.execute(sa.insert(text_group), rows)
    return numbers


def place(connection: Connection, project_id: int, texts: Sequence[GroupMember]) -> None:
    """Put texts into groups; those that were in another group leave it."""
    for start in range(0, len(texts), _CHUNK):
        part = texts[start : start + _CHUNK]
        rows = [{"project_id": project_id, **asdict(text)} for text in part]
        connection.execute(sa.insert(grouped_text).prefix_with("OR REPLACE"), rows)


def change(
    connection: Connection, project_id: int, number: int, values: Mapping[str, object]
) -> None:
    """Change a group's `name`, `facts`, `centre`, `merged_into` or `set_aside`."""
    connection.execute(sa.update(text_group).where(_is(project_id, number)).values(dict(values)))


def remove_all(connection: Connection, project_id: int, kept: Collection[int] = ()) -> None:
    """Forget all groups of a project but those `kept`; its texts stay.

    The highest number is remembered: a page that still shows a group would act on another one that
    got its number.
    """
    highest = _highest(connection, project_id)
    for table, number in ((grouped_text, grouped_text.c.group_id), (text_group, text_group.c.id)):
        gone = sa.and_(table.c.project_id == project_id, number.not_in(kept))
        connection.execute(sa.delete(table).where(gone))
    if highest and highest not in kept:
        # An earlier release takes it for a group without texts, and reads these facts.
        facts = {"description": "", "cohesion": 0.0, "nearest": []}
        mark = TextGroupRecord(highest, _GONE, facts, b"", None, 0, now())
        values = {"project_id": project_id, **asdict(mark)}
        connection.execute(sa.insert(text_group).values(values))


def _highest(connection: Connection, project_id: int) -> int:
    """Return the highest number that a group of a project has had; 0: it has had none."""
    query = sa.select(sa.func.max(text_group.c.id)).where(text_group.c.project_id == project_id)
    found: int | None = connection.execute(query).scalar()
    return found or 0


def _is(project_id: int, number: int) -> sa.ColumnElement[bool]:
    return sa.and_(text_group.c.project_id == project_id, text_group.c.id == number)


def _waits() -> tuple[sa.ColumnElement[bool], ...]:
    return (utterance.c.labels.is_(None), utterance.c.skipped == 0, utterance.c.split != "test")


def _is_outside() -> tuple[sa.ColumnElement[bool], ...]:
    return (LABELS_TEXT == "[]", utterance.c.skipped == 0, utterance.c.split != "test")
