"""Time to write a thousand answers as JSON: whole and short ones, against FastAPI's own encoder.

    python -m tests.benchmarks.bench_predict

The answers are those of a project of BANKING77, ten examples an intent. Ratios are of seconds of
processor in one run, the best of five.
"""

import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from fastapi.encoders import jsonable_encoder
from pydantic_core import to_json

from app.services.data.importing import ImportRequest, import_file
from app.services.data.projects import create_project
from app.services.live.live_studio import open_live_studio
from app.services.training.runs import TrainingRequest
from app.services.trying.answers import Answer, answer_texts
from app.services.trying.short_answers import shorten, with_best
from core.formats.reading import read_rows
from tests.builders.trained_home import opened, train_here

DATA = Path(__file__).parents[3] / "shared" / "data" / "banking77"
FIELDS = ("text", "decision", "ranked")


def answered(home: Path) -> list[Answer]:
    """Answer a thousand test texts by a model of quick training."""
    studio = opened(home)
    create_project(studio, "banking")
    import_file(studio, ImportRequest("banking", DATA / "train_10.csv"))
    train_here(studio, TrainingRequest("banking", "instant", {}))
    texts = [row.text for row in read_rows(DATA / "test.csv")][:1_000]
    return answer_texts(open_live_studio(studio), "banking", texts)


def seconds(write: Callable[[], bytes]) -> tuple[float, int]:
    """Return the best of five times in seconds of processor, and the bytes written."""
    times = []
    for _ in range(5):
        began = time.process_time()
        size = len(write())
        times.append(time.process_time() - began)
    return min(times), size


def main() -> int:
    """Print milliseconds, megabytes and the ratio to FastAPI's encoder of each way."""
    if not DATA.is_dir():
        sys.stderr.write(f"skipped: {DATA} is absent\n")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        answers = answered(Path(folder) / "home")
    ways = {
        "FastAPI's encoder, whole": lambda: json.dumps(jsonable_encoder(answers)).encode(),
        "studio, whole": lambda: to_json(answers),
        "studio, top_k 3 and three fields": lambda: to_json(shorten(with_best(answers, 3), FIELDS)),
    }
    figures: dict[str, dict[str, float]] = {}
    before = 0.0
    for name, write in ways.items():
        took, size = seconds(write)
        before = before or took
        figures[name] = {
            "ms": round(1_000 * took, 1),
            "mb": round(size / 1e6, 2),
            "ratio": round(took / before, 3),
        }
    sys.stdout.write(json.dumps(figures) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
