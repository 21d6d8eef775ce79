"""A text that a proposal asks about is listed once in Review, and counted once on Home."""

import re

from app.services.live.live_studio import LiveStudio, open_live_studio
from app.services.review.findings import Finding, Kind
from app.services.review.proposals.proposing import ProposedChange, propose
from app.services.review.review import known_label_errors, review
from app.services.studio import Studio
from app.services.what_if import repairs
from app.services.what_if.repairs import Repair
from storage import projects
from tests.builders.trained_home import intent_ids, rows


def about(live_studio: LiveStudio, text_id: str) -> list[Finding]:
    """Return the proposals and doubted labels of a text."""
    kinds: tuple[Kind, ...] = ("proposal", "label", "doubt")
    found = [one for kind in kinds for one in review(live_studio, "p", kind).findings]
    return [one for one in found if one.texts[0].id == text_id]


def doubts(live_studio: LiveStudio) -> int:
    counts = review(live_studio, "p").counts
    return counts["label"] + counts["doubt"]


def test_a_doubted_label_waits_behind_the_proposal_about_its_text(home: Studio) -> None:
    """“i landed and have no signal” stood there as a proposal and as a label to check."""
    live_studio = open_live_studio(home)
    text, of = rows(home)["good morning"], intent_ids(home)
    repairs.apply_repair(home, "p", Repair("relabel", (text.id,), (of["parcel"],)), "wrong-01")
    before = doubts(live_studio)
    [doubted] = about(live_studio, text.id)
    label = Repair("relabel", (text.id,), (of["refund"],))
    propose(home, "p", "agent", [ProposedChange(label, "It asks for money.")])
    [proposal] = about(live_studio, text.id)
    assert proposal.kind == "proposal"
    assert proposal.why.endswith(f"Review found, too: {doubted.why}")
    # Three intents were named, and two had a button.
    named = set(re.findall("“(.*?)”", proposal.title + doubted.why))
    offered = {one.repair.intents for one in proposal.remedies if one.repair and not one.asks}
    assert {(of[name],) for name in named - {"parcel"}} <= offered
    assert proposal.remedies[0].repair == label
    assert doubts(live_studio) == before - 1
    with home.database.read() as connection:
        project = projects.find(connection, "p")
    live = live_studio.models.get(project.id)
    assert live is not None
    assert (
        known_label_errors(live_studio, project, live) == review(live_studio, "p").counts["label"]
    )

    repairs.keep_finding(home, "p", proposal.id, "decline-1")
    assert [one.id for one in about(live_studio, text.id)] == [doubted.id]
    assert doubts(live_studio) == before
