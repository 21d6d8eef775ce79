"""What five intents without an example gain by their names, and what the others lose by them.

Ten draws of five intents; the other intents have ten examples each, the encoder is untuned.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from app.terminal.benchmarks import labelled_texts
from core.benchmarks.inputs import LabelledTexts
from core.encoders.base import Encoder
from core.encoders.loading import BUNDLED, load_encoder
from core.heads.votes.fit import leave_one_out
from core.heads.votes.settings import choose_votes
from core.intent_names import NameCache, answer_by_name
from core.recipes.heads import VotesConfig
from core.types import FloatArray, Intent

DATA = Path(__file__).parents[3] / "shared" / "data"
DRAWS, WITHOUT, REJECTION = 10, 5, 0.05


def judge(few: LabelledTexts, test: LabelledTexts, encoder: Encoder) -> dict[str, float]:
    """Return mean accuracies in percent: of others before and after, of the five, and in scope."""
    names = sorted(set(few.intents))
    seen, asked = encoder.encode(few.texts), encoder.encode(test.texts)
    rng, cache = np.random.default_rng(0), NameCache()
    drawn = [rng.choice(len(names), WITHOUT, replace=False) for _ in range(DRAWS)]
    labels = np.array([names.index(name) for name in few.intents])
    right = np.array([names.index(name) for name in test.intents])
    found = [_draw(one, (names, labels, right), (seen, asked), (encoder, cache)) for one in drawn]
    keys = ("others_before", "others_after", "five", "five_in_scope")
    return dict(zip(keys, np.round(100 * np.mean(found, axis=0), 2).tolist(), strict=True))


def _draw(
    five: np.ndarray,
    texts: tuple[Sequence[str], np.ndarray, np.ndarray],
    rows: tuple[FloatArray, FloatArray],
    reader: tuple[Encoder, NameCache],
) -> list[float]:
    names, labels, right = texts
    kept = ~np.isin(labels, five)
    votes = choose_votes(rows[0][kept], np.eye(len(names))[labels[kept]], names, VotesConfig())
    limit = np.quantile(leave_one_out(votes).max(1), REJECTION)
    head = answer_by_name(votes, reader[0], [Intent(name) for name in names], reader[1])
    before, scores = votes.scores(rows[1]), head.scores(rows[1])
    without = np.isin(right, five)
    hit, kept_in = scores.argmax(1) == right, scores.max(1) >= limit
    return [
        float((before.argmax(1) == right)[~without].mean()),
        float(hit[~without].mean()),
        float(hit[without].mean()),
        float((hit & kept_in)[without].mean()),
    ]


def run(sets: Sequence[str]) -> int:
    """Measure sets of the public data; return 0."""
    if not DATA.is_dir():
        sys.stderr.write(f"skipped: {DATA} is absent\n")
        return 0
    encoder = load_encoder(BUNDLED)
    for name in sets:
        files = [labelled_texts(DATA / name / f"{part}.csv") for part in ("train_10", "test")]
        sys.stdout.write(f"{name} {judge(*files, encoder)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:] or ("banking77", "clinc150")))
