"""Jobs that do nothing useful, slowly, and keep checkpoints, for tests that kill them."""

import os
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from app.home import Places
from app.jobs.context import JobContext, Publish, Workplace
from app.settings import Settings
from core.errors import InvalidInput
from core.files import replace_file
from storage import models
from storage.artifacts import ArtifactStore, record_tree
from storage.database import Transaction, open_database


def open_workplace(settings: Settings) -> Workplace:
    kinds = {
        "steps": steps,
        "train": steps,
        "stubborn": stubborn,
        "noisy": noisy,
        "counting": counting,
        "wrong": wrong,
        "broken": broken,
    }
    places = Places(settings.folder)
    return Workplace(places, open_database(places.database), kinds)


def steps(context: JobContext) -> Publish:
    """Do steps of 50 ms, keeping each; publish a model version made of what was done."""
    kept = context.places.checkpoints(context.job.id) / "done"
    done = int(kept.read_text()) if kept.exists() else 0
    for step in range(done, int(context.job.payload["steps"])):
        time.sleep(0.05)
        with replace_file(kept) as stream:
            stream.write(str(step + 1).encode())
        context.report(step / 20, f"step {step}", at_once=True)
    store = ArtifactStore(context.places.artifacts)
    with tempfile.TemporaryDirectory() as scratch:
        (Path(scratch) / "model.txt").write_text(f"model of {context.job.id}")
        files = store.put_files(Path(scratch))

    def publish(connection: Transaction) -> dict[str, Any]:
        values = {
            "project_id": context.job.project_id,
            "tree_sha256": record_tree(connection, store, files),
            "dataset_version_id": None,
            "job_id": context.job.id,
            "lineage": {},
            "metrics": {},
            "pins": {},
        }
        return {"number": models.add(connection, values).number}

    return publish


def stubborn(context: JobContext) -> Publish:
    """Ignore every wish to stop."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(3600)
    raise AssertionError


def noisy(context: JobContext) -> Publish:
    """Print 10 MB."""
    for _ in range(10):
        sys.stderr.write("x" * 1_000_000 + "\n")
    sys.stderr.write("the end\n")
    return lambda _: {}


def counting(context: JobContext) -> Publish:
    """Print 6 MB, then numbers without a pause until the log was begun anew, and some more."""
    sys.stderr.write("x" * 6_000_000 + "\n")
    number, left = 0, 500
    while left:
        number += 1
        sys.stderr.write(f"{number}\n")
        left -= os.fstat(2).st_size < 6_000_000
    return lambda _: {"last": number}


def wrong(context: JobContext) -> Publish:
    raise InvalidInput("There are no labels.", "Label something.")


def broken(context: JobContext) -> Publish:
    raise ZeroDivisionError
