"""`bench explain`: time of explanations, and their exactness against refitted votes."""

import time
from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np

from core.benchmarks.inputs import LabelledTexts, peak_mb
from core.encoders.base import Encoder
from core.explain.attribution import attribute
from core.explain.blast_radius import (
    ExemplarChange,
    adding,
    blast_radius,
    merging,
    relabelling,
    removing,
    watch,
)
from core.explain.decisions import decided
from core.explain.load_bearing import load_bearing
from core.explain.one_text import ask
from core.explain.solved_votes import SolvedVotes, solve_votes
from core.heads.votes.amending import basis_of
from core.heads.votes.fit import VoteHead, fit_votes, votes
from core.heads.votes.settings import best_settings
from core.splits import stratified_folds
from core.types import FloatArray, ScoreArray

_TEXTS = 20
_SMALL, _ASKED = 60, 200


def explain_figures(train: LabelledTexts, encoder: Encoder) -> dict[str, object]:
    """Explain every fifth text with votes of the others; compare a sample with refitted votes."""
    intents = sorted(set(train.intents))
    targets = np.eye(len(intents))[[intents.index(name) for name in train.intents]]
    embeddings = encoder.encode(train.texts)
    asked = np.sort(stratified_folds(list(train.intents), 5, seed=0)[0])
    known = np.setdiff1d(np.arange(len(targets)), asked)
    settings = best_settings(embeddings[known], targets[known], None, None)
    head = fit_votes(embeddings[known], targets[known], intents, *settings)
    votes = solve_votes(basis_of(head))
    few = np.random.default_rng(0).permutation(asked)[:_TEXTS]
    return {
        "exemplars": len(known),
        "pool": len(asked),
        "intents": len(intents),
        "vote_sum_error": _vote_sum_error(head, embeddings[asked]),
        "load_bearing": _load_bearing(votes, embeddings[few]),
        "blast_radius": _blast(votes, embeddings[asked]),
        "equal_to_brute_force": _equality(embeddings, targets, settings),
        "attribution": _attribution(encoder, head, [train.texts[row] for row in few]),
        "peak_mb": peak_mb(),
    }


def _vote_sum_error(head: VoteHead, embeddings: FloatArray) -> float:
    """Largest difference between a score and the sum of its prior and votes."""
    texts = embeddings[:100]
    sums = np.stack([votes(head, one).sum(0) + head.prior for one in texts])
    return float(np.abs(sums - head.scores(texts)).max())


def _load_bearing(votes: SolvedVotes, embeddings: FloatArray) -> dict[str, object]:
    found, seconds = [], list[float]()
    for one in embeddings:
        began = time.perf_counter()
        found.append(load_bearing(ask(votes, one)))
        seconds.append(time.perf_counter() - began)
    sizes = [len(one.rows) for one in found if one.rows]
    return {
        **_spread(seconds),
        "found": len(sizes),
        "proven_smallest": sum(one.smallest for one in found),
        "median_size": float(np.median(sizes)) if sizes else 0.0,
    }


def _blast(votes: SolvedVotes, embeddings: FloatArray) -> dict[str, object]:
    began = time.perf_counter()
    watched = watch(votes, embeddings)
    figures: dict[str, object] = {"watch_ms": _milliseconds(time.perf_counter() - began)}
    n_intents = len(votes.head.intents)
    label = np.eye(n_intents)[[0]]
    changes: dict[str, Callable[[], ExemplarChange]] = {
        "add": lambda: adding(embeddings[:1], label),
        "move": lambda: relabelling(votes, [len(votes.head.targets) - 1], label),
        "delete": lambda: removing(votes, [0]),
        "merge": lambda: merging(votes, 0, 1),
    }
    for name, change in changes.items():
        seconds, n_changed = list[float](), 0
        for _ in range(5):
            began = time.perf_counter()
            n_changed = len(blast_radius(votes, watched, change()).changed)
            seconds.append(time.perf_counter() - began)
        figures[name] = {**_spread(seconds), "changed": n_changed}
    return figures


def _equality(
    embeddings: FloatArray, targets: ScoreArray, settings: tuple[float, float]
) -> dict[str, object]:
    """Compare with refitted votes, on a few exemplars."""
    random = np.random.default_rng(1)
    order = random.permutation(len(targets))
    rows, texts = order[:_SMALL], embeddings[order[_SMALL : _SMALL + _ASKED]]
    head = _refitted(embeddings[rows], targets[rows], settings)
    votes = solve_votes(basis_of(head))
    watched = watch(votes, texts)
    wrong, n_changed = 0, 0
    for _ in range(20):
        gone = random.permutation(_SMALL)[:2].tolist()
        found = blast_radius(votes, watched, removing(votes, gone))
        kept = np.setdiff1d(np.arange(len(rows)), gone)
        again = _refitted(head.exemplars[kept], head.targets[kept], settings).scores(texts)
        wrong += int((decided(again) != found.after).sum())
        n_changed += len(found.changed)
    smallest = [_is_smallest(head, votes, text) for text in texts[:20]]
    return {
        "blast_cases": 20 * len(texts),
        "blast_changed": n_changed,
        "blast_wrong": wrong,
        "load_bearing_cases": len(smallest),
        "load_bearing_wrong": smallest.count(False),
    }


def _is_smallest(head: VoteHead, votes: SolvedVotes, text: FloatArray) -> bool:
    """Whether the found set changes the answer, and no smaller set of one or two exemplars does."""
    found = load_bearing(ask(votes, text))
    n_exemplars, settings = len(head.targets), (head.tau, head.ridge)

    def answer(gone: Sequence[int]) -> int:
        kept = np.setdiff1d(np.arange(n_exemplars), gone)
        again = _refitted(head.exemplars[kept], head.targets[kept], settings)
        return int(decided(again.scores(text[None, :]))[0])

    if found.rows and answer(found.rows) != found.after:
        return False
    for size in range(1, min(len(found.rows) or 3, 3)):
        for gone in combinations(range(n_exemplars), size):
            if answer(gone) != found.before:
                return False
    return True


def _refitted(rows: FloatArray, targets: ScoreArray, settings: tuple[float, float]) -> VoteHead:
    names = [str(column) for column in range(targets.shape[1])]
    return fit_votes(rows, targets, names, *settings)


def _attribution(encoder: Encoder, head: VoteHead, texts: Sequence[str]) -> dict[str, object]:
    order = np.argsort(-head.scores(encoder.encode(texts)), axis=1)
    seconds, errors = list[float](), list[float]()
    for text, (first, second) in zip(texts, order[:, :2].tolist(), strict=True):
        began = time.perf_counter()
        errors.append(attribute(encoder, head, text, first, second).error)
        seconds.append(time.perf_counter() - began)
    return {
        **_spread(seconds),
        "mean_error": round(float(np.mean(errors)), 5),
        "worst_error": round(max(errors), 5),
        "above_2_percent": sum(error > 0.02 for error in errors),
        "texts": len(texts),
    }


def _spread(seconds: Sequence[float]) -> dict[str, float]:
    return {
        "p50_ms": _milliseconds(float(np.median(seconds))),
        "worst_ms": _milliseconds(max(seconds)),
    }


def _milliseconds(seconds: float) -> float:
    return round(1000.0 * seconds, 1)
