"""Review of a model that takes in no label before the next training."""

from pathlib import Path
from typing import Any

import pytest

from app.services.live.server_state import LiveStudio, open_live_studio
from app.services.review import review
from app.services.review.findings import Finding
from app.services.studio import Studio
from app.services.versions.registry import promote
from app.services.what_if import watched_texts as watched_module
from app.services.what_if.repairs import Repair, apply_repair
from app.services.what_if.watched_texts import WatchedTextCache
from tests.builders.trained_home import intent_ids, label, rows, train

LINEAR: dict[str, Any] = {"kind": "linear"}
FEW_VOTE: dict[str, Any] = {"kind": "votes", "max_exemplars": 10}


def answering(home: Studio, tiny_path: Path, head: dict[str, Any]) -> LiveStudio:
    """Let a version with a head answer, which is trained on the labels of now."""
    train(home, tiny_path, {"kind": "instant", "head": head})
    promote(home, "p", 3)
    live_studio = open_live_studio(home)
    review.wait_for_pool(live_studio, "p")
    return live_studio


def found(live_studio: LiveStudio, *kinds: str) -> list[Finding]:
    listed = [review.review(live_studio, "p", kind).findings for kind in kinds]  # type: ignore[arg-type]
    return [finding for findings in listed for finding in findings]


@pytest.mark.parametrize(
    ("head", "why"),
    [(LINEAR, "the examples of version 3 do not vote"), (FEW_VOTE, "10 of 20 examples vote")],
)
def test_it_is_said_once_that_no_effect_is_told_and_nothing_is_asked_again(
    home: Studio,
    tiny_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    head: dict[str, Any],
    why: str,
) -> None:
    """“Still being computed” stood there for ever, and the page asked every two seconds."""
    monkeypatch.setattr(watched_module, "_AT_ONCE", 5)
    live_studio = answering(home, tiny_path, head)
    listed = review.review(live_studio, "p", watched_texts=WatchedTextCache(live_studio))
    assert listed.effects  # else the page asks again
    words = f"What a remedy does to answers shows after the next training: {why}."
    assert listed.notes.count(words) == 1
    assert not any("being computed" in note for note in listed.notes)


def test_what_was_mended_elsewhere_is_not_listed_until_the_next_training(
    home: Studio, tiny_path: Path
) -> None:
    """The model went on as if nothing had changed, and so did the list: to be mended again."""
    twin = "Where is my parcel?"
    given = Repair("add", (), (intent_ids(home)["refund"],), value=twin)
    apply_repair(home, "p", given, "planted-1")
    live_studio = answering(home, tiny_path, LINEAR)
    ids = {finding.id for finding in found(live_studio, "conflict") if twin in texts_of(finding)}
    assert len(ids) == 1
    label(home, twin, "parcel")
    assert not ids & {finding.id for finding in found(live_studio, "conflict")}
    gone = Repair("delete", (rows(home)["please refund the order"].id,))
    apply_repair(home, "p", gone, "deleted-1")
    everything = found(live_studio, "label", "doubt", "conflict", "duplicate", "confusion")
    assert all("please refund the order" not in texts_of(finding) for finding in everything)


def texts_of(finding: Finding) -> set[str]:
    return {text.text for text in finding.texts}
