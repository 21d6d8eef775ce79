"""One act for all examples that stand in a project several times: one of each is kept."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.services.review.findings import SAME_TEXT, Finding
from app.services.studio import Studio
from storage.log.label_origins import label_origins
from storage.queries import utterances
from storage.records import ProjectRecord, UtteranceRecord

_SHOWN = 200

Pair = tuple[str, str]
"""Ids of two examples of one finding."""


@dataclass(frozen=True, slots=True)
class DeletedCopy:
    """A text that would be deleted, and the text that is kept in its place."""

    deleted: str
    kept: str


@dataclass(frozen=True, slots=True)
class Copies:
    """Examples that an act for many open findings would delete, as utterance ids.

    None is a test text, and none is unlabelled.

    Attributes:
        texts: Number of different texts of which others are deleted.
        ids: To delete; their labels were given by the person who acts, or came with their files.
        theirs: Copies that somebody else labelled; deleted only if that is asked for.
        shown: The first 200 of all of these, in words.
    """

    texts: int
    ids: tuple[str, ...]
    theirs: tuple[str, ...]
    shown: tuple[DeletedCopy, ...] = ()


def copies_of(
    studio: Studio, project: ProjectRecord, findings: Sequence[Finding], revision: int
) -> tuple[Copies | None, Copies | None]:
    """Return the copies of the findings of equal texts, and of those of nearly the same texts.

    None where there are fewer than two findings. That example is kept which somebody else labelled,
    else one with marked values, else the one that stands first. Of nearly the same texts only those
    go that are in one finding with a kept one: two that resemble a third may say different things.
    """
    pairs = [f for f in findings if f.kind == "duplicate"]
    equal = [_ids(f) for f in pairs if f.measure == SAME_TEXT]
    alike = [_ids(f) for f in pairs if f.measure != SAME_TEXT]
    every = list(dict.fromkeys(key for pair in (*equal, *alike) for key in pair))
    with studio.database.read() as connection:
        records = utterances.by_ids(connection, project.id, every)
        origins = label_origins(connection, project.id, every, revision)
    others = {key for key, origin in origins.items() if origin.actor != studio.settings.actor}

    def worth(key: str) -> tuple[bool, bool]:
        return key in others, bool(records[key].slots)

    def offered(some: Sequence[Pair], spare: Callable[[list[Pair]], dict[str, str]]) -> Copies:
        found = [(one, other) for one, other in some if one in records and other in records]
        return _copies(spare(found), records, others)

    return (
        offered(equal, lambda some: _spare_equal(some, worth)) if len(equal) > 1 else None,
        offered(alike, lambda some: _spare_alike(some, worth)) if len(alike) > 1 else None,
    )


def _ids(finding: Finding) -> Pair:
    first, second = (text.id for text in finding.texts)
    return first, second


def _copies(spare: dict[str, str], records: dict[str, UtteranceRecord], others: set[str]) -> Copies:
    shown = [DeletedCopy(records[key].text, records[kept].text) for key, kept in spare.items()]
    return Copies(
        texts=len(set(spare.values())),
        ids=tuple(key for key in spare if key not in others),
        theirs=tuple(key for key in spare if key in others),
        shown=tuple(shown[:_SHOWN]),
    )


def _spare_equal(
    pairs: Sequence[Pair], worth: Callable[[str], tuple[bool, bool]]
) -> dict[str, str]:
    """Return what goes of each group of equal texts, by id, with the example that is kept."""
    of: dict[str, list[str]] = {}
    for pair in pairs:
        joined = list(dict.fromkeys(key for one in pair for key in of.get(one, [one])))
        of |= dict.fromkeys(joined, joined)
    spare: dict[str, str] = {}
    for group in (group for key, group in of.items() if group[0] == key):
        kept = max(group, key=worth)  # the first of those that are worth the same
        spare |= {key: kept for key in group if key != kept}
    return spare


def _spare_alike(
    pairs: Sequence[Pair], worth: Callable[[str], tuple[bool, bool]]
) -> dict[str, str]:
    """Return what goes of texts that are nearly the same, by id, each with a kept one like it."""
    near: dict[str, list[str]] = {}
    for one, other in pairs:
        near.setdefault(one, []).append(other)
        near.setdefault(other, []).append(one)
    kept: dict[str, None] = {}
    spare: dict[str, str] = {}
    for key in sorted(near, key=worth, reverse=True):  # those of equal worth stay in their order
        like = next((one for one in near[key] if one in kept), None)
        if like is None:
            kept[key] = None
        else:
            spare[key] = like
    return spare
