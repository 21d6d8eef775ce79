"""Votes with their solved inverse, so that a what-if question needs no new fit.

Votes solved once (`Basis`) and changed since have no stored inverse. Write G = (K + ridge I)^-1 of
the basis. The inverse of the changed exemplars is G without the rows of removed exemplars, padded
for the added ones, plus V C V' with few columns. `SolvedVotes` stores these parts and multiplies by
their sum, so a question costs products with the root alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.heads.votes.amending import Amendment, Basis, BasisRow, Newcomer, amend
from core.heads.votes.fit import VoteHead
from core.heads.votes.kernel import kernel
from core.heads.votes.root import inverse_columns
from core.types import FloatArray, ScoreArray
from core.vectors import unit_rows


@dataclass(frozen=True, slots=True, eq=False)
class SolvedVotes:
    """Votes with their inverse G = (K + ridge I)^-1 as a product of parts.

    Attributes:
        root: R of the basis, (b, b) float64.
        kept: Rows of the basis that still vote; they are the first exemplars, (k,) int64.
        lift: V, (m, r) float64.
        core: C, symmetric, (r, r) float64.
        solved: G Y, (m, intents) float64.
        ones: G 1, (m,) float64.
    """

    head: VoteHead
    root: ScoreArray
    kept: NDArray[np.int64]
    lift: ScoreArray
    core: ScoreArray
    solved: ScoreArray
    ones: ScoreArray

    @property
    def diagonal(self) -> ScoreArray:
        """Diagonal of G, (m,)."""
        if self.head.diagonal is None:  # `basis_of` has refused such votes
            message = "a subset carries these votes"
            raise ValueError(message)
        return self.head.diagonal

    def times(self, right: ScoreArray) -> ScoreArray:
        """Return G B, (m, n), for B (m, n); one pass over the root serves all columns."""
        padded = np.zeros((len(self.root), right.shape[1]))
        padded[self.kept] = right[: len(self.kept)]
        found = np.zeros_like(right)
        found[: len(self.kept)] = inverse_columns(self.root, padded)[self.kept]
        found += self.lift @ (self.core @ (self.lift.T @ right))
        return found

    def corner(self, rows: NDArray[np.int64]) -> ScoreArray:
        """Return G[rows, rows] without computing its columns; O(m n^2) for n rows."""
        found = np.zeros((len(rows), len(rows)))
        based = rows < len(self.kept)
        columns = self.root[:, self.kept[rows[based]]]
        found[np.ix_(based, based)] = columns.T @ columns
        lift = self.lift[rows]
        corner: ScoreArray = found + lift @ self.core @ lift.T
        return corner

    def kernel(self, embeddings: FloatArray) -> ScoreArray:
        """Return the kernel of exemplars and texts (n, d) of any length; (m, n)."""
        if not len(embeddings):  # most changes add nothing; this skips widening all exemplars
            return np.zeros((len(self.head.exemplars), 0))
        return kernel(self.head.exemplars, unit_rows(embeddings), self.head.tau)


def solve_votes(basis: Basis, change: Amendment | None = None) -> SolvedVotes:
    """Prepare the votes of a basis, with a change applied if given, for what-if questions.

    Raises:
        ValueError: No exemplar would be left.
    """
    if change is None:
        nothing = np.zeros((len(basis.root), 0))
        rows = np.arange(len(basis.root))
        core = np.zeros((0, 0))
        return SolvedVotes(basis.head, basis.root, rows, nothing, core, basis.solved, basis.ones)
    head = amend(basis, change)
    gone = [place.row for place in change.removed]
    kept = np.setdiff1d(np.arange(len(basis.root)), gone)
    lift, core = _correction(basis, change, kept)
    ones = np.zeros(len(head.exemplars))
    ones[: len(kept)] = basis.ones[kept] - sum(
        (place.column[kept] for place in change.removed), np.zeros(len(kept))
    )
    ones += lift @ (core @ lift.sum(0))
    solved = head.weights + np.outer(ones, head.prior)
    return SolvedVotes(head, basis.root, kept, lift, core, solved, ones)


def _correction(
    basis: Basis, change: Amendment, kept: NDArray[np.int64]
) -> tuple[ScoreArray, ScoreArray]:
    """Return V and C for added and removed exemplars; relabelling does not change G."""
    n_added, gone = len(change.added), [place.row for place in change.removed]
    changed: list[Newcomer | BasisRow] = [*change.added, *change.removed]
    columns: Sequence[ScoreArray] = [one.column for one in changed]
    if not columns:
        return np.zeros((len(kept), 0)), np.zeros((0, 0))
    lifted = np.stack(columns, axis=1)
    cross = np.array([one.cross for one in change.added]).reshape(n_added, len(basis.root))
    schur = -np.concatenate([cross @ lifted, lifted[gone]])
    if n_added:
        units = np.array([one.unit for one in change.added])
        schur[:n_added, :n_added] += kernel(units, units, basis.head.tau)
        schur[range(n_added), range(n_added)] += basis.head.ridge
    came = -np.eye(n_added, len(columns))
    return np.concatenate([lifted[kept], came]), np.linalg.inv((schur + schur.T) / 2.0)
