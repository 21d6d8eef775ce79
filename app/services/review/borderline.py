"""Labelled utterances whose words speak for another intent's name than their own."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.services.live.server_state import LiveStudio
from core.review.borderline import idle_words, select_borderline
from storage import projects
from storage.database import Transaction
from storage.queries import dataset, utterances
from storage.queries.utterances import Filter, Page
from storage.records import UtteranceRecord

_MOST = 100_000


@dataclass(frozen=True, slots=True)
class Misled:
    """An utterance that shares no word with its intent's name, but with another's.

    Attributes:
        record: The utterance.
        shared: Ids of the intents whose names it shares words with, and these words.
    """

    record: UtteranceRecord
    shared: Mapping[str, tuple[str, ...]]


def borderline_ids(live_studio: LiveStudio, project: str) -> tuple[str, ...]:
    """Ids of the utterances that intent names mislead about."""
    with live_studio.studio.database.read() as connection:
        found = misled(connection, projects.find(connection, project).id)
    return tuple(one.record.id for of_intent in found.values() for one in of_intent)


def misled(connection: Transaction, project_id: int) -> dict[str, list[Misled]]:
    """Find borderline utterances that somebody said, with one label, by the id of their intent."""
    names = {key: one.name for key, one in dataset.open_intents(connection, project_id).items()}
    said = Filter(state="labelled", synthetic=False)
    records, _ = utterances.read_page(connection, project_id, said, "oldest", Page(0, _MOST))
    own = [r for r in records if r.labels and len(r.labels) == 1 and r.labels[0] in names]
    return _by_intent(own, names)


def _by_intent(
    records: Sequence[UtteranceRecord], names: Mapping[str, str]
) -> dict[str, list[Misled]]:
    key_of = {name: key for key, name in names.items()}
    labels = [names[(record.labels or ("",))[0]] for record in records]
    found: dict[str, list[Misled]] = defaultdict(list)
    texts = [record.text for record in records]
    idle = idle_words(texts, labels)
    for one in select_borderline(texts, labels, list(names.values()), idle).selected:
        shared = {key_of[name]: words for name, words in one.shared.items()}
        found[key_of[labels[one.row]]].append(Misled(records[one.row], shared))
    return dict(found)
