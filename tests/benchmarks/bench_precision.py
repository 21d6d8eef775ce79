"""Tuning in bfloat16 and encoding in 8 bits against float32, in turns in one process.

`OMP_NUM_THREADS=1` measures one thread; without it, all are used.
"""

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
from core.encoders.loading import load_encoder
from core.encoders.packed.linear import LoadedLinear, onednn_is_quicker
from core.encoders.precision import bfloat16_gain, has_bfloat16
from core.encoders.quick.eight_bits import in_eight_bits
from core.heads.votes.fit import fit_votes
from core.metrics.out_of_scope import auroc
from core.recipes.labels import ConvfitRecipe
from core.training.events import StageStarted
from core.training.from_labels.inputs import RunInputs, exemplar_targets
from core.training.from_labels.runs import run_recipe
from core.types import FloatArray, Precision, ScoreArray

DATA = Path(__file__).parents[3] / "shared" / "data"
SETS = ("banking77", "clinc150")
STEPS, WARM, ROUNDS = 12, 3, 3
_SETTINGS = (0.6, 0.03)


def run() -> int:
    """Print the ratios, and what 8 bits cost in cosines and accuracy."""
    if not DATA.is_dir():
        sys.stderr.write(f"skipped: {DATA} is absent\n")
        return 0
    train, test = _read("banking77/train_10.csv"), _read("banking77/test.csv")
    figures = {**_tuning(train), **_encoding(test), "eight_bits_cost": [_cost(one) for one in SETS]}
    sys.stdout.write(json.dumps(figures) + "\n")
    return 0


def _read(path: str) -> LabelledTexts:
    with (DATA / path).open(encoding="utf-8", newline="") as stream:
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


def _encoding(test: LabelledTexts) -> dict[str, object]:
    encoder = load_encoder("bundled")
    small = in_eight_bits(encoder)
    usual, quick, eight = [], [], []
    for _ in range(ROUNDS):
        usual.append(_timed(lambda: _by_torch(lambda: encoder.encode(test.texts))))
        quick.append(_timed(lambda: encoder.encode(test.texts)))
        eight.append(_timed(lambda: small.encode(test.texts)))
    by_torch, by_onednn, by_eight = (min(took for took, _ in one) for one in (usual, quick, eight))
    return {
        "onednn_is_quicker": onednn_is_quicker(),
        "float32_ratio": round(by_torch / by_onednn, 2),
        "float32_difference": float(np.abs(usual[0][1] - quick[0][1]).max()),
        "float32_texts_per_second": round(len(test.texts) / by_onednn),
        "eight_bits_ratio": round(by_onednn / by_eight, 2),
        "eight_bits_texts_per_second": round(len(test.texts) / by_eight),
    }


def _cost(name: str) -> dict[str, object]:
    """Compare accuracy, AUROC and embeddings of a set, in float32 and then in 8 bits."""
    train, test = _read(f"{name}/train_10.csv"), _read(f"{name}/test.csv")
    has_outside = (DATA / name / "oos_test.csv").is_file()
    outside = _read(f"{name}/oos_test.csv").texts if has_outside else ()
    embedded: list[FloatArray] = []
    accuracy: list[float] = []
    areas: list[float] = []
    for encoder in (load_encoder("bundled"), in_eight_bits(load_encoder("bundled"))):
        embedded.append(encoder.encode(test.texts))
        names, scores = _scored(train, encoder.encode(train.texts), embedded[-1])
        accuracy.append(_right(names, scores, test))
        if outside:
            away = _scored(train, encoder.encode(train.texts), encoder.encode(outside))[1]
            areas.append(round(auroc(scores.max(1), away.max(1)), 4))
    error = float(1 - (embedded[0] * embedded[1]).sum(1).min())
    figures = {"set": name, "largest_cosine_error": round(error, 5), "accuracy": accuracy}
    return {**figures, "auroc": areas}


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


def _scored(
    train: LabelledTexts, seen: FloatArray, asked: FloatArray
) -> tuple[list[str], ScoreArray]:
    """Return the intents, and the scores of some texts by the votes of the training texts."""
    intents = train.distinct_intents()
    names = [intent.name for intent in intents]
    head = fit_votes(seen, exemplar_targets(train.exemplars(), intents), names, *_SETTINGS)
    return names, head.scores(asked)


def _right(names: list[str], scores: ScoreArray, test: LabelledTexts) -> float:
    best = [names[column] for column in scores.argmax(1)]
    return round(100 * float(np.mean([a == b for a, b in zip(best, test.intents, strict=True)])), 2)


if __name__ == "__main__":
    sys.exit(run())
