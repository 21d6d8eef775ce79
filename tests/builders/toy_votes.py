"""Votes of a few random exemplars, and the same fitted again in every way that a test asks for."""

from collections.abc import Sequence

import numpy as np

from core.explain.solved_votes import SolvedVotes, solve_votes
from core.heads.votes.amending import Amendment, basis_of, basis_rows, newcomers
from core.heads.votes.fit import VoteHead, fit_votes

DIM = 5


def rows_of(random: np.random.Generator, n_rows: int) -> np.ndarray:
    return random.normal(size=(n_rows, DIM)).astype(np.float32)


def labels_of(random: np.random.Generator, n_rows: int, n_intents: int) -> np.ndarray:
    return np.eye(n_intents)[random.integers(0, n_intents, n_rows)]


def again(head: VoteHead, rows: np.ndarray, targets: np.ndarray) -> VoteHead:
    """Fit votes anew with the settings of others."""
    names = [f"intent-{column}" for column in range(targets.shape[1])]
    return fit_votes(rows, targets, names, head.tau, head.ridge)


def refitted_without(head: VoteHead, gone: Sequence[int]) -> VoteHead:
    kept = np.setdiff1d(np.arange(len(head.exemplars)), list(gone))
    return again(head, head.exemplars[kept], head.targets[kept])


def random_votes(
    random: np.random.Generator, n_exemplars: int, n_intents: int, smoothest: float = 0.3
) -> SolvedVotes:
    """Votes of random texts: as they were fitted, or with some that have come and gone since."""
    settings = float(random.uniform(0.2, 0.6)), float(random.uniform(0.1 * smoothest, smoothest))
    names = [f"intent-{column}" for column in range(n_intents)]
    rows, labels = rows_of(random, n_exemplars), labels_of(random, n_exemplars, n_intents)
    basis = basis_of(fit_votes(rows, labels, names, *settings))
    if random.random() < 0.5:
        return solve_votes(basis)
    n_added = int(random.integers(0, 3))
    picked = random.permutation(n_exemplars)[: int(random.integers(1, 4))].tolist()
    change = Amendment(
        newcomers(basis, rows_of(random, n_added)),
        labels_of(random, n_added, n_intents),
        basis_rows(basis, picked[1:]),
        basis_rows(basis, picked[:1]),
        labels_of(random, 1, n_intents),
    )
    return solve_votes(basis, change)
