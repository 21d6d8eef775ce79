"""A training is cancelled, the version that it started from is deleted, and it is resumed."""

import pytest

from app.services.studio import Studio
from app.services.training.jobs import resume_job
from app.services.training.runs import TrainingRequest, start_training
from app.services.versions.registry import delete_model
from core.errors import Conflict
from storage import jobs, models
from storage.jobs import JobOutcome


def test_a_training_whose_base_is_gone_stays_cancelled_with_what_it_kept(home: Studio) -> None:
    """It failed at once, and all that it had learned was deleted."""
    with home.database.read() as connection:
        live = models.champion(connection, 1)
    assert live is not None
    number = 3 - live.number
    job = start_training(home, TrainingRequest("p", "convfit", {}, base=f"p@{number}"))
    with home.database.write() as connection:
        jobs.claim(connection, job.id)
        jobs.finish(connection, job.id, 1, JobOutcome("cancelled"))
    kept = home.places.checkpoints(job.id) / "step-40"
    kept.mkdir(parents=True)
    delete_model(home, "p", number, even_so=True)
    with pytest.raises(Conflict, match=rf"cannot go on\. .*{number}"):
        resume_job(home, job.id)
    with home.database.read() as connection:
        assert jobs.get(connection, job.id).state == "cancelled"
    assert kept.is_dir()
