"""What a count of traffic needs beside the live version's answers."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date

from app.services.live.said.drift import FEWEST, stands_for
from core.discover.showing import is_mixed
from core.text import counted
from storage.computed import text_groups
from storage.database import Transaction
from storage.queries import dataset, utterances
from storage.records import ProjectRecord
from storage.said import traffic
from storage.said.traffic import SaidText

MOST = 5_000
"""Rows of a period that are answered; of more, a fair sample."""

_NOT_BOTH = "what is answered surely and what people write are not compared with the days before."
"""Sources of these days are compared all the same."""

RIGHTLY_NONE = "labelled out of scope"
DECIDED = "labelled, skipped or in the test set"


@dataclass(frozen=True, slots=True)
class TrafficFacts:
    """What a count needs beside the answers.

    Attributes:
        now, earlier: Rows of the period, and of the one before.
        intents: Names of the open intents by id.
        groups: Number of the group that shows a text, by the text's id.
        group_names: Names of groups by number.
        labels: Number of labelled texts by intent id, those of the test set left out.
        mixed: Numbers of the groups whose texts have little in common.
        set_aside: Why texts wait for no group, in words, by their ids.
        meant: Ids of the intents that the period's texts have as labels.
        learned: Ids of the utterances that the version in use has learned.
        sent, sent_before: How many rows came, of which `now` and `earlier` may be a fair sample.
    """

    now: Sequence[SaidText]
    earlier: Sequence[SaidText]
    intents: Mapping[str, str]
    groups: Mapping[str, int]
    group_names: Mapping[int, str]
    labels: Mapping[str, int]
    mixed: Collection[int] = ()
    set_aside: Mapping[str, str] = field(default_factory=dict)
    meant: Collection[str] = ()
    learned: Collection[str] = ()
    sent: int = 0
    sent_before: int = 0

    @property
    def fresh(self) -> "TrafficFacts":
        """The same without the rows whose text the version has learned."""
        now, earlier = (
            [row for row in rows if row.utterance_id not in self.learned]
            for rows in (self.now, self.earlier)
        )
        return replace(self, now=now, earlier=earlier)

    @property
    def is_comparable(self) -> bool:
        """Whether what the version makes of both periods may be compared by the fresh rows."""
        fresh = self.fresh
        is_whole = len(fresh.now) == len(self.now) and len(fresh.earlier) == len(self.earlier)
        return is_whole or min(len(fresh.now), len(fresh.earlier)) >= FEWEST

    @property
    def is_fair(self) -> bool:
        """Whether the fresh rows may be compared alone: few are left out of either period."""
        fresh = self.fresh
        return stands_for(fresh.now, self.now) and stands_for(fresh.earlier, self.earlier)


def read_facts(
    connection: Transaction, record: ProjectRecord, after: date, before: date
) -> TrafficFacts:
    """Read the rows of a period and of the one before, and what they are counted by."""
    first = after - (before - after)
    families = text_groups.families(connection, record.id)
    places = text_groups.places(connection, record.id)
    sizes = Counter(families.shown(at) for at in places.values())
    open_intents = dataset.open_intents(connection, record.id)
    counts = utterances.counts(connection, record.id)
    return TrafficFacts(
        now=traffic.sample(connection, record.id, str(after), str(before), MOST),
        earlier=traffic.sample(connection, record.id, str(first), str(after), MOST),
        intents={key: intent.name for key, intent in open_intents.items()},
        groups={key: families.shown(at) for key, at in places.items()},
        group_names={number: group.name for number, group in families.groups.items()},
        labels={key: n - counts.tests_by_intent.get(key, 0) for key, n in counts.by_intent.items()},
        mixed={
            number
            for number, group in families.groups.items()
            if is_mixed(float(group.facts["cohesion"]), sizes[number])
        },
        sent=traffic.count_sent(connection, record.id, str(after), str(before)),
        sent_before=traffic.count_sent(connection, record.id, str(first), str(after)),
    )


def with_decisions(connection: Transaction, project_id: int, facts: TrafficFacts) -> TrafficFacts:
    """Add what people have decided of the period's texts."""
    ids = sorted({row.utterance_id for row in facts.now})
    found = utterances.by_ids(connection, project_id, ids)
    decided = {
        key: RIGHTLY_NONE if one.labels == () else DECIDED
        for key, one in found.items()
        if one.labels is not None or one.skipped or one.split == "test"
    }
    meant = {intent for one in found.values() for intent in one.labels or ()}
    return replace(facts, set_aside=decided, meant=meant)


def left_out_words(facts: TrafficFacts) -> str:
    """Say which texts are in no comparison, for the version has learned them, or ""."""
    fresh = facts.fresh
    now, then = len(facts.now) - len(fresh.now), len(facts.earlier) - len(fresh.earlier)
    if not (now or then) or not facts.now or not facts.earlier:
        return ""
    learned = (
        f"The version has learned {now:,} of the {counted(len(facts.now), 'text')} of these days, "
        f"and {then:,} of the {counted(len(facts.earlier), 'text')} of the days before"
    )
    if not facts.is_comparable:
        return f"{learned}. Too few others are left: which intent texts get, {_NOT_BOTH}"
    if facts.is_fair:
        return f"{learned}. A change in answers or words is told only if it stands without these."
    return (
        f"{learned}. A change in answers is told only if it stands without these. As people choose "
        f"what a version learns, {_NOT_BOTH}"
    )
