"""Embed a project's 100,000 unlabelled texts as its map does, in float32 and by quick copies.

`python -m tests.benchmarks.files.bench_many_texts [TEXTS] [PRECISION ...]`. Each precision embeds
all texts in a process of its own, with what reads and stores them; the import is not counted.
"""

import sys
import tempfile
import time
from pathlib import Path
from typing import cast

from app.bootstrap import open_studio
from app.services.data.importing import ImportRequest, import_file
from app.services.data.projects import create_project
from app.services.embedding import encoder_of_maps, read_embedded
from app.settings import Settings
from core.encoders.loading import load_encoder
from core.memory import peak_bytes
from core.types import EncodingPrecision
from storage import projects
from tests.benchmarks.files.apart import tell, told_figure
from tests.benchmarks.files.bench_file_answers import DATA, USUAL, write_texts

PRECISIONS = ("float32", "int8", "bfloat16")


def run(n_texts: int, precisions: tuple[str, ...]) -> int:
    """Print the figures of each precision, and how many times as fast they are as the first."""
    if not DATA.is_dir():
        sys.stderr.write(f"skipped: {DATA} is absent\n")
        return 0
    with tempfile.TemporaryDirectory() as scratch:
        home = Path(scratch)
        _import(home, n_texts)
        measured = ("seconds", __spec__.name, "measure")
        took = [told_figure(*measured, one, str(home)) for one in precisions]
    ratios = {
        one: round(took[0] / seconds, 2) for one, seconds in zip(precisions, took, strict=True)
    }
    tell({"ratios": ratios})
    return 0


def _import(home: Path, n_texts: int) -> None:
    write_texts(home / "texts.csv", n_texts)
    studio = open_studio(Settings(home=home / "home"))
    create_project(studio, "many")
    import_file(studio, ImportRequest("many", home / "texts.csv"))
    studio.database.close()


def measure(precision: EncodingPrecision, home: Path) -> int:
    """Embed the texts in this process, and print the figures."""
    studio = open_studio(Settings(home=home / "home", map_precision=precision))
    encoder = encoder_of_maps(studio, load_encoder("bundled"))
    with studio.database.read() as connection:
        project = projects.find(connection, "many")
    began, processor = time.perf_counter(), time.process_time()
    embedded = read_embedded(studio, project, encoder, lambda done, total: None)
    seconds = time.perf_counter() - began
    n_texts = len(embedded.ids)
    figures = {
        "precision": precision,
        "texts": n_texts,
        "seconds": round(seconds, 1),
        "texts_per_second": round(n_texts / seconds),
        "processor_ms_per_text": round((time.process_time() - processor) * 1e3 / n_texts, 2),
        "peak_mb": round(peak_bytes() / 1e6),
    }
    tell(figures)
    return 0


def main(words: list[str]) -> int:
    """Measure one precision, or all that are named."""
    if words[:1] == ["measure"]:
        return measure(cast("EncodingPrecision", words[1]), Path(words[2]))
    return run(int(words[0]) if words else USUAL, tuple(words[1:]) or PRECISIONS)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
