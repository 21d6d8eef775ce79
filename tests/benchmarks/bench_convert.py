"""Encodings a second of a trained ConveRT against the bundled MiniLM, in one run.

`python -m tests.benchmarks.bench_convert FOLDER`, where `bench response-selection --recipe
convert --save FOLDER` wrote one.
"""

import json
import sys
import time
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from core.encoders.base import Encoder
from core.encoders.loading import load_encoder, load_folder
from core.formats.dialogues import read_dialogues

LOG = Path(__file__).parents[3] / "shared" / "data" / "dialogues" / "sgd_dev.jsonl.gz"
ROUNDS = 5
TEXTS = 5_000


def run(folder: Path) -> int:
    """Print both rates, over all rounds the best, and how many times as fast ConveRT is."""
    if not LOG.is_file():
        sys.stderr.write(f"skipped: {LOG} is absent\n")
        return 0
    turns = (turn.text for dialogue in read_dialogues(LOG) for turn in dialogue.turns)
    texts = list(islice(dict.fromkeys(turns), TEXTS))
    convert, bundled = load_folder(folder), load_encoder("bundled")
    rounds = [(_rate(convert, texts), _rate(bundled, texts)) for _ in range(ROUNDS)]
    ours, theirs = max(rate for rate, _ in rounds), max(rate for _, rate in rounds)
    figures = {
        "convert_per_second": round(ours),
        "minilm_per_second": round(theirs),
        "ratio": round(ours / theirs, 1),
        "texts": len(texts),
    }
    sys.stdout.write(json.dumps(figures) + "\n")
    return 0


def _rate(encoder: Encoder, texts: Sequence[str]) -> float:
    began = time.perf_counter()
    encoder.encode(texts)
    return len(texts) / (time.perf_counter() - began)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("Name the folder of a trained ConveRT.")
    sys.exit(run(Path(sys.argv[1])))
