"""More jobs than anybody waits for."""

from dataclasses import replace

import pytest

from app.services.training.runs import TrainingRequest, start_training
from core.errors import StudioError
from storage import jobs
from tests.abuse.table import Abuse
from tests.builders.trained_home import Idle

ABUSES = (
    Abuse(
        20,
        "A thousand queued jobs",
        "trainings are started until one is refused",
        "the queue is bounded, and the refusal says so",
    ),
)


def test_a_thousand_jobs_are_refused(studio, labelled, tiny_path) -> None:
    idle = replace(studio, executor=Idle())
    request = TrainingRequest("p", "instant", {}, str(tiny_path))
    for _ in range(jobs.MOST_QUEUED):
        start_training(idle, request)
    with pytest.raises(StudioError, match="wait"):
        start_training(idle, request)
