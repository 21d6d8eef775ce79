"""Review of a model that takes in no label before the next training."""

from pathlib import Path
from typing import Any

import pytest

from app.services.live.server_state import LiveStudio, open_live_studio
from app.services.review import review
from app.services.studio import Studio
from app.services.versions.registry import promote
from app.services.what_if import watched_texts as watched_module
from app.services.what_if.watched_texts import WatchedTextCache
from tests.builders.trained_home import train

LINEAR: dict[str, Any] = {"kind": "linear"}
FEW_VOTE: dict[str, Any] = {"kind": "votes", "max_exemplars": 10}


def answering(home: Studio, tiny_path: Path, head: dict[str, Any]) -> LiveStudio:
    """Let a version with a head answer, which is trained on the labels of now."""
    train(home, tiny_path, {"kind": "instant", "head": head})
    promote(home, "p", 3)
    live_studio = open_live_studio(home)
    review.wait_for_pool(live_studio, "p")
    return live_studio


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
