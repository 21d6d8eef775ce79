"""Effects rest while labels stream in, and are those of now for a person who repairs alone."""

import time
from dataclasses import replace

import pytest

from app.services.what_if.resting import RestingRevision
from storage.records import ProjectRecord

PROJECT = ProjectRecord(1, "p", "single-label", 100, "2026-01-01", auto_promote=False)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [1_000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    return now


def at(resting: RestingRevision, revision: int, version: int = 7) -> int:
    return resting.at(replace(PROJECT, head_revision=revision), version)


def test_effects_of_one_revision_stand_while_labels_stream_in(clock: list[float]) -> None:
    """Twenty people's labels made Review compute all effects again without end."""
    resting = RestingRevision()
    assert at(resting, 100) == 100
    resting.spent += 3.0
    clock[0] += 3.0
    assert at(resting, 160) == 100
    clock[0] += 11.9  # until five times as long as was computed
    assert at(resting, 400) == 100
    clock[0] += 0.2
    assert at(resting, 404) == 404


@pytest.mark.parametrize(
    ("spent", "waited", "changes"),
    [(0.9, 0.5, 50), (3.0, 3.0, 5), (3.0, 10.0, 9)],
    ids=["quickly computed", "a few repairs", "a label a second at most"],
)
def test_one_person_sees_the_effects_of_now(
    clock: list[float], spent: float, waited: float, changes: int
) -> None:
    resting = RestingRevision()
    at(resting, 100)
    resting.spent += spent
    clock[0] += waited
    assert at(resting, 100 + changes) == 100 + changes


def test_another_version_or_project_has_effects_of_its_own(clock: list[float]) -> None:
    resting = RestingRevision()
    at(resting, 100)
    resting.spent += 3.0
    assert at(resting, 160, version=8) == 160
    resting.spent += 3.0
    assert resting.at(replace(PROJECT, id=2, head_revision=30), 8) == 30
