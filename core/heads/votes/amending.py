"""Votes with a few exemplars added, removed or relabelled, in closed form.

Equal to fitting again at the same tau and ridge, prior included, at the cost of the changes alone.
With G = (K + ridge I)^-1 of the exemplars B of the basis, added exemplars C and removed ones D, the
weights solve

    [ K_BB + ridge I   E ] [ a_B ]   [ y_B ]        E = [K_BC, I_BD]
    [ E'               H ] [ z   ] = [ y_z ],       H = diag(K_CC + ridge I, 0),  y_z = (y_C, 0),

where z holds the weights of C and, for D, multipliers that keep their weights at zero. With P = G E
and S = H - E'P, z = S^-1 (y_z - E'G y_B) and a_B = G y_B - P z. Relabelling changes y_B alone. Each
changed exemplar needs one column of G, so each further one costs O(m^2).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from core.heads.votes.fit import VoteHead, root_of
from core.heads.votes.kernel import kernel
from core.heads.votes.root import inverse_columns
from core.types import FloatArray, Pause, ScoreArray, no_pause
from core.vectors import unit_rows


@dataclass(frozen=True, slots=True, eq=False)
class Basis:
    """Fitted votes, ready to be amended.

    Attributes:
        root: R with R'R = G, (m, m) float64.
        solved: G Y, (m, intents) float64.
        ones: G 1, (m,) float64.
    """

    head: VoteHead
    root: ScoreArray
    solved: ScoreArray
    ones: ScoreArray


@dataclass(frozen=True, slots=True, eq=False)
class Newcomer:
    """An exemplar that is added.

    Attributes:
        unit: Embedding of length one, (d,) float32.
        cross: Kernel with the exemplars of the basis, (m,).
        column: G cross, (m,).
    """

    unit: FloatArray
    cross: ScoreArray
    column: ScoreArray


@dataclass(frozen=True, slots=True, eq=False)
class BasisRow:
    """A removed or relabelled exemplar: its row in the basis, and that column of G, (m,)."""

    row: int
    column: ScoreArray


def basis_of(head: VoteHead, pause: Pause = no_pause) -> Basis:
    """Prepare votes for changes; O(m^3) if their root is not stored, else O(m^2 intents).

    Raises:
        ValueError: A subset carries the votes.
    """
    root = root_of(head, pause)
    both = inverse_columns(root, np.column_stack([head.targets, np.ones(len(root))]))
    return Basis(head, root, np.ascontiguousarray(both[:, :-1]), both[:, -1].copy())


def widen(basis: Basis, intents: Sequence[str]) -> Basis:
    """Give a basis columns for more intents, without any vote for them."""
    more: ScoreArray = np.zeros((len(basis.root), len(intents)))
    head = widen_head(basis.head, intents)
    return replace(basis, head=head, solved=np.hstack([basis.solved, more]))


def widen_head(head: VoteHead, intents: Sequence[str]) -> VoteHead:
    """Give votes columns for more intents, without any vote for them."""
    more: ScoreArray = np.zeros((len(head.targets), len(intents)))
    return replace(
        head,
        intents=(*head.intents, *intents),
        targets=np.hstack([head.targets, more]),
        weights=np.hstack([head.weights, more]),
        prior=np.concatenate([head.prior, np.zeros(len(intents))]),
    )


def newcomers(basis: Basis, embeddings: FloatArray) -> list[Newcomer]:
    """Solve for exemplars to be added, embedded (n, d) at any length."""
    unit = unit_rows(embeddings)
    cross = kernel(basis.head.exemplars, unit, basis.head.tau)
    columns = inverse_columns(basis.root, cross)
    return [Newcomer(unit[n], cross[:, n], columns[:, n]) for n in range(len(unit))]


def basis_rows(basis: Basis, rows: Sequence[int]) -> list[BasisRow]:
    """Solve for exemplars of the basis that are removed or relabelled."""
    chosen = np.zeros((len(basis.root), len(rows)))
    chosen[list(rows), range(len(rows))] = 1.0
    columns = inverse_columns(basis.root, chosen)
    return [BasisRow(row, columns[:, n]) for n, row in enumerate(rows)]


@dataclass(frozen=True, slots=True, eq=False)
class Amendment:
    """Added, removed and relabelled exemplars of a basis.

    Attributes:
        added: New exemplars, appended in this order.
        labels: Labels of the added exemplars, (added, intents).
        relabels: New labels of the relabelled exemplars, (relabelled, intents).
    """

    added: Sequence[Newcomer]
    labels: ScoreArray
    removed: Sequence[BasisRow]
    relabelled: Sequence[BasisRow]
    relabels: ScoreArray


def amend(basis: Basis, change: Amendment) -> VoteHead:
    """Return the votes after a change; O(m r (r + intents)) for r changed exemplars.

    Remaining rows keep their order; added ones follow.

    Raises:
        ValueError: No exemplar would be left.
    """
    head, gone = basis.head, [place.row for place in change.removed]
    kept = np.ones(len(basis.root), dtype=bool)
    kept[gone] = False
    targets = head.targets.copy()
    moved = [place.row for place in change.relabelled]
    targets[moved] = change.relabels
    all_targets = np.concatenate([targets[kept], change.labels])
    if not len(all_targets):
        message = "votes need at least one exemplar"
        raise ValueError(message)
    prior = all_targets.mean(0)
    solved = basis.solved - np.outer(basis.ones, prior)
    if moved:
        solved += _columns(change.relabelled) @ (change.relabels - head.targets[moved])
    weights, own, diagonal = _solve(basis, change, solved, prior)
    units = np.array([one.unit for one in change.added], dtype=np.float32)
    return VoteHead(
        head.intents,
        head.tau,
        head.ridge,
        np.concatenate([head.exemplars[kept], units.reshape(-1, head.exemplars.shape[1])]),
        all_targets,
        prior,
        np.concatenate([weights[kept], own]),
        diagonal=np.concatenate([diagonal[0][kept], diagonal[1]]),
    )


def _solve(
    basis: Basis, change: Amendment, solved: ScoreArray, prior: ScoreArray
) -> tuple[ScoreArray, ScoreArray, tuple[ScoreArray, ScoreArray]]:
    """Return weights of basis and added exemplars, and both diagonals of the inverse."""
    head, n_added, gone = basis.head, len(change.added), [p.row for p in change.removed]
    diagonal = head.diagonal
    if diagonal is None:  # `basis_of` has refused such votes
        message = "a subset carries these votes"
        raise ValueError(message)
    if not n_added and not gone:
        return solved, np.zeros((0, solved.shape[1])), (diagonal, np.zeros(0))
    lifted = _columns([*change.added, *change.removed])
    cross = np.array([one.cross for one in change.added]).reshape(n_added, len(basis.root))

    def met(right: ScoreArray) -> ScoreArray:
        return np.concatenate([cross @ right, right[gone]])

    schur = -met(lifted)
    if n_added:
        units = np.array([one.unit for one in change.added])
        schur[:n_added, :n_added] += kernel(units, units, head.tau)
        schur[range(n_added), range(n_added)] += head.ridge
    inner = np.linalg.inv((schur + schur.T) / 2.0)
    wanted = -met(solved)
    wanted[:n_added] += change.labels - prior
    extra = inner @ wanted
    around = diagonal + np.einsum("ij,ij->i", lifted @ inner, lifted)
    return (
        solved - lifted @ extra,
        extra[:n_added],
        (around, np.diagonal(inner)[:n_added].copy()),
    )


def _columns(changed: Sequence[Newcomer | BasisRow]) -> ScoreArray:
    return np.stack([one.column for one in changed], axis=1)
