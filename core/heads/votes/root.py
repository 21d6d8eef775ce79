"""The inverse root of the votes' matrix: lower R with R'R = (K + ridge I)^-1.

With R, weights are the product R'(R Y), the diagonal of the inverse is the squared length of R's
columns, and a change of few exemplars needs few columns of R'R. R is built by rows of blocks from
the embeddings, so no second array of its size is needed. NumPy computes the products because it
lets other threads run: LAPACK through SciPy holds the interpreter's lock, and with 10,000 exemplars
a server answered no request for 20 s.
"""

import numpy as np
from scipy.linalg.lapack import dpotrf, dtrtri

from core.heads.votes.kernel import kernel
from core.types import FloatArray, Pause, ScoreArray, no_pause

_BLOCK = 512
_FEW = 320
"""Up to this many columns of R are gathered; for more, a pass over all of R is faster."""


def inverse_root(unit: FloatArray, tau: float, ridge: float, pause: Pause = no_pause) -> ScoreArray:
    """Return lower triangular R with R'R = (K + ridge I)^-1; (m, m) float64, 2/3 m^3 products.

    For the Cholesky factor L of K + ridge I, R is L^-1. A row of blocks follows from those above:
    with W = K_i R' the factor's row, R_ii = (K_ii + ridge I - W W')^(-1/2) and R_i = -R_ii W R.
    `unit` holds unit rows, (m, d) float32; `pause` is called between products of at most 512 x 512
    x m.

    Raises:
        numpy.linalg.LinAlgError: The matrix is not positive definite.
    """
    root = np.zeros((len(unit), len(unit)))
    for start in range(0, len(unit), _BLOCK):
        rows = slice(start, start + _BLOCK)
        corner = kernel(unit[rows], unit[rows], tau)
        corner[np.diag_indices_from(corner)] += ridge
        if start:
            above = root[:start, :start]
            row = _times_transposed(kernel(unit[rows], unit[:start], tau), above, pause)
            corner -= row @ row.T
            root[rows, rows] = _corner(corner)
            root[rows, :start] = -root[rows, rows] @ _times(row, above, pause)
        else:
            root[rows, rows] = _corner(corner)
    return root


def _corner(block: ScoreArray) -> ScoreArray:
    """Return `inverse_factor` of one block, by NumPy, which lets other threads run."""
    inverse: ScoreArray = np.tril(np.linalg.inv(np.linalg.cholesky(block)))
    return inverse


def inverse_columns(root: ScoreArray, right: ScoreArray) -> ScoreArray:
    """Return (K + ridge I)^-1 B = R'(R B); (m, n) float64 for B (m, n).

    This reads R once if few rows of B are nonzero, else twice.
    """
    inner = _lifted(root, right)
    solved = np.empty_like(right)
    for columns in _blocks(len(root)):
        solved[columns] = root[columns.start :, columns].T @ inner[columns.start :]
    return solved


def _lifted(root: ScoreArray, right: ScoreArray) -> ScoreArray:
    """Return R B; if B has few nonzero rows, from those columns of R only."""
    met = np.flatnonzero(right.any(1))
    if len(met) <= _FEW:
        lifted = np.zeros_like(right)
        first = int(met[0]) if len(met) else len(root)  # above it these columns are zero
        lifted[first:] = root[first:, met] @ right[met]
        return lifted
    inner = np.empty_like(right)
    for rows in _blocks(len(root)):
        inner[rows] = root[rows, : rows.stop] @ right[: rows.stop]
    return inner


def inverse_diagonal(root: ScoreArray) -> ScoreArray:
    """Return the diagonal of (K + ridge I)^-1, (m,)."""
    found: ScoreArray = np.einsum("ij,ij->j", root, root)
    return found


def _times(row: ScoreArray, root: ScoreArray, pause: Pause) -> ScoreArray:
    """Return row @ root, skipping the blocks of `root` that are zero."""
    found = np.empty_like(row)
    for columns in _blocks(len(root)):
        pause()
        found[:, columns] = row[:, columns.start :] @ root[columns.start :, columns]
    return found


def _times_transposed(row: ScoreArray, root: ScoreArray, pause: Pause) -> ScoreArray:
    """Return row @ root', skipping the blocks of `root` that are zero."""
    found = np.empty_like(row)
    for columns in _blocks(len(root)):
        pause()
        found[:, columns] = row[:, : columns.stop] @ root[columns, : columns.stop].T
    return found


def _blocks(n: int) -> list[slice]:
    return [slice(start, min(start + _BLOCK, n)) for start in range(0, n, _BLOCK)]


def inverse_factor(matrix: ScoreArray) -> ScoreArray:
    """Return L^-1 of a symmetric positive definite L L', in that matrix's memory; (m, m).

    Raises:
        numpy.linalg.LinAlgError: The matrix is not positive definite.
    """
    inverse: ScoreArray = dtrtri(cholesky(matrix), lower=1, overwrite_c=1)[0]
    return inverse


def cholesky(matrix: ScoreArray) -> ScoreArray:
    """Factor a symmetric positive definite matrix in its own memory; lower, Fortran order.

    Raises:
        numpy.linalg.LinAlgError: The matrix is not positive definite.
    """
    # The transpose of a C-ordered symmetric matrix is itself in Fortran order: no copy is made.
    factor, failed = dpotrf(matrix.T, lower=1, clean=1, overwrite_a=1)
    if failed:
        message = f"the matrix is not positive definite (row {failed})"
        raise np.linalg.LinAlgError(message)
    result: ScoreArray = factor
    return result
