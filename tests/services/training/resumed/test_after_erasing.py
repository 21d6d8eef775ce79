"""A training is cancelled, a text that it has read is erased, and it is resumed."""

from pathlib import Path

import pytest

from app.services.answering.stored import load_model
from app.services.data.erasing import erase_texts
from app.services.studio import Studio
from app.services.training.frozen import frozen_state
from app.services.training.jobs import job_view, resume_job
from app.services.training.runs import TrainingRequest, start_training
from app.services.training.unlabelled import unlabelled_texts
from core.errors import Conflict
from storage import jobs
from storage.log import edits, events, versions
from storage.log.events import Action
from storage.records import JobRecord
from tests.builders.trained_home import POOL, do, do_stopped_in, intent_ids, train_here, version

SETTINGS: dict[str, object] = {"epochs": 3, "learning_rate": 1e-3}
SAID = "I want my money back"


def stopped(home: Studio, base: Path, recipe: str = "convfit", stage: str = "tuning") -> JobRecord:
    job = start_training(home, TrainingRequest("p", recipe, SETTINGS, str(base)))
    return do_stopped_in(home, job.id, stage)


@pytest.mark.parametrize("said", [SAID, POOL[0]])
def test_a_training_that_has_read_an_erased_text_cannot_be_resumed(
    home: Studio, tiny_path: Path, said: str
) -> None:
    """Its weights had learned from the text, and went on learning from the tombstone."""
    job = stopped(home, tiny_path)
    assert job_view(home, job.id).resumable
    assert erase_texts(home, "p", [said]).stopped == (job.id,)
    assert job_view(home, job.id).resumable  # that was a count alone
    assert erase_texts(home, "p", [said], now=True).stopped == (job.id,)
    assert not home.places.checkpoints(job.id).exists()
    assert not job_view(home, job.id).resumable
    with pytest.raises(Conflict, match="kept nothing to go on from"):
        resume_job(home, job.id)


def test_a_training_from_before_the_text_was_there_can_be_resumed(
    home: Studio, tiny_path: Path
) -> None:
    job = stopped(home, tiny_path)
    refund = intent_ids(home)["refund"]
    with home.database.write() as connection:
        later = edits.create_utterance("later", "my name is Ada", "train", "f", [refund])
        events.record(connection, 1, Action("import", "local"), [later])
    assert erase_texts(home, "p", ["my name is Ada"], now=True).stopped == ()
    resume_job(home, job.id)
    assert do(home, job.id).state == "succeeded"


RECIPES = pytest.mark.parametrize(
    ("recipe", "stage"), [("convfit", "tuning"), ("label-encoder", "naming")]
)


@RECIPES
def test_no_training_takes_a_tombstone_for_a_text(
    home: Studio, tiny_path: Path, recipe: str, stage: str
) -> None:
    """“[erased 1f3a9c02]” voted for the label of the text that it stands for."""
    job = stopped(home, tiny_path, recipe, stage)
    erase_texts(home, "p", [SAID, POOL[0]], now=True)
    with home.database.write() as connection:
        jobs.resume(connection, job.id)  # as a process that died while the text was erased
    assert do(home, job.id).state == "succeeded"
    learned = [one.text for one in load_model(home, "p@3").exemplars]
    assert len(learned) == 19
    assert not any(text.startswith("[erased") for text in learned)
    with home.database.read() as connection:
        frozen = versions.get(connection, job.payload["dataset_version_id"])
        pool = unlabelled_texts(frozen_state(connection, 1, frozen))
    assert sorted(pool.values()) == sorted(POOL[1:])


@RECIPES
def test_checkpoints_that_have_read_an_erased_text_are_not_gone_on_from(
    home: Studio, tiny_path: Path, recipe: str, stage: str
) -> None:
    """An earlier release left them there."""
    job = stopped(home, tiny_path, recipe, stage)
    checkpoints = home.places.checkpoints(job.id)
    aside = checkpoints.rename(home.places.home / "aside")
    erase_texts(home, "p", [SAID], now=True)
    aside.rename(checkpoints)
    resume_job(home, job.id)
    assert do(home, job.id).state == "succeeded"
    train_here(home, TrainingRequest("p", recipe, SETTINGS, str(tiny_path)))
    resumed, whole = (version(home, number).lineage["encoder_fingerprint"] for number in (3, 4))
    assert resumed == whole
