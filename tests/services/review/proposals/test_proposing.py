"""What somebody proposes waits in Review, and a person alone makes it a change of the data."""

from dataclasses import replace

import pytest

from app.services.data.erasing import erase_texts
from app.services.data.history import undo_action, undo_last
from app.services.data.intents import change_intent
from app.services.home.cards import next_of
from app.services.live.live_studio import LiveStudio, open_live_studio
from app.services.reports.audit import list_acts
from app.services.review import review
from app.services.review.effects import in_order
from app.services.review.findings import Effect, Finding
from app.services.review.proposals import proposing
from app.services.review.proposals.accepting import act_on_finding
from app.services.review.proposals.proposing import ProposedChange, list_proposals, propose
from app.services.studio import Studio
from app.services.what_if import repairs
from app.services.what_if.repairs import Repair, SplitPart
from core.errors import Conflict, InvalidInput, NotFound
from storage.log import events
from storage.people.acts import ActFilter
from storage.people.proposals import all_of
from storage.records import UtteranceRecord
from tests.builders.trained_home import change, intent_ids, rows

WHY = "It asks for money."


@pytest.fixture
def live_studio(home: Studio) -> LiveStudio:
    return open_live_studio(home)


def relabelling(studio: Studio, text: str, intent: str) -> ProposedChange:
    return ProposedChange(
        Repair("relabel", (rows(studio)[text].id,), (intent_ids(studio)[intent],)), WHY
    )


def asked(live_studio: LiveStudio) -> list[Finding]:
    return list(review.review(live_studio, "p", "proposal").findings)


def states(studio: Studio) -> list[str]:
    return [one.state for one in list_proposals(studio, "p")]


def test_it_waits_in_review_with_its_reason_and_changes_nothing(live_studio: LiveStudio) -> None:
    studio, before = live_studio.studio, rows(live_studio.studio)
    [view] = propose(studio, "p", "agent 7", [relabelling(studio, "where is my parcel", "refund")])
    assert (view.by, view.why, view.state) == ("agent 7", WHY, "waits")
    assert view.change == "Label “where is my parcel” as “refund”"
    [finding] = asked(live_studio)
    assert review.review(live_studio, "p").findings[0] == finding
    assert finding.title == "“parcel”, or “refund”?"
    assert finding.why == (
        "agent 7 proposes: label it “refund” instead of “parcel”. "
        f"The reason given: “{WHY}” Nothing changes until you decide."
    )
    assert finding.measure == "by agent 7"
    assert finding.texts[0].text == "where is my parcel"
    assert {r.words for r in finding.remedies} == {
        "Label it “refund”",
        "Another label …",
        "Decline: keep “parcel”",
    }
    assert rows(studio) == before
    with studio.database.read() as connection:
        assert events.history(connection, 1)[0].verb != "relabel"
    assert next_of(live_studio, "p").action == "Decide about 1 proposal"
    [act] = list_acts(studio, "p", ActFilter(verb="propose")).acts
    assert (act.actor, act.about) == ("agent 7", "1 change")


def test_a_person_accepts_it_and_undo_brings_label_and_question_back(
    live_studio: LiveStudio,
) -> None:
    studio = live_studio.studio
    propose(studio, "p", "agent", [relabelling(studio, "where is my parcel", "refund")])
    [finding] = asked(live_studio)
    [accept] = [r.repair for r in finding.remedies if r.words == "Label it “refund”"]
    assert accept is not None
    repairs.apply_repair(studio, "p", accept, "accept-01", finding.id)
    assert rows(studio)["where is my parcel"].labels == (intent_ids(studio)["refund"],)
    assert asked(live_studio) == []
    assert states(studio) == ["accepted"]
    with studio.database.read() as connection:
        done = events.history(connection, 1)[0]
    # The person gave the label; the log keeps whose proposal it was.
    assert (done.actor, done.origin) == ("local", f"review {finding.id}")
    assert finding.id.endswith(":agent")
    undo_action(studio, "p", "accept-01")
    assert rows(studio)["where is my parcel"].labels == (intent_ids(studio)["parcel"],)
    assert [one.id for one in asked(live_studio)] == [finding.id]
    assert states(studio) == ["waits"]


def test_what_was_declined_is_not_asked_again(live_studio: LiveStudio) -> None:
    studio = live_studio.studio
    wanted = [relabelling(studio, "where is my parcel", "refund")]
    propose(studio, "p", "agent", wanted)
    [finding] = asked(live_studio)
    repairs.keep_finding(studio, "p", finding.id, "decline-1")
    assert (asked(live_studio), states(studio)) == ([], ["declined"])
    [again] = propose(studio, "p", "another agent", [replace(wanted[0], why="I insist.")])
    assert (again.by, again.state) == ("agent", "declined")
    assert asked(live_studio) == []
    undo_action(studio, "p", "decline-1")
    assert [one.id for one in asked(live_studio)] == [finding.id]


def test_it_is_outdated_once_its_text_or_intent_was_changed(live_studio: LiveStudio) -> None:
    studio = live_studio.studio
    intent = intent_ids(studio)["refund"]
    propose(
        studio,
        "p",
        "agent",
        [
            relabelling(studio, "where is my parcel", "refund"),
            ProposedChange(Repair("rename", intent=intent, value="money back"), WHY),
            ProposedChange(Repair("describe", intent=intent, value="Wants money."), WHY),
        ],
    )
    assert states(studio) == ["waits"] * 3
    change(studio, "where is my parcel", "text", "where is my parcel now")
    assert states(studio) == ["outdated", "waits", "waits"]
    repairs.apply_repair(studio, "p", Repair("rename", intent=intent, value="cash"), "rename-1")
    assert states(studio) == ["outdated"] * 3
    assert asked(live_studio) == []
    assert proposing.count_waiting(studio, live_studio.models.open("p")[0].project) == 0


def test_an_outdated_proposal_cannot_be_accepted(live_studio: LiveStudio) -> None:
    """The list leaves it out; a page that was open before took the newer words away."""
    studio = live_studio.studio
    intent = intent_ids(studio)["refund"]
    describe = Repair("describe", intent=intent, value="Wants money.")
    relabel = relabelling(studio, "where is my parcel", "refund")
    propose(studio, "p", "agent", [ProposedChange(describe, WHY), relabel])
    first, second = sorted(asked(live_studio), key=lambda one: one.title)
    change_intent(studio, "p", intent, {"description": "Wants a refund."})
    with pytest.raises(Conflict, match="this proposal would change was changed meanwhile"):
        act_on_finding(studio, "p", describe, "accept-01", first.id)
    change(studio, "where is my parcel", "split", "test")
    with pytest.raises(Conflict, match="this proposal would change was changed meanwhile"):
        act_on_finding(studio, "p", relabel.repair, "accept-02", second.id)
    undo_last(studio, "p")
    act_on_finding(studio, "p", relabel.repair, "accept-03", second.id)
    act_on_finding(studio, "p", relabel.repair, "accept-03", second.id)  # sent again
    assert states(studio) == ["outdated", "accepted"]


def test_every_kind_of_change_can_be_proposed_and_accepted(live_studio: LiveStudio) -> None:
    studio, of = live_studio.studio, intent_ids(live_studio.studio)
    row = rows(studio)
    wanted = {
        "Add it to “parcel”?": Repair("add", (), (of["parcel"],), value=" it never came "),
        "Delete this text?": Repair("delete", (row["what about refunds"].id,)),
        "Move it to the test texts?": Repair("move", (row["where is my parcel"].id,), value="test"),
        "Label it “parcel”?": Repair("relabel", (row["what about parcels"].id,), (of["parcel"],)),
        "Merge “refund” into “parcel”?": Repair("merge", intent=of["refund"], value=of["parcel"]),
        "Rename “password” to “login”?": Repair("rename", intent=of["password"], value="login"),
    }
    propose(studio, "p", "agent", [ProposedChange(one, WHY) for one in wanted.values()])
    found = {finding.title: finding for finding in asked(live_studio)}
    assert found.keys() == wanted.keys()
    assert found["Add it to “parcel”?"].texts[0].text == "it never came"
    for number, title in enumerate(wanted):
        finding = found[title]
        [accept] = [r.repair for r in finding.remedies if r.repair and not r.asks]
        repairs.apply_repair(studio, "p", accept, f"accept-{number}", finding.id)
    assert set(states(studio)) == {"accepted"}
    now = rows(studio)
    assert now["it never came"].labels == now["what about parcels"].labels == (of["parcel"],)
    assert "what about refunds" not in now
    assert now["where is my parcel"].split == "test"


def test_what_cannot_be_proposed_is_refused_and_nothing_is_stored(
    live_studio: LiveStudio, monkeypatch: pytest.MonkeyPatch
) -> None:
    studio, of = live_studio.studio, intent_ids(live_studio.studio)
    good = relabelling(studio, "where is my parcel", "refund")
    same = relabelling(studio, "where is my parcel", "parcel")
    tested = rows(studio)["the parcel is late"]
    change(studio, tested.text, "split", "test")
    refused: dict[str, ProposedChange | str] = {
        "This would change nothing: Label “where is my parcel” as “parcel”": same,
        "needs a reason": replace(good, why="  "),
        "is a test text": relabelling(studio, tested.text, "refund"),
        "about one text": replace(good, repair=Repair("delete", tuple(r.id for r in _two(studio)))),
        "A split is not proposed": replace(
            good,
            repair=Repair("split", intent=of["refund"], parts=(SplitPart("x", ("y",)),)),
        ),
        "There is no split": replace(good, repair=replace(good.repair, kind="move", value="x")),
    }
    for words, one in refused.items():
        with pytest.raises(InvalidInput, match=words):
            propose(studio, "p", "agent", [good, one])
    for by in ("", " \u200b ", "x" * 61):
        with pytest.raises(InvalidInput, match="needs the name"):
            propose(studio, "p", by, [good])
    with pytest.raises(NotFound, match="deleted meanwhile"):
        propose(studio, "p", "agent", [replace(good, repair=Repair("delete", ("nobody",)))])
    added = Repair("add", (), (of["refund"],), value="give it back")
    for one in (good.repair, added):  # an unknown one was dropped, and the proposal kept without it
        with pytest.raises(NotFound, match="There is no intent 'nothing'"):
            propose(studio, "p", "agent", [replace(good, repair=replace(one, intent="nothing"))])
    monkeypatch.setattr(proposing, "MOST_WAITING", 1)
    other = relabelling(studio, "what about refunds", "refund")
    with pytest.raises(Conflict, match="More than 1 proposals"):
        propose(studio, "p", "agent", [good, other])
    assert states(studio) == []


def _two(studio: Studio) -> list[UtteranceRecord]:
    return sorted(rows(studio).values(), key=lambda row: row.text)[:2]


def test_without_a_model_nothing_is_reviewed_and_so_nothing_proposed(studio: Studio) -> None:
    from app.services.data.projects import create_project

    create_project(studio, "empty")
    wanted = [ProposedChange(Repair("add", (), (), value="hello"), WHY)]
    with pytest.raises(NotFound, match="has no trained model"):
        propose(studio, "empty", "agent", wanted)


def test_a_reason_turns_no_letters_round(live_studio: LiveStudio) -> None:
    studio = live_studio.studio
    change = relabelling(studio, "where is my parcel", "refund")
    [view] = propose(studio, "p", "ag\u200bent", [replace(change, why="a\u202eb")])
    assert view.by == "agent"
    [finding] = asked(live_studio)
    assert "The reason given: “a[RLO]b”" in finding.why


def test_what_is_asked_comes_first_unless_it_harms_or_deletes(live_studio: LiveStudio) -> None:
    studio = live_studio.studio
    delete = Repair("delete", (rows(studio)["what about refunds"].id,))
    relabel = relabelling(studio, "where is my parcel", "refund")
    propose(studio, "p", "agent", [relabel, ProposedChange(delete, WHY)])
    labelling, deleting = asked(live_studio)

    def with_effect(finding: Finding, effect: Effect) -> Finding:
        changed = (
            replace(r, effect=effect) if r.repair and not r.asks else r for r in finding.remedies
        )
        return in_order(replace(finding, remedies=tuple(changed)))

    alike = with_effect(labelling, Effect(0, 0))
    words = ["Label it “refund”", "Another label …", "Decline: keep “parcel”"]
    assert [r.words for r in alike.remedies] == words
    harmful = with_effect(labelling, Effect(0, 2))
    assert [r.words for r in harmful.remedies][-1] == "Label it “refund”"
    assert with_effect(deleting, Effect(0, 0)).remedies[0].words == "Decline: leave it as it is"


def test_erasing_a_text_takes_it_out_of_proposals(live_studio: LiveStudio) -> None:
    studio, of = live_studio.studio, intent_ids(live_studio.studio)
    add = Repair("add", (), (of["refund"],), value="my name is Ada")
    reason = "It says “where is my parcel” as well."
    parcel = relabelling(studio, "where is my parcel", "refund")
    propose(studio, "p", "agent", [ProposedChange(add, reason), parcel])
    erase_texts(studio, "p", ["where is my parcel", "my name is Ada"], now=True)
    assert states(studio) == ["outdated", "outdated"]
    with studio.database.read() as connection:
        stored = repr(all_of(connection, 1))
    assert "Ada" not in stored
    assert "my parcel" not in stored


def test_old_decided_ones_are_deleted_when_there_are_many(
    live_studio: LiveStudio, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("storage.people.proposals._MOST_KEPT", 2)
    studio = live_studio.studio
    for number, text in enumerate(["what about refunds", "what about parcels"]):
        propose(studio, "p", "agent", [relabelling(studio, text, "refund")])
        [finding] = asked(live_studio)
        repairs.keep_finding(studio, "p", finding.id, f"decline-{number}")
    assert states(studio) == ["declined", "declined"]
    propose(studio, "p", "agent", [relabelling(studio, "what about orders", "refund")])
    assert states(studio) == ["declined", "waits"]
