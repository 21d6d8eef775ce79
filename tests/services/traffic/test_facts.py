"""What a count of traffic reads of a project beside the answers."""

from datetime import date

from app.services.live.live_studio import open_live_studio
from app.services.studio import Studio
from app.services.traffic.facts import (
    DECIDED,
    RIGHTLY_NONE,
    TrafficFacts,
    read_facts,
    with_decisions,
)
from app.services.traffic.receiving import Sent, receive_traffic
from storage import projects
from tests.builders.trained_home import POOL, change, rows

DAYS = date(2026, 11, 2), date(2026, 11, 9)


def facts_of(home: Studio, *texts: str) -> TrafficFacts:
    """Send texts as traffic of a week, and read its facts."""
    sent = [Sent(text, f"2026-11-03T10:00:0{n}Z", "app") for n, text in enumerate(texts)]
    receive_traffic(open_live_studio(home), "p", sent, mask=False)
    with home.database.read() as connection:
        facts = read_facts(connection, projects.find(connection, "p"), *DAYS)
        return with_decisions(connection, 1, facts)


def test_labels_of_the_test_set_do_not_make_a_blind_spot(home: Studio) -> None:
    """An intent with 10 test texts and none to learn from was called “not asked for”."""
    before = facts_of(home, "hello you").labels
    [parcel] = rows(home)["track the parcel for me"].labels or ()
    change(home, "track the parcel for me", "split", "test")
    change(home, "the parcel is late", "split", "test")
    assert facts_of(home, "hello you").labels == {**before, parcel: before[parcel] - 2}


def test_what_people_decided_of_the_texts_is_known(home: Studio) -> None:
    change(home, POOL[0], "labels", [])
    change(home, POOL[1], "split", "test")
    change(home, POOL[2], "skipped", value=True)
    facts = facts_of(home, *POOL[:4], "the parcel is late")
    of = rows(home)
    labelled = of["the parcel is late"]
    assert facts.set_aside == {
        of[POOL[0]].id: RIGHTLY_NONE,
        of[POOL[1]].id: DECIDED,
        of[POOL[2]].id: DECIDED,
        labelled.id: DECIDED,
    }
    assert facts.meant == set(labelled.labels or ())
