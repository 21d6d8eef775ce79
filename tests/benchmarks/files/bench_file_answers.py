"""Answer a file of many texts in float32 and in 8 bits: texts a second, memory, equal answers.

`python -m tests.benchmarks.files.bench_file_answers [TEXTS]`, 100,000 texts unless told otherwise.
"""

import csv
import json
import resource
import sys
import tempfile
from pathlib import Path

from app.services.answering.file_answers import FilePrecision, FileRequest, answer_file
from core.benchmarks.inputs import LabelledTexts
from core.encoders.loading import load_encoder
from core.pipeline import IntentPipeline
from core.recipes.labels import InstantRecipe
from core.training.events import drain
from core.training.from_labels.inputs import RunInputs
from core.training.from_labels.runs import run_recipe

DATA = Path(__file__).parents[4] / "shared" / "data" / "banking77"
PRECISIONS: tuple[FilePrecision, ...] = ("float32", "int8")


def run(n_texts: int) -> int:
    """Print the figures of both precisions, one after the other in one process."""
    if not DATA.is_dir():
        sys.stderr.write(f"skipped: {DATA} is absent\n")
        return 0
    model = _model()
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "texts.csv"
        _write(source, n_texts)
        for precision in PRECISIONS:
            request = FileRequest(source, Path(folder) / f"{precision}.csv", precision)
            resident: list[float] = []
            told = answer_file(
                model, None, request, lambda done, total, kept=resident: kept.append(_resident())
            )
            figures = {
                "precision": told.precision,
                "texts": told.texts,
                "texts_per_second": round(told.texts / told.seconds),
                "same_answers": told.same_answers,
                "resident_mb_first_and_last": [round(resident[0]), round(resident[-1])],
                "peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
            }
            sys.stdout.write(json.dumps(figures) + "\n")
    return 0


def _model() -> IntentPipeline:
    texts, intents = zip(*_rows("train_10.csv"), strict=True)
    labelled = LabelledTexts(texts, intents)
    inputs = RunInputs(labelled.exemplars(), labelled.distinct_intents(), load_encoder("bundled"))
    return drain(run_recipe(InstantRecipe(), inputs), lambda event: None).pipeline


def _rows(name: str) -> list[tuple[str, str]]:
    with (DATA / name).open(encoding="utf-8", newline="") as stream:
        return [(row["text"], row["intent"]) for row in csv.DictReader(stream)]


def _write(path: Path, n_texts: int) -> None:
    """Write the training texts again and again, each time with another number behind them."""
    texts = [text for text, _ in _rows("train.csv")]
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["text"])
        for at in range(n_texts):
            turn, row = divmod(at, len(texts))
            writer.writerow([texts[row] if turn == 0 else f"{texts[row]} {turn}"])


def _resident() -> float:
    """Return this process's resident memory in MiB."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize() / 2**20


if __name__ == "__main__":
    sys.exit(run(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000))
