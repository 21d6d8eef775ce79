"""A training is cancelled and resumed, where another number format is quick by then."""

from pathlib import Path

import pytest

from app.services.studio import Studio
from app.services.training.jobs import resume_job
from app.services.training.runs import TrainingRequest, start_training
from core.encoders import precision
from tests.builders.trained_home import do, do_stopped_in, train_here, version


@pytest.mark.parametrize(("recipe", "stage"), [("convfit", "tuning"), ("templates", "templates")])
def test_a_resumed_training_says_and_keeps_its_number_format(
    valued: Studio,
    tiny_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    recipe: str,
    stage: str,
) -> None:
    settings: dict[str, object] = {"epochs": 2, "frozen_layers": 1, "learning_rate": 1e-3}
    request = TrainingRequest("p", recipe, settings, str(tiny_path))
    monkeypatch.setattr(precision, "has_bfloat16", lambda: True)
    monkeypatch.setattr(precision, "bfloat16_gain", lambda: 2.0)
    job = start_training(valued, request)
    do_stopped_in(valued, job.id, stage)
    monkeypatch.setattr(precision, "bfloat16_gain", lambda: 1.0)
    resume_job(valued, job.id)
    assert do(valued, job.id).state == "succeeded"
    monkeypatch.setattr(precision, "bfloat16_gain", lambda: 2.0)
    train_here(valued, request)
    resumed, whole = (version(valued, number).lineage for number in (1, 2))
    assert resumed["precision"] == whole["precision"] == "bfloat16"
    print_of = "fingerprint" if recipe == "templates" else "encoder_fingerprint"
    assert resumed[print_of] == whole[print_of]
