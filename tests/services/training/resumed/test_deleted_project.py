"""A training is cancelled, its project is deleted, and somebody resumes it."""

import pytest

from app.services.data.projects import create_project, delete_project, restore_project
from app.services.studio import Studio
from app.services.training.jobs import cancel_job, job_view, resume_job
from core.errors import NotFound
from storage import jobs


def test_a_training_of_a_deleted_project_is_not_resumed(studio: Studio) -> None:
    """It went on, and made a version that is on no list."""
    key = create_project(studio, "p").id
    with studio.database.write() as connection:
        job = jobs.enqueue(connection, "train", {}, key)
    cancel_job(studio, job.id)
    (studio.places.checkpoints(job.id) / "step-1").mkdir(parents=True)
    deleted = delete_project(studio, "p")
    with pytest.raises(NotFound, match="'p' was deleted meanwhile"):
        resume_job(studio, job.id)
    assert job_view(studio, job.id).state == "cancelled"
    restore_project(studio, deleted.id)
    assert job_view(studio, job.id).resumable
