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
    clock[0] += 35.9  # until thirteen times as long as was computed
    assert at(resting, 400) == 100
    clock[0] += 0.2
    assert at(resting, 404) == 404


def test_effects_that_are_quickly_computed_rest_for_a_moment(clock: list[float]) -> None:
    """What took less than a second never rested: it was computed again with each revision."""
    resting = RestingRevision()
    at(resting, 100)
    resting.spent += 0.5
    clock[0] += 6.4
    assert at(resting, 150) == 100
    clock[0] += 0.2
    assert at(resting, 151) == 151


@pytest.mark.parametrize(
    ("spent", "waited", "changes"),
    [(3.0, 3.0, 5), (3.0, 10.0, 9)],
    ids=["a few repairs", "a label a second at most"],
)
def test_one_person_sees_the_effects_of_now(
    clock: list[float], spent: float, waited: float, changes: int
) -> None:
    resting = RestingRevision()
    at(resting, 100)
    resting.spent += spent
    clock[0] += waited
    assert at(resting, 100 + changes) == 100 + changes


def test_new_findings_take_a_share_of_the_time_while_a_revision_rests(clock: list[float]) -> None:
    """Each label brought findings; effects of 35 s were computed for one resting revision."""
    resting = RestingRevision()
    at(resting, 100)
    assert resting.seconds(3.0) == 3.0
    resting.spent += 4.0
    clock[0] += 26.0
    assert at(resting, 600) == 100
    assert resting.seconds(3.0) == pytest.approx(1.0)  # 3 at first, 2 since, less 4
    resting.spent += 1.5
    assert resting.seconds(3.0) < 0.0
    clock[0] += 60.0
    assert at(resting, 700) == 700
    assert resting.seconds(3.0) == 3.0


def test_two_who_look_at_once_get_the_effects_of_one_revision(clock: list[float]) -> None:
    """The second began anew with a newer revision, and what the first computed was lost."""
    resting = RestingRevision()
    at(resting, 100)
    clock[0] += 0.3  # nothing is computed yet
    assert at(resting, 120) == 100
    clock[0] += 2.0
    assert at(resting, 200) == 200


def test_another_version_or_project_has_effects_of_its_own(clock: list[float]) -> None:
    resting = RestingRevision()
    at(resting, 100)
    resting.spent += 3.0
    assert at(resting, 160, version=8) == 160
    resting.spent += 3.0
    assert resting.at(replace(PROJECT, id=2, head_revision=30), 8) == 30
