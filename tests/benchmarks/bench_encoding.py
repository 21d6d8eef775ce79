"""Time to encode BANKING77's test texts against sentence-transformers, in one run."""

import csv
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from sentence_transformers import SentenceTransformer

from core.encoders.bundled import bundled_folder
from core.encoders.loading import load_encoder

TEXTS = Path(__file__).parents[3] / "shared" / "data" / "banking77" / "test.csv"
ROUNDS = 3


def run() -> int:
    """Print the ratio, the largest difference and the share of the machine's matrix rate."""
    if not TEXTS.is_file():
        sys.stderr.write(f"skipped: {TEXTS} is absent\n")
        return 0
    with TEXTS.open(encoding="utf-8", newline="") as stream:
        texts = [row["text"] for row in csv.DictReader(stream)]
    ours, theirs = load_encoder("bundled"), SentenceTransformer(str(bundled_folder()), device="cpu")
    mine, reference = [], []
    for _ in range(ROUNDS):  # in turns, so that whatever else the machine does hits both
        mine.append(_timed(lambda: ours.encode(texts)))
        reference.append(_timed(lambda: theirs.encode(texts)))
    tokens = sum(len(ids) for ids in ours.token_ids(texts, ours.max_tokens))
    shape = ours.bert.shape
    products = 4 * shape.hidden_size**2 + 2 * shape.hidden_size * shape.intermediate_size
    operations = 2.0 * tokens * products * shape.num_hidden_layers
    seconds = min(took for took, _ in mine)
    figures = {
        "ratio": round(seconds / min(took for took, _ in reference), 3),
        "texts_per_second": round(len(texts) / seconds, 1),
        "largest_difference": float(np.abs(mine[0][1] - reference[0][1]).max()),
        "matrix_rate_share": round(operations / seconds / _matrix_rate(), 3),
    }
    sys.stdout.write(json.dumps(figures) + "\n")
    return 0


def _timed(encode: Callable[[], np.ndarray]) -> tuple[float, np.ndarray]:
    began = time.perf_counter()
    result = encode()
    return time.perf_counter() - began, result


def _matrix_rate() -> float:
    """Operations a second of a large float32 matrix product."""
    left, right = torch.randn(2048, 2048), torch.randn(2048, 2048)
    best = min(_timed(lambda: (left @ right).numpy())[0] for _ in range(5))
    return 2.0 * 2048**3 / best


if __name__ == "__main__":
    sys.exit(run())
