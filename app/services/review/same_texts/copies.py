"""One act for all examples that stand in a project several times: one of each is kept."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.services.review.findings import SAME_TEXT, Finding
from app.services.studio import Studio
from storage.log.label_origins import label_origins
from storage.queries import utterances
from storage.records import ProjectRecord, UtteranceRecord


@dataclass(frozen=True, slots=True)
class Copies:
    """Examples that an act for all open findings of equal texts would delete, as utterance ids.

    None is a test text, and none is unlabelled.

    Attributes:
        texts: Number of different texts, of each of which one example is kept.
        ids: To delete; their labels were given by the person who acts, or came with their files.
        theirs: Copies that somebody else labelled; deleted only if that is asked for.
    """

    texts: int
    ids: tuple[str, ...]
    theirs: tuple[str, ...]


def copies_of(
    studio: Studio, project: ProjectRecord, findings: Sequence[Finding], revision: int
) -> Copies | None:
    """Return the copies of the findings of equal texts; None if there are fewer than two findings.

    Of each text that example is kept which somebody else labelled, else one with marked values,
    else the one that stands first. Texts that are only nearly the same are left to a person.
    """
    pairs = [f for f in findings if f.kind == "duplicate" and f.measure == SAME_TEXT]
    if len(pairs) < 2:
        return None
    groups = _groups([tuple(text.id for text in pair.texts) for pair in pairs])
    every = [key for group in groups for key in group]
    with studio.database.read() as connection:
        records = utterances.by_ids(connection, project.id, every)
        origins = label_origins(connection, project.id, every, revision)
    others = {key for key, origin in origins.items() if origin.actor != studio.settings.actor}
    spare = [_spare(group, records, others) for group in groups]
    ids = [key for group in spare for key in group if key in records]
    return Copies(
        texts=len(groups),
        ids=tuple(key for key in ids if key not in others),
        theirs=tuple(key for key in ids if key in others),
    )


def _groups(pairs: Sequence[tuple[str, ...]]) -> list[list[str]]:
    """Join pairs that share a text; each text is in one group, in the order of the pairs."""
    of: dict[str, list[str]] = {}
    for pair in pairs:
        joined = list(dict.fromkeys(key for one in pair for key in of.get(one, [one])))
        of |= dict.fromkeys(joined, joined)
    return [group for key, group in of.items() if group[0] == key]


def _spare(
    group: Sequence[str], records: dict[str, UtteranceRecord], others: set[str]
) -> list[str]:
    """Return a group without the example that is kept."""

    def worth(key: str) -> tuple[bool, bool]:
        return key in others, key in records and bool(records[key].slots)

    kept = max(group, key=worth)  # the first of those that are worth the same
    return [key for key in group if key != kept]
