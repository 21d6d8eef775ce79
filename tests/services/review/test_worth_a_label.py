"""What Review says of the unlabelled texts that are worth a label."""

import re

import pytest

from app.services.live.live_studio import open_live_studio
from app.services.review import review
from app.services.studio import Studio
from core.review.next_labels import Worth
from storage import projects


def reasons(home: Studio) -> list[str]:
    live_studio = open_live_studio(home)
    review.wait_for_pool(live_studio, "p")
    return [finding.why for finding in review.review(live_studio, "p", "next").findings]


def test_of_a_refused_text_no_share_of_an_intent_is_told(home: Studio) -> None:
    """“The model is unsure: “parcel” 38 %, “refund” 20 %” was said of a text out of scope."""
    with home.database.write() as connection:  # a limit that every text keeps
        projects.change_fence(connection, 1, {"limit": -9.0, "limits": {}, "method": "votes"})
    taken = reasons(home)
    assert taken
    for why in taken:
        assert re.match("The model is unsure: “[a-z]+” [0-9.,]+ %, ", why)
    with home.database.write() as connection:  # one that none keeps
        projects.change_fence(connection, 1, {"limit": 9.0, "limits": {}, "method": "votes"})
    refused = reasons(home)
    assert len(refused) == len(taken)
    for why in refused:
        said = r"The model refuses it. Closest: “[a-z]+”, but too unlike its examples\."
        assert re.match(said, why)
        assert "%" not in why


@pytest.mark.parametrize(
    ("settles", "also", "measure"),
    [
        (0.91, "", "helps this text"),  # round(0.91) - 1 = 0
        (1.4, "", "helps this text"),
        (2.2, " A label also helps about 1 similar text.", "helps about 1 similar text"),
        (3.6, " A label also helps about 3 similar texts.", "helps about 3 similar texts"),
    ],
)
def test_a_label_that_helps_no_other_text_is_not_told_to(
    home: Studio, monkeypatch: pytest.MonkeyPatch, settles: float, also: str, measure: str
) -> None:
    """“A label also helps about 1 similar text” was said where there was none."""
    monkeypatch.setattr(review, "next_labels", lambda *_: [Worth(0, settles)])
    live_studio = open_live_studio(home)
    review.wait_for_pool(live_studio, "p")
    (found,) = review.review(live_studio, "p", "next").findings
    assert found.measure == measure
    assert found.why.partition(" A label")[0] + also == found.why
