"""What a person is told when memory, disk or GPU are not there, and what the log must not tell."""

import errno
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from app.bootstrap import workplace_of
from app.jobs.worker import work
from app.services.embedding import resolve_device
from app.services.studio import Studio
from core.errors import InvalidInput
from storage import jobs
from storage.records import JobRecord

SECRET = "my card number is 1234"


def ended_by(studio: Studio, fail) -> JobRecord:
    """Do a job that fails in a certain way."""
    with studio.database.write() as connection:
        claimed = jobs.claim(connection, jobs.enqueue(connection, "train", {}).id)

    def break_off(_context):
        fail()

    workplace = replace(workplace_of(studio), kinds={"train": break_off})
    assert work(workplace, claimed) == 0
    with studio.database.read() as connection:
        return jobs.get(connection, claimed.id)


def full_disk() -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def full_disk_below_a_library() -> None:
    try:
        full_disk()
    except OSError as error:
        message = "cannot write the file"
        raise ValueError(message) from error


def full_gpu() -> None:
    message = "CUDA out of memory. Tried to allocate 20.00 MiB."
    raise torch.OutOfMemoryError(message)


@pytest.mark.parametrize(
    ("fail", "says", "step"),
    [
        (lambda: torch.empty(1 << 55), "not enough memory", "smaller batch size"),
        (lambda: np.empty(1 << 55), "not enough memory", "smaller batch size"),
        (full_gpu, "The GPU has not enough memory", "use the processor"),
        (full_disk, "The disk is full", "Make room"),
        (full_disk_below_a_library, "The disk is full", "Make room"),
        (lambda: resolve_device("cuda:99"), "'cuda:99' is asked for", "auto or cpu"),
    ],
)
def test_a_training_without_memory_disk_or_gpu_ends_in_words(studio, fail, says, step) -> None:
    """Each ended as "Something broke" with a number."""
    job = ended_by(studio, fail)
    assert (job.state, says in job.message, step in job.hint) == ("failed", True, True), job.message


def test_the_log_of_a_broken_job_has_places_and_no_texts(studio, capsys) -> None:
    """A traceback ends with the error's message, which may quote what customers said."""

    def fail() -> None:
        raise KeyError(SECRET)

    job = ended_by(studio, fail)
    log = capsys.readouterr().err
    assert job.message.startswith("Something broke (incident ")
    assert job.message.split()[-1].strip(").") in log
    assert Path(__file__).name in log
    assert SECRET not in log


@pytest.mark.parametrize("asked", ["gpu", "mps", "cuda:0x", ""])
def test_a_device_that_is_not_there_is_named(asked: str) -> None:
    with pytest.raises(InvalidInput, match=f"'{asked}' is asked for"):
        resolve_device(asked)
    assert resolve_device("cpu") == "cpu"
