"""A training is cancelled in its second round, groups change, and it is resumed."""

from pathlib import Path

import pytest

from app.services.studio import Studio
from app.services.training import runs
from app.services.training.jobs import resume_job
from app.services.training.runs import TrainingRequest, start_training
from core.training.from_labels.inputs import CoreLabels
from tests.builders.trained_home import (
    add_enough_unlabelled,
    do,
    do_stopped_in,
    train_here,
    version,
)


@pytest.fixture
def waiting(home: Studio, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    return add_enough_unlabelled(home, monkeypatch)


def test_a_round_begins_anew_when_other_texts_are_left_of_groups(
    home: Studio,
    waiting: list[str],
    tiny_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Its optimiser went on with the texts of other groups, and nothing said so."""
    request = TrainingRequest("p", "convfit", {"epochs": 2, "learning_rate": 1e-3}, str(tiny_path))
    job = start_training(home, request)
    do_stopped_in(home, job.id, "retuning")
    cores = CoreLabels(frozenset(), tuple(waiting[:10]), 0.5)
    monkeypatch.setattr(runs, "core_labels", lambda *_: cores)
    resume_job(home, job.id)
    assert do(home, job.id).state == "succeeded"
    said = [record.getMessage() for record in caplog.records if record.name == "app.jobs"]
    assert len(said) == 2
    assert said[1].startswith("learning, second round: begins anew, because its texts")
    train_here(home, request)
    resumed, whole = (version(home, number) for number in (3, 4))
    assert resumed.lineage["encoder_fingerprint"] == whole.lineage["encoder_fingerprint"]
    assert resumed.metrics["pool"] == whole.metrics["pool"]
