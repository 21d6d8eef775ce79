"""A fence lets in what is familiar, by signals that equal what they are named after."""

import numpy as np

from core.heads.fence import (
    Fence,
    crossing,
    fit_fence,
    landscape,
    signals,
    signals_left_out,
    with_intent_limits,
    with_limit,
)
from core.heads.votes import fit_votes, leave_one_out
from core.metrics.out_of_scope import auroc
from tests.core.heads.toy import clusters


def test_signals_are_score_nearest_cosines_and_mahalanobis_distance() -> None:
    toy = clusters(3, 8, 0.5, seed=0)
    where = landscape(toy.rows, toy.targets, shrinkage=0.4)
    texts = clusters(3, 2, 0.9, seed=1).rows
    scores = np.random.default_rng(0).normal(size=(6, 3))
    found = signals(where, texts, scores)
    apart = toy.rows - where.means[toy.columns]
    covariance = apart.T.astype(float) @ apart / len(apart)
    shrunk = 0.6 * covariance + 0.4 * np.trace(covariance) / 12 * np.eye(12)
    for row, text in enumerate(texts.astype(float)):
        away = min(
            np.sqrt((text - mean) @ np.linalg.inv(shrunk) @ (text - mean)) for mean in where.means
        )
        near = np.sort(toy.rows @ text)[-3:].mean()
        np.testing.assert_allclose(found[row], [scores[row].max(), near, -away], rtol=1e-4)


def test_an_exemplar_is_measured_as_if_it_were_none() -> None:
    toy = clusters(3, 8, 0.5, seed=0)
    where = landscape(toy.rows, toy.targets)
    honest = np.zeros((24, 3))
    found = signals_left_out(where, honest)
    for row in (0, 9, 23):
        others = np.setdiff1d(np.arange(24), [row])
        cosines = np.sort(toy.rows[others] @ toy.rows[row])[-3:]
        assert abs(found[row, 1] - cosines.mean()) < 1e-6
        means = [toy.rows[others][toy.columns[others] == c].mean(0) for c in range(3)]
        apart = [(toy.rows[row] - mean).astype(float) for mean in means]
        away = min(np.sqrt(one @ where.precision @ one) for one in apart)
        np.testing.assert_allclose(found[row, 2], -away, rtol=1e-4)
    part = signals_left_out(where, honest[[3, 9]], np.array([3, 9]))
    np.testing.assert_allclose(part, found[[3, 9]])


def test_a_limit_parts_what_can_be_parted_and_else_keeps_its_promise() -> None:
    fence = Fence("votes", (0.0,) * 3, (1.0,) * 3)
    inside, outside = np.linspace(1, 2, 100), np.linspace(0, 1.05, 50)
    limit = with_limit(fence, inside, outside).limit
    kept = [(inside >= x).mean() + (outside < x).mean() for x in np.linspace(0, 2, 2_001)]
    assert (inside >= limit).mean() + (outside < limit).mean() >= max(kept) - 1e-12
    alone = with_limit(fence, inside, None, rejection=0.1)
    assert (inside >= alone.limit).mean() == 0.9


def test_every_method_lets_texts_of_known_intents_in_before_others() -> None:
    toy, others = clusters(4, 15, 0.5, seed=0), clusters(9, 10, 0.3, seed=1)
    foreign = others.rows[others.columns > 3]
    head = fit_votes(toy.rows, toy.targets, toy.intents, 0.3, 0.1)
    where = landscape(toy.rows, toy.targets)
    honest = signals_left_out(where, leave_one_out(head))
    outside = signals(where, foreign, head.scores(foreign))
    for method in ("votes", "nearest", "mahalanobis", "mixture"):
        fence = fit_fence(method, honest)
        assert auroc(fence.familiarity(honest), fence.familiarity(outside)) > 0.9
        assert abs(fence.familiarity(honest).mean()) < 1e-9


def test_an_intent_with_enough_texts_gets_its_own_limit() -> None:
    fence = Fence("votes", (0.0,) * 3, (1.0,) * 3, limit=0.5)
    columns = np.repeat([0, 1], [40, 5])
    familiarity = np.concatenate([np.linspace(2, 3, 40), np.linspace(0, 1, 5)])
    own = with_intent_limits(fence, familiarity, columns, rejection=0.25)
    assert list(own.limits) == [0]
    assert own.inside(familiarity, columns)[:40].sum() == 30
    assert own.inside(familiarity, columns)[40:].tolist() == [False, False, True, True, True]


def test_moving_a_fence_names_who_goes_in_and_out() -> None:
    fence = Fence("votes", (0.0,) * 3, (1.0,) * 3, limit=0.5)
    moved = Fence("votes", (0.0,) * 3, (1.0,) * 3, limit=0.2, limits={1: 0.9})
    familiarity, columns = np.array([0.3, 0.6, 0.1, 0.8, 0.4]), np.array([0, 1, 0, 1, 0])
    found = crossing(fence, moved, familiarity, columns)
    assert found.entering.tolist() == [0, 4]
    assert found.leaving.tolist() == [3, 1]
