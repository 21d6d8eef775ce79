"""How often `check` is wrong: `python -m tests.benchmarks.checking.bench_check --train F --test F`.

One training with seed 0 is the champion; others with other seeds are retrains, which are no worse.
With `--share 0.95`, each learns from so many of the examples, drawn by its seed, as a recipe that
draws nothing needs it.
A retrain that `--against` calls worse beyond chance is a false alarm. A regression is planted by
turning right answers of a retrain wrong, at random, 3 of 100 of all test texts; the champion and it
are then compared on all texts, and on fewer drawn at random. One JSON object is printed.
"""

import argparse
import json
import random
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from app.terminal.versions import read_settings
from core.benchmarks.inputs import LabelledTexts
from core.encoders.base import Encoder
from core.encoders.loading import load_encoder
from core.formats.reading import read_rows
from core.formats.rows import ImportedRow
from core.metrics.paired import PairedAnswer, paired_report
from core.recipes.labels import AnyModelRecipe
from core.recipes.read import read_recipe
from core.training.events import drain
from core.training.from_labels.inputs import RunInputs
from core.training.from_labels.runs import run_recipe
from core.types import FloatArray

PLANTED = 0.03
FEWER = (1_000, 500, 300)


def main() -> None:
    """Train, plant and compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--train", type=Path, required=True)
    parser.add_argument("--test", type=Path, required=True)
    parser.add_argument("--recipe", default="convfit")
    parser.add_argument("--intents", type=int, default=20, help="the first so many of the file")
    parser.add_argument("--retrains", type=int, default=40)
    parser.add_argument("--share", type=float, default=1.0, help="of the examples to learn from")
    parser.add_argument("--set", action="append", default=[], dest="settings")
    given = parser.parse_args()
    train, test = (_read(path) for path in (given.train, given.test))
    chosen = sorted(set(train.intents))[: given.intents]
    train, test = _only(train, chosen), _only(test, chosen)
    settings = read_settings(given.settings)
    embed, answers, began = _Kept(load_encoder("bundled")), list[list[str]](), time.perf_counter()
    for seed in range(given.retrains + 1):
        recipe = read_recipe(given.recipe, {**settings, "seed": seed})
        some = _drawn(train, given.share, random.Random(seed))
        answers.append(_answers(embed, some, test, recipe))
        refused = answers[-1].count("")
        sys.stderr.write(f"{seed}: {time.perf_counter() - began:.0f} s, {refused} refused\n")
        if seed and seed % 5 == 0:
            sys.stderr.write(json.dumps(_measured(answers, test)) + "\n")
    sys.stdout.write(json.dumps(_measured(answers, test)) + "\n")


def _read(path: Path) -> LabelledTexts:
    rows = [row for row in read_rows(path) if isinstance(row, ImportedRow) and row.intents]
    return LabelledTexts(
        tuple(row.text for row in rows), tuple((row.intents or ("",))[0] for row in rows)
    )


def _only(texts: LabelledTexts, intents: list[str]) -> LabelledTexts:
    rows = zip(texts.texts, texts.intents, strict=True)
    pairs = [(text, name) for text, name in rows if name in intents]
    return LabelledTexts(tuple(text for text, _ in pairs), tuple(name for _, name in pairs))


def _drawn(texts: LabelledTexts, share: float, chance: random.Random) -> LabelledTexts:
    n = len(texts.texts)
    rows = sorted(chance.sample(range(n), round(share * n)))
    return LabelledTexts(
        tuple(texts.texts[row] for row in rows), tuple(texts.intents[row] for row in rows)
    )


@dataclass(frozen=True)
class _Kept:
    """Embeddings of texts by the base encoder, each computed once."""

    base: Encoder
    rows: dict[str, FloatArray] = field(default_factory=dict)

    def __call__(self, encoder: Encoder, texts: Sequence[str]) -> FloatArray:
        if encoder is not self.base:
            return encoder.encode(texts)
        new = [text for text in dict.fromkeys(texts) if text not in self.rows]
        self.rows.update(zip(new, encoder.encode(new), strict=True) if new else ())
        return np.stack([self.rows[text] for text in texts])


def _answers(
    embed: _Kept, train: LabelledTexts, test: LabelledTexts, recipe: AnyModelRecipe
) -> list[str]:
    """Return the answer to each test text; "" for one that is refused."""
    inputs = RunInputs(train.exemplars(), train.distinct_intents(), embed.base, embed)
    pipeline = drain(run_recipe(recipe, inputs), lambda _: None).pipeline
    rows = embed(pipeline.encoder, test.texts)
    said = [one.decision.intents for one in pipeline.predict(test.texts, rows)]
    return [names[0] if names else "" for names in said]


def _measured(answers: list[list[str]], test: LabelledTexts) -> dict[str, object]:
    champion, retrains, right = answers[0], answers[1:], list(test.intents)
    shares = [
        100 * float(np.mean([a == b for a, b in zip(o, right, strict=True)])) for o in answers
    ]
    chance, found = random.Random(0), dict[str, object]()
    for n in (len(right), *(n for n in FEWER if n < len(right))):
        alarms = hits = 0
        for retrain in retrains:
            rows = chance.sample(range(len(right)), n)
            alarms += _is_worse(champion, retrain, right, rows)
            hits += _is_worse(champion, _regressed(retrain, right, chance), right, rows)
        found[str(n)] = {"false_alarms": alarms, "found": hits}
    spread = float(np.std(shares[1:]))
    return {
        "retrains": len(retrains),
        "accuracy": {"champion": shares[0], "mean": float(np.mean(shares[1:])), "sd": spread},
        "by_test_texts": found,
    }


def _regressed(answers: list[str], right: list[str], chance: random.Random) -> list[str]:
    rows = [row for row, name in enumerate(right) if answers[row] == name]
    wrong = set(chance.sample(rows, round(PLANTED * len(right))))
    return ["wrong" if row in wrong else name for row, name in enumerate(answers)]


def _is_worse(before: list[str], after: list[str], right: list[str], rows: list[int]) -> bool:
    """Judge as a comparison of versions does, by core.metrics.paired."""
    pairs = [PairedAnswer("", (right[r],), (before[r],), (after[r],)) for r in rows]
    return paired_report(pairs).difference.high < 0


if __name__ == "__main__":
    main()
