"""What nobody said is not judged, and is not there where its source is; who is held out."""

import numpy as np
import pytest

from core.explain.solved_votes import solve_votes
from core.heads.folds import (
    is_said,
    judged_folds,
    judged_part,
    left_with_source,
    said_rows,
    settled_on_said,
    sources_of,
    with_made,
)
from core.heads.votes import fit
from core.heads.votes.amending import Amendment, basis_of, basis_rows, newcomers
from core.heads.votes.fit import fit_votes, leave_one_out
from core.heads.votes.kernel import kernel
from core.recipes.heads import VotesConfig
from core.types import Exemplar

ROWS = (
    Exemplar("a1", "one", ("a",)),
    Exemplar("s1", "one too", ("a",), "a1"),
    Exemplar("b1", "two", ("b",)),
    Exemplar("a2", "three", ("a",)),
    Exemplar("s2", "one again", ("a",), "a1"),
    Exemplar("b2", "four", ("b",)),
    Exemplar("s3", "lost", ("b",), "gone"),
)
POINTS = np.random.default_rng(0).normal(size=(7, 5)).astype(np.float32)
TARGETS = np.array([["a" in e.intents, "b" in e.intents] for e in ROWS], dtype=np.float64)


def test_folds_deal_what_was_said_and_what_was_made_of_it_goes_along() -> None:
    sources = sources_of(ROWS)
    assert sources.tolist() == [0, 0, 2, 3, 0, 5, -1]
    assert said_rows(sources).tolist() == [0, 2, 3, 5]
    assert is_said(ROWS).tolist() == [True, False, True, True, False, True, False]
    folds = judged_folds(ROWS, 2, seed=0)
    assert sorted(np.concatenate(folds).tolist()) == [0, 2, 3, 5]
    assert with_made(np.array([0, 5]), sources).tolist() == [0, 1, 4, 5]


def _many(n: int) -> tuple[Exemplar, ...]:
    return tuple(Exemplar(f"e{at}", f"text {at}", ("abc"[at % 3],)) for at in range(n))


@pytest.mark.parametrize("n", [7, 30, 31, 200])
def test_a_part_is_as_large_and_as_even_as_a_fold(n: int) -> None:
    rows, part = _many(n), judged_part(_many(n), 5)
    [fold, *_] = judged_folds(rows, 5, seed=0)
    for name in "abc":
        counts = [sum(rows[row].intents == (name,) for row in some) for some in (part, fold)]
        assert counts[0] == counts[1]


def test_the_same_texts_are_held_out_in_whatever_order_and_nearly_the_same_of_more() -> None:
    """Each seed held out others: one version refused 2 of 800 texts in scope, and another 82."""
    rows = _many(120)
    texts = {rows[row].text for row in judged_part(rows, 5)}
    turned = rows[::-1]
    assert {turned[row].text for row in judged_part(turned, 5)} == texts
    more = (*rows, Exemplar("new", "one more text", ("b",)))
    assert len(texts ^ {more[row].text for row in judged_part(more, 5)}) <= 2


def test_synthetic_exemplars_are_in_no_part() -> None:
    assert {ROWS[row].id for row in judged_part(ROWS, 1)} == {"a1", "b1", "a2", "b2"}


def test_without_synthetic_ones_nothing_is_otherwise() -> None:
    plain = tuple(Exemplar(e.id, e.text, e.intents) for e in ROWS)
    assert sources_of(plain).tolist() == list(range(7))
    config, scores = VotesConfig(), np.zeros((7, 2))
    assert settled_on_said(config, POINTS, TARGETS, sources_of(plain)) is config
    assert left_with_source(None, scores, sources_of(plain)) is scores


def test_an_exemplar_is_scored_without_what_was_made_of_it() -> None:
    head = fit_votes(POINTS, TARGETS, ["a", "b"], 0.4, 0.1)
    before = np.full((7, 2), 9.0)
    found = left_with_source(head, before, sources_of(ROWS))
    kept = [2, 3, 5, 6]
    residual = TARGETS[kept] - head.prior  # the prior is held fixed
    unit = POINTS / np.linalg.norm(POINTS, axis=1, keepdims=True)
    votes = np.exp((unit @ unit.T - 1) / 0.4)
    weights = np.linalg.solve(votes[np.ix_(kept, kept)] + 0.1 * np.eye(4), residual)
    expected = head.prior + votes[0, kept] @ weights
    np.testing.assert_allclose(found[0], expected, atol=1e-5)
    assert (found[kept] == 9.0).all()


def test_amended_votes_leave_out_what_was_made_without_being_solved_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Above 1,500 examples that would have taken too long, so that copies voted on their source."""
    basis = basis_of(fit_votes(POINTS[:5], TARGETS[:5], ["a", "b"], 0.4, 0.1))
    change = Amendment(
        added=newcomers(basis, POINTS[5:]),
        labels=TARGETS[5:],
        removed=basis_rows(basis, [2]),
        relabelled=basis_rows(basis, [3]),
        relabels=TARGETS[[2]],
    )
    solved = solve_votes(basis, change)
    head, sources = solved.head, sources_of([ROWS[at] for at in (0, 1, 3, 4, 5, 6)])
    assert sources.tolist() == [0, 0, 2, 0, 4, -1]
    monkeypatch.setattr(fit, "root_of", None)
    found = left_with_source(head, leave_one_out(head), sources, solved.corner)
    group, others = [0, 1, 3], [2, 4, 5]
    unit = head.exemplars[others]
    matrix = kernel(unit, unit, 0.4) + 0.1 * np.eye(3)
    weights = np.linalg.solve(matrix, head.targets[others] - head.prior)
    expected = head.prior + kernel(head.exemplars[group], unit, 0.4) @ weights
    np.testing.assert_allclose(found[group], expected, atol=1e-5)
    np.testing.assert_array_equal(found[others], leave_one_out(head)[others])
    assert np.abs(found[group] - leave_one_out(head)[group]).max() > 1e-3


def test_copies_do_not_choose_the_settings() -> None:
    config = settled_on_said(VotesConfig(), POINTS, TARGETS, sources_of(ROWS))
    made = [1, 4, 6]
    other = TARGETS.copy()
    other[made] = 1 - other[made]
    same = settled_on_said(VotesConfig(), POINTS, other, sources_of(ROWS))
    assert (config.tau, config.ridge) == (same.tau, same.ridge)
    assert config.tau is not None


def test_where_nobody_said_anything_all_are_judged() -> None:
    made = tuple(Exemplar(e.id, e.text, e.intents, "x") for e in ROWS)
    assert is_said(made).all()
