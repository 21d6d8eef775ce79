"""Hide a file's labels, let a simulated designer take groups, and count decisions and errors.

Or group very many texts, and measure the time, the memory, and what moves when more are added.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.benchmarks.inputs import LabelledTexts, peak_mb
from core.discover.grouping import group_texts, size_of, usual_groups
from core.discover.joining import join
from core.discover.order import groups_in_order, size_for
from core.discover.showing import SHOWN, ShownGroup
from core.discover.spreading import Spread, spread
from core.discover.taking import Taken, nothing_taken, take
from core.encoders.base import Encoder
from core.errors import InvalidInput
from core.types import FloatArray
from core.vectors import unit_rows

_PURE = 0.8
"""Share of the shown texts of one intent from which the designer takes a group."""

_MOST_FOR_A_GROUP = 1 + int((1 - _PURE) * SHOWN + 1e-9)
"""Decisions: one to look, one for each shown text that is of another intent."""

_NOISE = 0.02
"""Standard deviation of what is added to each number of a repeated embedding."""

_ADDED = 0.05
"""Texts that come later, as a share of those that were grouped."""

LABELLED = 0.8
"""Share of the texts whose labels are judged: the surest."""


@dataclass(frozen=True, slots=True, eq=False)
class Worked:
    """What a designer did: labels, decisions, groups looked at and groups taken."""

    taken: Taken
    decisions: int
    looked: int
    groups: int


class Designer:
    """Knows the right intents, but reads only the texts that are shown, and counts each decision.

    Attributes:
        done: What has been labelled, and by how many decisions.
    """

    def __init__(self, hidden: NDArray[np.int64], known: NDArray[np.bool_]) -> None:
        """Begin with the labels of the known rows; the others are read only when shown."""
        self._hidden = hidden
        columns = np.where(known, hidden, nothing_taken(len(hidden)).columns)
        self.done = Worked(Taken(columns, known.copy()), 0, 0, 0)

    def look_at(self, group: ShownGroup) -> None:
        """Take a group of which enough shown texts are of one intent; leave another."""
        read = self._hidden[group.typical]
        intents, counts = np.unique(read, return_counts=True)
        best = int(intents[counts.argmax()])
        taken, decisions = self.done.taken, self.done.decisions + 1
        pure = counts.max() >= _PURE * len(read)
        if pure:
            others = group.typical[read != best]
            taken, decisions = take(taken, group, best, others), decisions + len(others)
        self.done = Worked(taken, decisions, self.done.looked + 1, self.done.groups + int(pure))


def work(
    embeddings: FloatArray,
    hidden: NDArray[np.int64],
    known: NDArray[np.bool_],
    budget: int,
    size: float | None = None,
) -> Worked:
    """Let a designer take groups of embeddings (n, d) in at most `budget` decisions.

    `hidden` has the right intents' columns, (n,), and `known` the rows labelled at the start.
    Groups have about `size` texts; by default so many that the decisions reach all texts.
    """
    designer = Designer(hidden, known)
    size = size or size_for(int((~known).sum()), budget)
    for group in groups_in_order(embeddings, designer.done.taken, size):
        if designer.done.decisions + _MOST_FOR_A_GROUP > budget:
            break
        designer.look_at(group)
    return designer.done


def discover_figures(
    train: LabelledTexts, encoder: Encoder, known: float, budget: int, seed: int
) -> dict[str, object]:
    """Measure the labels that a designer gives by groups, in at most `budget` decisions.

    `known` is the share of the texts that are labelled at the start, in [0, 1). The other texts
    alone are judged. `ari` and `nmi`, in percent, compare the intents of all of them, as the votes
    tell them after the work, with the right ones; `groups_ari` and `groups_nmi` compare the groups
    of Discover, and `kmeans_ari` and `kmeans_nmi` those of k-means, both without a designer and as
    many as there are intents. Figures whose names begin with `page_` are those of a designer who
    works with as many groups as the page Discover makes.
    """
    began = time.perf_counter()
    names, hidden = np.unique(np.array(train.intents), return_inverse=True)
    is_known = _some(len(hidden), known, seed)
    embeddings = unit_rows(encoder.encode(train.texts))
    encoded = time.perf_counter()
    done = work(embeddings, hidden, is_known, budget)
    if not done.taken.labelled.any():
        raise InvalidInput(
            "No group of these texts is of one intent.", "Name a file with more texts per intent."
        )
    result = spread(embeddings, done.taken)
    ended = time.perf_counter()
    rows = np.flatnonzero(~is_known)
    surest = _surest(result, is_known)
    return {
        "texts": len(hidden),
        "intents": len(names),
        "known": int(is_known.sum()),
        "decisions": done.decisions,
        "looked_at": done.looked,
        "taken": done.groups,
        "labelled_share": round(len(surest) / len(rows), 4),
        "right_share": _share(result.columns[surest] == hidden[surest]),
        "right_share_of_all": _share(result.columns[rows] == hidden[rows]),
        "seen_share": _share(done.taken.seen[rows]),
        "core_right_share": _share(_cores_right(done.taken, hidden, is_known)),
        "intents_found": _n_used(done.taken),
        **_page_figures(embeddings, hidden, is_known, budget),
        **agreement(embeddings[rows], hidden[rows], result.columns[rows], seed),
        "encoding_seconds": round(encoded - began, 2),
        "seconds": round(ended - encoded, 2),
        "peak_mb": peak_mb(),
    }


def _page_figures(
    embeddings: FloatArray, hidden: NDArray[np.int64], known: NDArray[np.bool_], budget: int
) -> dict[str, object]:
    """Measure the same designer with the page's number of groups; it may be too few to take any."""
    n_texts = int((~known).sum())
    n_groups = usual_groups(n_texts, has_labels=bool(known.any()))
    done = work(embeddings, hidden, known, budget, size_of(n_texts, n_groups))
    surest = np.zeros(0, dtype=np.int64)
    right_share: float | None = None
    if done.taken.labelled.any():
        result = spread(embeddings, done.taken)
        surest = _surest(result, known)
        right_share = _share(result.columns[surest] == hidden[surest])
    return {
        "page_groups": n_groups,
        "page_decisions": done.decisions,
        "page_labelled_share": round(len(surest) / n_texts, 4),
        "page_right_share": right_share,
        "page_intents_found": _n_used(done.taken),
    }


def _surest(result: Spread, known: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the rows whose labels are judged: of those that were hidden the surest."""
    rows = result.surest(len(known))
    return rows[~known[rows]][: int(np.ceil(LABELLED * (~known).sum()))]


def _n_used(taken: Taken) -> int:
    """Count the intents that have a label."""
    return len(np.unique(taken.columns[taken.labelled]))


def crowd_figures(
    texts: Sequence[str], encoder: Encoder, count: int, seed: int
) -> dict[str, object]:
    """Measure how long `count` texts take to group, and what 5 % more of them move.

    Embeddings are repeated with noise. `seconds` and `join_seconds` begin when all are there.
    `moved_share` is the share of the texts that were there before and have another group now.

    Raises:
        InvalidInput: No text would be grouped.
    """
    if count < 1:
        raise InvalidInput(f"{count} texts form no group.", "Group 100,000, say.")
    added = max(1, round(_ADDED * count))
    rows = repeated(encoder.encode(texts), count + added, seed)
    old, new = rows[:count], rows[count:]
    size = size_of(count, usual_groups(count, has_labels=False))
    began = time.perf_counter()
    grouping = group_texts(old, size, seed)
    grouped = time.perf_counter()
    joined = join(grouping, old, new, size, seed)
    ended = time.perf_counter()
    return {
        "texts": count,
        "added": added,
        "groups": len(grouping.centres),
        "seconds": round(grouped - began, 2),
        "join_seconds": round(ended - grouped, 2),
        "moved_share": round(float((joined.of[:count] != grouping.of).mean()), 4),
        "peak_mb": peak_mb(),
    }


def repeated(embeddings: FloatArray, count: int, seed: int) -> FloatArray:
    """Draw `count` rows of embeddings (n, d), each in turn in a random order, with noise.

    Returns rows of length 1, (count, d).
    """
    rng = np.random.default_rng(seed)
    turns = -(-count // len(embeddings))
    drawn = np.concatenate([rng.permutation(len(embeddings)) for _ in range(turns)])[:count]
    rows = unit_rows(embeddings)[drawn]
    rows += np.float32(_NOISE) * rng.standard_normal(rows.shape, dtype=np.float32)
    return unit_rows(rows)


def agreement(
    unit: FloatArray, right: NDArray[np.int64], found: NDArray[np.int64], seed: int
) -> dict[str, float]:
    """Compare found intents, and groups of the intents' true number, with the right intents."""
    from sklearn.cluster import KMeans
    from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

    k = len(np.unique(right))
    means = KMeans(k, n_init=1, random_state=seed).fit_predict(unit)
    groups = group_texts(unit, size_of(len(unit), k), seed).of
    scores = {"ari": adjusted_rand_score, "nmi": normalized_mutual_info_score}
    return {
        f"{prefix}{name}": round(100 * float(score(right, labels)), 2)
        for prefix, labels in (("", found), ("groups_", groups), ("kmeans_", means))
        for name, score in scores.items()
    }


def _cores_right(
    taken: Taken, hidden: NDArray[np.int64], known: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Whether the label of each core's text, seen or not, is right."""
    rows = np.flatnonzero(taken.labelled & ~known)
    right: NDArray[np.bool_] = taken.columns[rows] == hidden[rows]
    return right


def _some(count: int, share: float, seed: int) -> NDArray[np.bool_]:
    chosen = np.zeros(count, dtype=np.bool_)
    chosen[np.random.default_rng(seed).choice(count, round(share * count), replace=False)] = True
    return chosen


def _share(flags: NDArray[np.bool_]) -> float:
    return round(float(flags.mean()), 4) if len(flags) else 1.0
