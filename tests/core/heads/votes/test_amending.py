"""Changed votes equal those fitted again, whatever was added, removed and relabelled together."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.heads.votes.amending import (
    Amendment,
    Basis,
    amend,
    basis_of,
    basis_rows,
    newcomers,
    widen,
    widen_head,
)
from core.heads.votes.fit import VoteHead, fit_votes, leave_one_out
from tests.builders.toy_embeddings import clusters

TAU, RIDGE = 0.3, 0.1
SOFT = np.array([0.0, 0.5, 0.5])
NOBODY = np.zeros((0, 12), np.float32)


def fitted(seed: int = 0, n_intents: int = 3, per_intent: int = 5) -> VoteHead:
    toy = clusters(n_intents, per_intent, spread=0.8, seed=seed)
    return fit_votes(toy.rows, toy.targets, toy.intents, TAU, RIDGE)


def changed(
    basis: Basis,
    added: np.ndarray = NOBODY,
    labels: np.ndarray | None = None,
    removed: Sequence[int] = (),
    relabelled: dict[int, np.ndarray] | None = None,
) -> VoteHead:
    n_intents, moved = len(basis.head.intents), relabelled or {}
    return amend(
        basis,
        Amendment(
            newcomers(basis, added),
            np.zeros((0, n_intents)) if labels is None else np.asarray(labels, np.float64),
            basis_rows(basis, removed),
            basis_rows(basis, list(moved)),
            np.array(list(moved.values())).reshape(-1, n_intents),
        ),
    )


def assert_same(one: VoteHead, other: VoteHead) -> None:
    queries = np.random.default_rng(5).normal(size=(20, one.exemplars.shape[1])).astype(np.float32)
    np.testing.assert_array_equal(one.exemplars, other.exemplars)
    np.testing.assert_array_equal(one.targets, other.targets)
    np.testing.assert_allclose(one.prior, other.prior, atol=1e-12)
    np.testing.assert_allclose(one.weights, other.weights, atol=1e-8)
    np.testing.assert_allclose(one.diagonal, other.diagonal, atol=1e-8)
    np.testing.assert_allclose(one.scores(queries), other.scores(queries), atol=1e-8)
    np.testing.assert_allclose(leave_one_out(one), leave_one_out(other), atol=1e-8)


@settings(deadline=None, max_examples=150)
@given(data=st.data(), seed=st.integers(0, 10_000), n_added=st.integers(0, 6), multi=st.booleans())
def test_any_change_equals_fitting_again_prior_included(
    data: st.DataObject, seed: int, n_added: int, *, multi: bool
) -> None:
    head, random = fitted(seed), np.random.default_rng(seed)
    removed = data.draw(st.lists(st.integers(0, 14), max_size=14, unique=True))
    kept = np.setdiff1d(np.arange(15), removed)
    moved = data.draw(st.lists(st.sampled_from(kept.tolist()), max_size=6, unique=True))
    new = random.normal(size=(n_added, 12)).astype(np.float32)
    if n_added > 1:
        new[0] = head.exemplars[data.draw(st.integers(0, 14))]  # says what another says already
    labels = random.integers(0, 2, (n_added, 3)) if multi else np.eye(3)[[1] * n_added]
    relabels = {row: SOFT if multi else np.eye(3)[row % 3] for row in moved}
    found = changed(basis_of(head), new, labels, removed, relabels)
    targets = head.targets.copy()
    for row, target in relabels.items():
        targets[row] = target
    rows = np.concatenate([head.exemplars[kept], new])
    all_targets = np.concatenate([targets[kept], labels])
    assert_same(found, fit_votes(rows, all_targets, head.intents, TAU, RIDGE))


def test_nothing_changed_is_the_head_itself() -> None:
    head = fitted()
    assert_same(changed(basis_of(head)), head)


def test_a_head_without_its_root_is_amended_as_one_with_it() -> None:
    head = fitted()
    bare = replace(head, root=None)
    assert_same(changed(basis_of(bare), removed=[3]), changed(basis_of(head), removed=[3]))


def test_duplicated_exemplars_can_be_fitted_and_removed() -> None:
    rows = np.repeat(np.eye(3, dtype=np.float32), 4, axis=0)
    targets = np.repeat(np.eye(3), 4, axis=0)
    head = fit_votes(rows, targets, ("a", "b", "c"), TAU, RIDGE)
    basis, kept = basis_of(head), [0, 4, 8]
    gone = [row for row in range(12) if row not in kept]
    found = amend(
        basis, Amendment([], np.zeros((0, 3)), basis_rows(basis, gone), [], np.zeros((0, 3)))
    )
    assert_same(found, fit_votes(rows[kept], targets[kept], head.intents, TAU, RIDGE))


def test_removing_every_exemplar_is_refused() -> None:
    basis = basis_of(fitted())
    with pytest.raises(ValueError, match="at least one"):
        changed(basis, removed=range(15))


def test_a_basis_that_learns_of_an_intent_is_that_of_the_widened_head() -> None:
    head = fitted()
    wide = widen(basis_of(head), ["new"])
    assert wide.head.intents == (*head.intents, "new")
    np.testing.assert_array_equal(wide.head.scores(head.exemplars)[:, 3], np.zeros(15))
    text = np.random.default_rng(1).normal(size=(1, 12)).astype(np.float32)
    found = changed(wide, text, [[0.0, 0, 0, 1]])
    whole = np.vstack([np.hstack([head.targets, np.zeros((15, 1))]), [[0.0, 0, 0, 1]]])
    again = fit_votes(np.concatenate([head.exemplars, text]), whole, wide.head.intents, TAU, RIDGE)
    assert_same(found, again)
    assert_same(changed(basis_of(widen_head(head, ["new"])), text, [[0.0, 0, 0, 1]]), again)


def test_a_change_leaves_the_head_it_started_from_as_it_was() -> None:
    head = fitted()
    before = head.targets.copy(), head.weights.copy(), head.root.copy()
    changed(basis_of(head), head.exemplars[:2], head.targets[:2], [0, 1], {4: SOFT})
    for now, then in zip((head.targets, head.weights, head.root), before, strict=True):
        np.testing.assert_array_equal(now, then)
