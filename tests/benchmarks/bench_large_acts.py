"""How long acts on many texts hold the lock of writers: staged, against at once; one run."""

import argparse
import csv
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.bootstrap import open_studio
from app.services.data import history, utterances
from app.services.data.bulk import BulkAct, Edit
from app.services.data.importing import ImportRequest, import_file
from app.services.data.intents import add_intent
from app.services.data.projects import create_project
from app.services.studio import Studio
from app.settings import Settings
from storage.queries.utterances import Filter
from tests.benchmarks.browser_homes import generated
from tests.builders.trained_home import EVERY_TEXT

PROJECT = "bench"


@dataclass(slots=True)
class HeldQueue:
    """A queue of writers that notes how long each had its turn."""

    inner: Any
    seconds: list[float]

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait for the turn, and note its length."""
        with self.inner.turn():
            start = time.perf_counter()
            try:
                yield
            finally:
                self.seconds.append(time.perf_counter() - start)


def run(arguments: Sequence[str] | None = None) -> int:
    """Print the longest hold of each act in seconds, both ways, and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    rows = parser.parse_args(arguments).rows
    staged = _holds(rows)
    history.LARGE = utterances.LARGE = sys.maxsize
    at_once = _holds(rows)
    figures = {
        name: {
            "staged": round(staged[name], 2),
            "at_once": round(at_once[name], 2),
            "ratio": round(staged[name] / at_once[name], 3),
        }
        for name in staged
    }
    sys.stdout.write(json.dumps({"rows": rows, **figures}) + "\n")
    return 0


def _holds(rows: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "large.csv"
        with file.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.writer(stream)
            writer.writerow(("text", "intent"))
            texts = enumerate(generated(rows))
            writer.writerows((text, intent if n % 2 else "") for n, (text, intent) in texts)
        studio = open_studio(Settings(home=Path(folder) / "home"))
        queue = HeldQueue(studio.database.writers, [])
        object.__setattr__(studio.database, "writers", queue)
        create_project(studio, PROJECT)
        import_file(studio, ImportRequest(PROJECT, file))
        holds = {name: _hold(queue, act) for name, act in _acts(studio, rows)}
        studio.database.close()
    return holds


def _acts(studio: Studio, rows: int) -> Iterator[tuple[str, Callable[[], object]]]:
    intent, many = add_intent(studio, PROJECT, "bulk"), BulkAct(rows // 2, EVERY_TEXT)
    bare, label = Filter(state="unlabelled"), Edit("label", intent)
    undo, redo = (
        lambda: history.undo_last(studio, PROJECT),
        lambda: history.redo_last(studio, PROJECT),
    )
    yield "label", lambda: utterances.change_many(studio, PROJECT, bare, label, many)
    yield "undo of the label", undo
    undo()  # of the intent
    yield "undo of the import", undo
    yield "redo of the import", redo
    everything = BulkAct(rows, EVERY_TEXT)
    yield (
        "delete",
        lambda: utterances.change_many(studio, PROJECT, Filter(), Edit("delete"), everything),
    )
    yield "undo of the delete", undo


def _hold(queue: HeldQueue, act: Callable[[], object]) -> float:
    queue.seconds.clear()
    act()
    return max(queue.seconds)


if __name__ == "__main__":
    sys.exit(run())
