"""Steps of a tuning by two threads, each with half of the batch, against operations shared by both.

Both ways are measured in turns in one process, so that whatever else runs hits both.
"""

import csv
import json
import os
import sys
import time
from pathlib import Path
from statistics import median

import torch

from core.benchmarks.inputs import LabelledTexts
from core.encoders.loading import load_encoder
from core.recipes.labels import ConvfitRecipe
from core.training import passes
from core.training.events import StepDone
from core.training.from_labels.inputs import RunInputs
from core.training.from_labels.runs import run_recipe
from core.types import Precision

TRAIN = Path(__file__).parents[4] / "shared" / "data" / "banking77" / "train_10.csv"
STEPS, WARM, ROUNDS = 20, 4, 3
WAYS = {"shared": -1, "halves": 2}
"""Of how many threads each takes a part of the batch; shared: of no number of them."""


def run() -> int:
    """Print the milliseconds of a step, by the clock and of the processor, and their ratios."""
    if not TRAIN.is_file():
        sys.stderr.write(f"skipped: {TRAIN} is absent\n")
        return 0
    with TRAIN.open(encoding="utf-8", newline="") as stream:
        rows = [(row["text"], row["intent"]) for row in csv.DictReader(stream)]
    train = LabelledTexts(*zip(*rows, strict=True))
    inputs = RunInputs(train.exemplars(), train.distinct_intents(), load_encoder("bundled"))
    torch.set_num_threads(2)
    precisions: tuple[Precision, ...] = ("bfloat16", "float32")
    figures = {precision: _compared(inputs, precision) for precision in precisions}
    load = round(os.getloadavg()[0], 1)
    sys.stdout.write(json.dumps({**figures, "load": load}) + "\n")
    return 0


def _compared(inputs: RunInputs, precision: Precision) -> dict[str, float]:
    found: dict[str, list[tuple[float, float]]] = {way: [] for way in WAYS}
    for _ in range(ROUNDS):
        for way, steps in found.items():
            steps += _steps(inputs, precision, WAYS[way])
    figures: dict[str, float] = {}
    for place, kind in enumerate(("clock", "processor")):
        taken = {way: median(step[place] for step in steps) for way, steps in found.items()}
        figures |= {f"{way}_{kind}_ms": round(1e3 * each, 1) for way, each in taken.items()}
        figures[f"{kind}_ratio"] = round(taken["shared"] / taken["halves"], 2)
    return figures


def _steps(inputs: RunInputs, precision: Precision, threads: int) -> list[tuple[float, float]]:
    """Return the seconds of steps, by the clock and of the processor."""
    recipe, found = ConvfitRecipe(precision=precision, calibration="leave-one-out"), []
    before, passes._THREADS = passes._THREADS, threads
    try:
        last = (0.0, 0.0)
        for event in run_recipe(recipe, inputs):
            now = (time.perf_counter(), time.process_time())
            if isinstance(event, StepDone):
                found.append((now[0] - last[0], now[1] - last[1]))
            last = now
            if len(found) == STEPS + WARM:
                break
    finally:
        passes._THREADS = before
    return found[WARM:]


if __name__ == "__main__":
    sys.exit(run())
