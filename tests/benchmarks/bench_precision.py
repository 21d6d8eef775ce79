"""Tuning in bfloat16, and encoding in it and in 8 bits, against float32, in turns in one process.

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
from core.encoders.quick.copies import quick_copy
from core.heads.votes.fit import fit_votes
from core.metrics.out_of_scope import auroc
from core.recipes.labels import ConvfitRecipe
from core.training.events import StageStarted
from core.training.from_labels.inputs import RunInputs, exemplar_targets
from core.training.from_labels.runs import run_recipe
from core.types import EncodingPrecision, FloatArray, Precision, ScoreArray

DATA = Path(__file__).parents[3] / "shared" / "data"
SETS = ("banking77", "clinc150")
QUICK: tuple[EncodingPrecision, ...] = ("bfloat16", "int8")
STEPS, WARM, ROUNDS = 12, 3, 3
_SETTINGS = (0.6, 0.03)


def run() -> int:
    """Print the ratios, and what quick copies cost in cosines, accuracy and AUROC."""
    if not DATA.is_dir():
        sys.stderr.write(f"skipped: {DATA} is absent\n")
        return 0
    train, test = _read("banking77/train_10.csv"), _read("banking77/test.csv")
    costs = [_cost(name, precision) for name in SETS for precision in QUICK]
    figures = {**_tuning(train), **_encoding(test), "costs": costs}
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
    """Time encoders in turns; each counts by its quickest round, against float32 as it is."""
    encoder = load_encoder("bundled")
    ways: dict[str, Callable[[], FloatArray]] = {
        "by_torch": lambda: _by_torch(lambda: encoder.encode(test.texts)),
        "float32": lambda: encoder.encode(test.texts),
    }
    for precision in QUICK:
        copy = quick_copy(encoder, precision)
        ways[precision] = lambda copy=copy: copy.encode(test.texts)  # type: ignore[misc]
    seconds = dict.fromkeys(ways, float("inf"))
    for _ in range(ROUNDS):
        for way, encode in ways.items():
            seconds[way] = min(seconds[way], _timed(encode))
    return {
        "onednn_is_quicker": onednn_is_quicker(),
        "torch_ratio": round(seconds["by_torch"] / seconds["float32"], 2),
        "texts_per_second": {way: round(len(test.texts) / took) for way, took in seconds.items()},
        "ratio": {way: round(seconds["float32"] / seconds[way], 2) for way in QUICK},
    }


def _cost(name: str, precision: EncodingPrecision) -> dict[str, object]:
    """Compare accuracy, AUROC and embeddings of a set in float32 and by a quick copy."""
    train, test = _read(f"{name}/train_10.csv"), _read(f"{name}/test.csv")
    has_outside = (DATA / name / "oos_test.csv").is_file()
    outside = _read(f"{name}/oos_test.csv").texts if has_outside else ()
    encoder = load_encoder("bundled")
    embedded: list[FloatArray] = []
    found: list[dict[str, float]] = []
    for one in (encoder, quick_copy(encoder, precision)):
        embedded.append(one.encode(test.texts))
        names, scores = _scored(train, one.encode(train.texts), embedded[-1])
        found.append({"accuracy": _right(names, scores, test)})
        if outside:
            away = _scored(train, one.encode(train.texts), one.encode(outside))[1]
            found[-1]["auroc"] = round(auroc(scores.max(1), away.max(1)), 4)
    error = float(1 - (embedded[0] * embedded[1]).sum(1).min())
    figures = {"set": name, "precision": precision, "largest_cosine_error": round(error, 5)}
    return {**figures, "float32": found[0], precision: found[1]}


def _by_torch(encode: Callable[[], FloatArray]) -> FloatArray:
    """Encode as torch multiplies by itself."""
    own = LoadedLinear.forward
    LoadedLinear.forward = torch.nn.Linear.forward  # type: ignore[method-assign]
    try:
        return encode()
    finally:
        LoadedLinear.forward = own  # type: ignore[method-assign]


def _timed(encode: Callable[[], FloatArray]) -> float:
    began = time.perf_counter()
    encode()
    return time.perf_counter() - began


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
