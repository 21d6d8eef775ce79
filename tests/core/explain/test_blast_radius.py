"""The blast radius of a change equals answering every text by a head fitted again."""

import numpy as np
import pytest

from core.explain.blast_radius import (
    ExemplarChange,
    adding,
    blast_radius,
    merging,
    relabelling,
    removing,
    watch,
)
from core.explain.decisions import decided, leads
from core.explain.solved_votes import SolvedVotes
from core.heads.votes.fit import VoteHead
from tests.builders.toy_votes import again, labels_of, random_votes, rows_of


def refitted(votes: SolvedVotes, change: ExemplarChange) -> VoteHead:
    head = votes.head
    wide = max(change.wide, len(head.intents))

    def pad(labels: np.ndarray) -> np.ndarray:
        return np.pad(labels, [(0, 0), (0, wide - labels.shape[1])])

    targets = pad(head.targets)
    if change.relabelled:
        targets[list(change.relabelled)] = pad(change.relabels)
    kept = np.setdiff1d(np.arange(len(targets)), change.removed)
    rows = np.concatenate([head.exemplars[kept], change.added])
    return again(head, rows, np.concatenate([targets[kept], pad(change.labels)]))


def random_change(random: np.random.Generator, votes: SolvedVotes) -> ExemplarChange:
    n_exemplars, n_intents = votes.head.targets.shape
    order = random.permutation(n_exemplars)
    n_added, few = int(random.integers(1, 3)), order[: int(random.integers(1, 4))].tolist()
    kind = int(random.integers(0, 7))
    if kind == 0:
        wide = n_intents + int(random.integers(0, 2))
        return adding(rows_of(random, n_added), labels_of(random, n_added, wide))
    if kind == 1:
        return removing(votes, few)
    if kind == 2:
        return relabelling(votes, few, labels_of(random, len(few), n_intents))
    if kind == 3:
        return merging(votes, 0, 1)
    if kind == 4:
        split = np.tile(np.eye(n_intents + 1)[n_intents], (len(few), 1))
        return relabelling(votes, few, split)
    if kind == 5:
        return merging(votes, 1, n_intents)
    return ExemplarChange(
        rows_of(random, n_added),
        labels_of(random, n_added, n_intents),
        removed=tuple(order[:2].tolist()),
        relabelled=tuple(order[2:4].tolist()),
        relabels=labels_of(random, 2, n_intents),
    )


def test_changed_verdicts_are_those_of_votes_fitted_again() -> None:
    random = np.random.default_rng(0)
    n_changed = 0
    for _ in range(1_000):
        votes = random_votes(random, int(random.integers(6, 14)), 3)
        texts = rows_of(random, 20)
        change = random_change(random, votes)
        limit = None if random.random() < 0.5 else float(random.uniform(0.1, 0.6))
        found = blast_radius(votes, watch(votes, texts), change, limit)
        before = votes.head.scores(texts)
        after = refitted(votes, change).scores(texts)
        verdicts = decided(before, limit)
        for column, other in change.counts_as.items():
            verdicts[decided(before, limit) == column] = other
        np.testing.assert_array_equal(found.before, verdicts)
        np.testing.assert_array_equal(found.after, decided(after, limit))
        np.testing.assert_allclose(found.scores, after, atol=1e-4)
        exact = leads(after, found.after, limit)
        np.testing.assert_allclose(found.lead_after, exact, atol=1e-4)
        assert set(found.changed) == set(np.flatnonzero(verdicts != decided(after, limit)))
        n_changed += len(found.changed)
    assert n_changed > 1_000


def test_a_new_name_changes_no_answer() -> None:
    random = np.random.default_rng(1)
    votes = random_votes(random, 12, 3)
    watched = watch(votes, rows_of(random, 200))
    found = blast_radius(votes, watched, merging(votes, 1, 3), limit=0.2)
    assert len(found.changed) == 0
    assert 3 in found.after
    assert 1 not in found.after


def test_the_last_exemplars_cannot_all_go() -> None:
    random = np.random.default_rng(3)
    votes = random_votes(random, 5, 2)
    watched = watch(votes, rows_of(random, 3))
    with pytest.raises(ValueError, match="at least one"):
        blast_radius(votes, watched, removing(votes, range(len(votes.head.targets))))
