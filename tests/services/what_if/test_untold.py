"""Where labels wait for a training, a repair tells what it touches, and can be made."""

from pathlib import Path
from typing import Any

import pytest

from app.agents import acting
from app.agents.changes import AgentChange
from app.services.data.history import undo_action
from app.services.live import joining
from app.services.live.live_studio import open_live_studio
from app.services.review.effects import weighed
from app.services.review.findings import KEEP, Finding, Remedy
from app.services.studio import Studio
from app.services.versions.registry import promote
from app.services.what_if.preview import preview
from app.services.what_if.repairs import Repair, SplitPart, apply_repair
from app.services.what_if.views import Blast
from app.services.what_if.watched_texts import WatchedTextCache
from storage import projects
from storage.queries import dataset
from tests.builders.trained_home import POOL, change, intent_ids, rows, train

WAITING: list[dict[str, Any]] = [{"kind": "linear"}, {"kind": "votes", "max_exemplars": 10}]


@pytest.fixture(params=WAITING, ids=["linear", "few vote"])
def watched_texts(
    home: Studio, tiny_path: Path, request: pytest.FixtureRequest
) -> WatchedTextCache:
    """Of 20 examples, one has become a test text; an answering version takes in no label."""
    change(home, "hi", "split", "test")
    train(home, tiny_path, {"kind": "instant", "head": request.param})
    promote(home, "p", 3)
    return WatchedTextCache(open_live_studio(home))


def told(watched_texts: WatchedTextCache, repair: Repair) -> Blast:
    return preview(watched_texts, "p", [repair])[0]


def test_an_intent_is_merged_parted_and_renamed_where_no_effect_can_be_told(
    watched_texts: WatchedTextCache,
) -> None:
    """Each preview was refused, and Reshape’s button waits for one: nothing could be done."""
    studio = watched_texts.live_studio.studio
    known, by = rows(studio), intent_ids(studio)
    late, back = known["the parcel is late"].id, known["I want my money back"].id
    greetings = [r for r in known.values() if r.labels == (by["greeting"],)]
    parts = (SplitPart("payout", (back,)),)
    cases = [
        (Repair("merge", intent=by["greeting"], value=by["refund"]), (len(greetings), 1), "later"),
        (Repair("relabel", (late, back), (by["password"],)), (2, 0), "later"),
        (Repair("split", intent=by["refund"], parts=parts), (1, 0), "later"),
        (Repair("delete", (late,)), (1, 0), "later"),
        (Repair("rename", intent=by["greeting"], value="hello"), (0, 0), "nothing"),
        (Repair("relabel", (known["hi"].id,), (by["refund"],)), (1, 1), "nothing"),
        (Repair("relabel", (known[POOL[0]].id,), (by["refund"],)), (1, 0), "later"),
    ]
    for number, (repair, touched, when) in enumerate(cases):
        found = told(watched_texts, repair)
        assert (found.touched, found.told) == (touched, when), repair
        assert (found.turns, found.watched) == ((), (0, 0, 0))
        apply_repair(studio, "p", repair, f"repair-{number}")
        with studio.database.read() as connection:
            after = {row.id: row for row in dataset.utterances(connection, 1)}
        changed = sum(after.get(row.id) != row for row in known.values())
        assert changed == touched[0]
        undo_action(studio, "p", f"repair-{number}")
    assert rows(studio) == known


def test_a_new_example_names_its_conflicts_where_no_effect_can_be_told(
    watched_texts: WatchedTextCache,
) -> None:
    """“Add an example” could not add any."""
    live = watched_texts.live_studio.models.get(1)
    one = live.pipeline.exemplars[0]
    by = intent_ids(watched_texts.live_studio.studio)
    other = next(key for name, key in by.items() if name not in one.intents)
    found = told(watched_texts, Repair("add", (), (other,), value=f"{one.text}!"))
    assert (found.near[0].text, found.near[0].conflict) == (one.text, True)
    assert (found.now, found.told) == (one.intents[0], "later")


def test_an_agent_is_told_so_too_and_not_that_nothing_changes(
    watched_texts: WatchedTextCache,
) -> None:
    given = AgentChange(kind="merge", intent="greeting", to="refund")
    [effect] = acting.what_if(watched_texts, "p", [given])["effects"]
    assert effect["effect"] == "What it does to answers shows after the next training."
    assert effect["texts"] == 5
    assert "mends" not in effect


def test_what_was_prepared_for_another_model_stays(watched_texts: WatchedTextCache) -> None:
    """Each refused question dropped it, and it takes seconds to prepare."""
    studio = watched_texts.live_studio.studio
    gone = Repair("delete", (rows(studio)["the parcel is late"].id,))
    promote(studio, "p", 1)
    assert told(watched_texts, gone).told == "counted"
    kept = watched_texts.kept
    assert kept is not None
    promote(studio, "p", 3)
    assert told(watched_texts, gone).told == "later"
    assert watched_texts.kept is kept


def test_a_label_that_no_longer_fits_has_no_counted_effect(
    home: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the most examples that can vote, one more was told to change answers, and it waited."""
    monkeypatch.setattr(joining, "_MOST", 20)
    watched_texts = WatchedTextCache(open_live_studio(home))
    assert len(watched_texts.live_studio.models.get(1).pipeline.exemplars) == 20
    known, by = rows(home), intent_ids(home)
    one_more = Repair("relabel", (known[POOL[0]].id,), (by["refund"],))
    deletion = Repair("delete", (known["the parcel is late"].id,))
    found = told(watched_texts, one_more)
    assert (found.told, found.touched, found.watched) == ("later", (1, 0), (0, 0, 0))
    new = told(watched_texts, Repair("add", (), (by["refund"],), value="one more example"))
    assert (new.told, bool(new.near)) == ("later", True)
    assert told(watched_texts, deletion).told == "counted"
    remedies = (Remedy("Label it", one_more), Remedy("Delete it", deletion), KEEP)
    finding = Finding("f", "conflict", "a or b?", "", 1.0, "", (), remedies)
    with home.database.read() as connection:
        [weighed_one] = weighed(watched_texts, projects.get(connection, 1), [finding])
    effects = {one.words: one.effect for one in weighed_one.remedies}
    assert effects["Label it"] is None  # Review said that it mends nothing
    assert effects["Delete it"] is not None
    monkeypatch.setattr(joining, "_MOST", 21)
    assert told(watched_texts, one_more).told == "counted"
