"""Tuning in bfloat16 and encoding in 8 bits against float32, in turns in one process."""

import csv
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np
import torch

from core.benchmarks.inputs import LabelledTexts
from core.encoders.eight_bits import in_eight_bits
from core.encoders.loading import load_encoder
from core.encoders.packed.linear import LoadedLinear, onednn_is_quicker
from core.encoders.precision import bfloat16_gain, has_bfloat16
from core.heads.votes.fit import fit_votes
from core.recipes.labels import ConvfitRecipe
from core.training.events import StageStarted
from core.training.from_labels.inputs import RunInputs, exemplar_targets
from core.training.from_labels.runs import run_recipe
from core.types import FloatArray, Precision

DATA = Path(__file__).parents[3] / "shared" / "data" / "banking77"
STEPS, WARM, ROUNDS = 12, 3, 3
_SETTINGS = (0.6, 0.03)


def run() -> int:
    """Print the ratios, and what 8 bits cost in cosines and accuracy."""
    if not DATA.is_dir():
        sys.stderr.write(f"skipped: {DATA} is absent\n")
        return 0
    train, test = _read("train_10.csv"), _read("test.csv")
    sys.stdout.write(json.dumps({**_tuning(train), **_encoding(train, test)}) + "\n")
    return 0


def _read(name: str) -> LabelledTexts:
    with (DATA / name).open(encoding="utf-8", newline="") as stream:
        rows = [(row["text"], row["intent"]) for row in csv.DictReader(stream)]
    texts, intents = zip(*rows, strict=True)
    return LabelledTexts(texts, intents)


def _tuning(train: LabelledTexts) -> dict[str, object]:
    """Median seconds of steps, in turns, so that whatever else runs hits both."""
    inputs = RunInputs(train.exemplars(), train.distinct_intents(), load_encoder("bundled"))
    seconds: dict[Precision, list[float]] = {"float32": [], "bfloat16": []}
    for _ in range(ROUNDS):
        for precision, found in seconds.items():
            found += _steps(inputs, precision)
    wide, narrow = median(seconds["float32"]), median(seconds["bfloat16"])
    return {
        "has_bfloat16": has_bfloat16(),
        "product_gain": round(bfloat16_gain(), 2),
        "float32_step_ms": round(1e3 * wide, 1),
        "bfloat16_step_ms": round(1e3 * narrow, 1),
        "tuning_ratio": round(wide / narrow, 2),
    }


def _steps(inputs: RunInputs, precision: Precision) -> list[float]:
    recipe, found = ConvfitRecipe(precision=precision, calibration="leave-one-out"), []
    last = 0.0
    for event in run_recipe(recipe, inputs):
        now = time.perf_counter()
        if not isinstance(event, StageStarted):
            found.append(now - last)
        last = now
        if len(found) == STEPS + WARM:
            break
    return found[WARM:]


def _encoding(train: LabelledTexts, test: LabelledTexts) -> dict[str, object]:
    encoder = load_encoder("bundled")
    small = in_eight_bits(encoder)
    usual, quick, eight = [], [], []
    for _ in range(ROUNDS):
        usual.append(_timed(lambda: _by_torch(lambda: encoder.encode(test.texts))))
        quick.append(_timed(lambda: encoder.encode(test.texts)))
        eight.append(_timed(lambda: small.encode(test.texts)))
    by_torch, by_onednn, by_eight = (min(took for took, _ in one) for one in (usual, quick, eight))
    exact, rounded = usual[0][1], eight[0][1]
    return {
        "onednn_is_quicker": onednn_is_quicker(),
        "float32_ratio": round(by_torch / by_onednn, 2),
        "float32_difference": float(np.abs(exact - quick[0][1]).max()),
        "eight_bits_ratio": round(by_torch / by_eight, 2),
        "eight_bits_texts_per_second": round(len(test.texts) / by_eight),
        "eight_bits_largest_cosine_error": round(float(1 - (exact * rounded).sum(1).min()), 5),
        "accuracy": _accuracy(train, test, encoder.encode(train.texts), exact),
        "eight_bits_accuracy": _accuracy(train, test, small.encode(train.texts), rounded),
    }


def _by_torch(encode: Callable[[], FloatArray]) -> FloatArray:
    """Encode as torch multiplies by itself."""
    own = LoadedLinear.forward
    LoadedLinear.forward = torch.nn.Linear.forward  # type: ignore[method-assign]
    try:
        return encode()
    finally:
        LoadedLinear.forward = own  # type: ignore[method-assign]


def _timed(encode: Callable[[], FloatArray]) -> tuple[float, FloatArray]:
    began = time.perf_counter()
    found = encode()
    return time.perf_counter() - began, found


def _accuracy(
    train: LabelledTexts, test: LabelledTexts, seen: FloatArray, asked: FloatArray
) -> float:
    intents = train.distinct_intents()
    names = [intent.name for intent in intents]
    head = fit_votes(seen, exemplar_targets(train.exemplars(), intents), names, *_SETTINGS)
    best = [names[column] for column in head.scores(asked).argmax(1)]
    return round(100 * float(np.mean([a == b for a, b in zip(best, test.intents, strict=True)])), 2)


if __name__ == "__main__":
    sys.exit(run())
