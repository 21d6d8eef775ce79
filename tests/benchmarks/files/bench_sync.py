"""How long a label waits while a large project is synced with a folder for the first time.

`python -m tests.benchmarks.files.bench_sync [TEXTS]`: out into a new folder, then from it into a
new project; another process labels ten times a second meanwhile.
"""

import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path

import numpy as np

from app.bootstrap import open_studio
from app.services.data.importing import ImportRequest, import_file
from app.services.data.projects import create_project
from app.services.labelling.decisions import Operation, decide
from app.services.studio import Studio
from app.settings import Settings
from storage.queries import dataset
from tests.benchmarks.browser_homes import generated
from tests.benchmarks.files.apart import tell

_PAUSE = 0.1
"""Seconds between two labels."""
_WAITING = 2_000


def run(n_texts: int) -> int:
    """Print the waits of labels in ms, idle and during both syncs."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder, "home")
        studio = open_studio(Settings(home=home))
        ids = _prepare(studio, Path(folder), n_texts)
        idle = _waits(studio, ids, ["sleep", "5"])
        command = [sys.executable, "-m", "intent_studio", "--home", str(home), "sync"]
        where = str(Path(folder, "git"))
        for name, project in (("idle", ""), ("out", "large"), ("in", "clone")):
            waits, seconds = (
                idle if not project else _waits(studio, ids, [*command, project, where])
            )
            p50, p99 = np.percentile(waits, [50, 99])
            told = {
                "sync": name,
                "texts": n_texts,
                "seconds": round(seconds, 1),
                "labels": len(waits),
                "p50_ms": round(float(p50)),
                "p99_ms": round(float(p99)),
                "longest_ms": round(max(waits)),
            }
            tell(told)
        studio.database.close()
    return 0


def _prepare(studio: Studio, folder: Path, n_texts: int) -> list[str]:
    """Make a large project, and one with texts that wait for a label; return their ids."""
    texts = [text for text, _ in generated(n_texts + _WAITING)]
    large, small = folder / "large.csv", folder / "small.txt"
    rows = (f'"{text}",intent_{at % 100}\n' for at, text in enumerate(texts[_WAITING:]))
    large.write_text("text,intent\n" + "".join(rows), encoding="utf-8")
    small.write_text("\n".join(texts[:_WAITING]) + "\n", encoding="utf-8")
    for name, file in (("large", large), ("small", small)):
        create_project(studio, name)
        import_file(studio, ImportRequest(name, file))
    with studio.database.read() as connection:
        return [one.id for one in dataset.utterances(connection, 2)]


def _waits(studio: Studio, ids: list[str], command: list[str]) -> tuple[list[float], float]:
    """Label one text after the other while a command runs; return waits in ms, and its seconds."""
    waits, start = list[float](), time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    while process.poll() is None:
        begun = time.perf_counter()
        operation = Operation(uuid.uuid4().hex, "label", ids.pop(), create=("one",))
        (outcome,) = decide(studio, "small", [operation])
        if outcome.state != "saved":
            raise RuntimeError(str(outcome))
        waits.append((time.perf_counter() - begun) * 1_000)
        time.sleep(_PAUSE)
    if process.returncode:
        raise RuntimeError(f"{command} ended with {process.returncode}")
    return waits, time.perf_counter() - start


if __name__ == "__main__":
    sys.exit(run(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000))
