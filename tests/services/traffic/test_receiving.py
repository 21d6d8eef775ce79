"""Traffic is stored once by key, masked, in a fair sample, and goes with its texts."""

from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa

from app.services.data.bulk import BulkAct, Edit
from app.services.data.erasing import erase_texts
from app.services.data.history import undo_last
from app.services.data.utterances import change_many
from app.services.live.live_studio import LiveStudio
from app.services.traffic.receiving import MOST, ReceivedTraffic, Sent, receive_traffic
from core.errors import InvalidInput
from storage import projects
from storage.queries import dataset, utterances
from storage.queries.utterances import Filter
from storage.said import traffic
from storage.said.tables import said_text
from storage.said.traffic import SaidText
from tests.builders.trained_home import EVERY_TEXT

DAY = "2026-11-02"


def send(live: LiveStudio, *texts: Sent, mask: bool = True) -> ReceivedTraffic:
    return receive_traffic(live, "p", texts, mask=mask)


def said(text: str, key: str = "", source: str = "app", minute: int = 0, day: str = DAY) -> Sent:
    return Sent(text, f"{day}T{minute // 60:02d}:{minute % 60:02d}:00+00:00", source, key)


def rows(live: LiveStudio, most: int = 10**6) -> list[SaidText]:
    with live.studio.database.read() as connection:
        return traffic.sample(connection, 1, "2026-01-01", "2027-01-01", most)


def sent(live: LiveStudio, since: str, until: str) -> int:
    with live.studio.database.read() as connection:
        return traffic.count_sent(connection, 1, since, until)


def texts(live: LiveStudio) -> list[str]:
    with live.studio.database.read() as connection:
        return sorted(r.text for r in utterances.find_all(connection, 1, Filter()))


def limited(live: LiveStudio, limit: int) -> LiveStudio:
    settings = live.studio.settings.model_copy(update={"traffic_per_day": limit})
    object.__setattr__(live.studio, "settings", settings)
    return live


def test_a_text_said_forty_times_is_one_utterance_and_forty_rows(live: LiveStudio) -> None:
    done = send(live, *(said("where is it", minute=n) for n in range(40)))
    assert (done.kept, done.added, done.repeated) == (40, 1, 0)
    assert (len(rows(live)), texts(live)) == (40, ["where is it"])
    with live.studio.database.read() as connection:
        (row,) = dataset.utterances(connection, 1)
    assert (row.split, row.labels, row.source) == ("pool", None, "app")


def test_what_is_sent_again_is_stored_once(live: LiveStudio) -> None:
    news = [said("hello", "a"), said("bye", "b"), said("hello"), said("hello")]
    first, again = send(live, *news), send(live, *news)
    assert (first.kept, again.kept, again.repeated) == (4, 0, 4)
    assert len(rows(live)) == 4
    assert send(live, said("other words", "a"), said("new", "c"), said("new", "c")).kept == 1
    assert texts(live) == ["bye", "hello", "new"]


def test_personal_data_is_masked_before_anything_is_stored(live: LiveStudio) -> None:
    done = send(live, said("write to me@example.com", "k"))
    assert (done.masked, texts(live)) == ({"e-mail": 1}, ["write to [e-mail]"])
    assert send(live, said("to you@example.com"), mask=False).masked is None
    assert "to you@example.com" in texts(live)


def test_the_sample_of_a_day_is_the_same_in_every_order(live: LiveStudio) -> None:
    limited(live, 20)
    news = [said(f"text {n}", f"key {n}", minute=n) for n in range(100)]
    assert send(live, *news[:50]).left_out == 30
    send(live, *news[50:], said("another source", source="phone"))
    kept = {row.key for row in rows(live)}
    ranks = sorted(traffic.rank_of(row.key) for row in rows(live))
    assert send(live, *reversed(news)).kept == 0
    assert {row.key for row in rows(live)} == kept
    assert len([one for one in rows(live) if one.source == "app"]) == 20
    assert len(texts(live)) < 60
    assert ranks[0] < 2**62 * 0.1


def test_rows_of_busy_and_quiet_days_are_thinned_alike(live: LiveStudio) -> None:
    limited(live, 100)
    busy = [said("b", f"b{n}", minute=n) for n in range(1_000)]
    quiet = [said("q", f"q{n}", minute=n, day="2026-11-03") for n in range(100)]
    done = send(live, *busy, *quiet)
    # What a later text of the same day has put out is not kept: some 250 were told of the busy day.
    assert (done.kept, done.left_out) == (200, 900)
    found = rows(live)
    # A tenth of the busy day is kept, so about a tenth of the quiet day counts beside it.
    assert sum(row.at.startswith(DAY) for row in found) == 100
    assert 3 <= sum(row.at.startswith("2026-11-03") for row in found) <= 20
    assert rows(live, 30) == found[:30]
    # Ranks tell how many came: 1,100.
    assert 900 <= sent(live, "2026-01-01", "2027-01-01") <= 1_300
    assert sent(live, "2026-11-03", "2026-11-04") == 100


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (Sent("a", "yesterday", "app"), "no time that can be read"),
        (Sent("a", "1999-12-31", "app"), "cannot be"),
        (Sent("a", (datetime.now(UTC) + timedelta(days=3)).isoformat(), "app"), "cannot be"),
        (Sent("a", "0001-01-01T00:00:00+23:00", "app"), "no time that can be read"),
        (Sent(" ", DAY, "app"), "is empty"),
        (Sent("a", DAY, " "), "no source"),
    ],
)
def test_nothing_is_stored_of_a_request_with_a_fault(
    live: LiveStudio, wrong: Sent, words: str
) -> None:
    with pytest.raises(InvalidInput, match=f"Text 2 .*{words}"):
        send(live, said("fine"), wrong)
    assert (rows(live), texts(live)) == ([], [])
    with pytest.raises(InvalidInput, match="20,001 texts"):
        send(live, *[said("a")] * (MOST + 1))


def test_rows_go_with_their_text(live: LiveStudio) -> None:
    send(live, said("my name is Ada"), said("other"))
    erase_texts(live.studio, "p", ["my name is Ada"], now=True)
    assert len(rows(live)) == 1
    with live.studio.database.read() as connection:
        left = connection.execute(sa.select(sa.func.count()).select_from(said_text)).scalar_one()
    assert left == 1


def test_as_many_texts_came_as_are_kept(live: LiveStudio) -> None:
    """“Nothing was sent” was said of five texts whose ranks lay above those of a busy source."""
    limited(live, 10)
    quiet = [said(f"q {n}", f"q{n}", "phone", n) for n in range(5)]
    send(live, *(said("b", f"b{n}", minute=n) for n in range(1_000)), *quiet)
    change_many(live.studio, "p", Filter(text="b"), Edit("delete"), BulkAct(1, EVERY_TEXT))
    assert rows(live) == []  # of the busy source 10 of 1,000 rows were kept, the lowest ranks
    assert sent(live, DAY, "2026-11-03") == 5


def test_undo_takes_back_what_a_person_did_and_no_traffic(live: LiveStudio) -> None:
    send(live, said("hello"))
    assert undo_last(live.studio, "p") is None
    assert texts(live) == ["hello"]
    with live.studio.database.read() as connection:
        assert projects.find(connection, "p").head_revision == 1


def test_what_is_asked_most_is_counted_in_a_fair_sample(live: LiveStudio) -> None:
    """Six of 60 texts of a busy source are kept: six of a quiet one were asked as much."""
    limited(live, 6)
    busy = [said("where is it", minute=n) for n in range(60)]
    quiet = [said("call me back", source="phone", minute=n) for n in range(6)]
    assert send(live, *busy, *quiet).kept == 12
    with live.studio.database.read() as connection:
        found = {row.text: row.id for row in utterances.find_all(connection, 1, Filter())}
        times = traffic.times_said(connection, 1, 28)
        # The lowest rank that was left out of the app is 0.108, and those of the phone are above.
        assert times == {found["where is it"]: 6}
