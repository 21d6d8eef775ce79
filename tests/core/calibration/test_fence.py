"""A fence lets in what is familiar, by signals that equal what they are named after."""

import numpy as np
import pytest

from core.calibration.fence import (
    Fence,
    crossing,
    fit_fence,
    fit_intent_shapes,
    signals,
    signals_left_out,
    with_intent_limits,
    with_limit,
)
from core.calibration.fence_units import measure_exemplars
from core.heads.mixture import even_mixture
from core.heads.neighbours import NeighbourHead
from core.heads.points import PointHead
from core.heads.votes.fit import fit_votes, leave_one_out
from core.metrics.out_of_scope import auroc
from core.vectors import unit_rows
from tests.builders.toy_embeddings import clusters


def test_signals_are_score_nearest_cosines_and_mahalanobis_distance() -> None:
    toy = clusters(3, 8, 0.5, seed=0)
    shapes = fit_intent_shapes(toy.rows, toy.targets, shrinkage=0.4)
    texts = clusters(3, 2, 0.9, seed=1).rows
    scores = np.random.default_rng(0).normal(size=(6, 3))
    found = signals(shapes, texts, scores)
    apart = toy.rows - shapes.means[toy.columns]
    covariance = apart.T.astype(float) @ apart / len(apart)
    shrunk = 0.6 * covariance + 0.4 * np.trace(covariance) / 12 * np.eye(12)
    for row, text in enumerate(texts.astype(float)):
        away = min(
            np.sqrt((text - mean) @ np.linalg.inv(shrunk) @ (text - mean)) for mean in shapes.means
        )
        near = np.sort(toy.rows @ text)[-3:].mean()
        np.testing.assert_allclose(found[row], [scores[row].max(), near, -away], rtol=1e-4)


def test_an_exemplar_is_measured_as_if_it_were_none() -> None:
    toy = clusters(3, 8, 0.5, seed=0)
    shapes = fit_intent_shapes(toy.rows, toy.targets)
    honest = np.zeros((24, 3))
    found = signals_left_out(shapes, honest)
    for row in (0, 9, 23):
        others = np.setdiff1d(np.arange(24), [row])
        cosines = np.sort(toy.rows[others] @ toy.rows[row])[-3:]
        assert abs(found[row, 1] - cosines.mean()) < 1e-6
        means = [toy.rows[others][toy.columns[others] == c].mean(0) for c in range(3)]
        apart = [(toy.rows[row] - mean).astype(float) for mean in means]
        away = min(np.sqrt(one @ shapes.precision @ one) for one in apart)
        np.testing.assert_allclose(found[row, 2], -away, rtol=1e-4)
    part = signals_left_out(shapes, honest[[3, 9]], np.array([3, 9]))
    np.testing.assert_allclose(part, found[[3, 9]])


def test_an_exemplar_is_measured_without_what_was_made_of_it() -> None:
    """Near copies made a version look at home everywhere, and its limit kept others out."""
    toy = clusters(3, 8, 0.5, seed=0)
    shapes = fit_intent_shapes(toy.rows, toy.targets)
    sources = np.arange(24)
    copies = np.argsort(-toy.rows @ toy.rows[0])[1:3]
    sources[[*copies, 17]] = 0  # the last has been given another intent since
    found = signals_left_out(shapes, np.zeros((2, 3)), np.array([0, 9]), sources)
    others = np.flatnonzero(sources != 0)
    assert abs(found[0, 1] - np.sort(toy.rows[others] @ toy.rows[0])[-3:].mean()) < 1e-6
    means = [toy.rows[others][toy.columns[others] == c].mean(0) for c in range(3)]
    apart = [(toy.rows[0] - mean).astype(float) for mean in means]
    away = min(np.sqrt(one @ shapes.precision @ one) for one in apart)
    np.testing.assert_allclose(found[0, 2], -away, rtol=1e-4)
    alone = signals_left_out(shapes, np.zeros((24, 3)))
    np.testing.assert_allclose(found[1], alone[9])
    assert found[0, 1] < alone[0, 1]


def test_a_version_is_surveyed_by_what_somebody_said() -> None:
    toy = clusters(3, 12, 0.9, seed=0)
    rows, targets = np.repeat(toy.rows, 2, axis=0), np.repeat(toy.targets, 2, axis=0)
    sources = np.repeat(np.arange(0, 72, 2), 2)  # a copy of each, made of it
    votes = fit_votes(rows, targets, toy.intents, 0.3, 0.1)
    found, flattered = (
        measure_exemplars(votes, rows, targets, sources),
        measure_exemplars(votes, rows, targets),
    )
    assert found.signals.shape == (36, 3)
    assert (found.signals.mean(0) < flattered.signals.mean(0)).all()
    nearest = NeighbourHead(toy.intents, 1, rows, targets)
    plain = measure_exemplars(
        NeighbourHead(toy.intents, 1, toy.rows, toy.targets), toy.rows, toy.targets
    )
    found = measure_exemplars(nearest, rows, targets, sources)
    np.testing.assert_allclose(found.signals[:, 0], plain.signals[:, 0])


def test_the_only_text_of_an_intent_is_measured_by_the_other_intents() -> None:
    """Nothing times infinity was no number, and made a fence that let nobody in."""
    toy = clusters(3, 8, 0.5, seed=0)
    lone = np.concatenate([np.arange(9), [16]])  # one text of the last intent
    shapes = fit_intent_shapes(toy.rows[lone], toy.targets[lone])
    found = signals_left_out(shapes, np.zeros((10, 3)))
    apart = (toy.rows[16] - shapes.means[:2]).astype(float)
    away = np.sqrt(np.einsum("ij,jk,ik->i", apart, shapes.precision, apart)).min()
    np.testing.assert_allclose(found[9, 2], -away, rtol=1e-4)
    assert np.isfinite(fit_fence("mixture", found).familiarity(found)).all()


def test_an_intent_by_name_alone_leaves_the_distances_as_they_are() -> None:
    """It has no place of its own: infinitely far from every text, and no number was left of it."""
    toy = clusters(3, 4, 0.5, seed=0)
    wide = np.pad(toy.targets, [(0, 0), (0, 1)])
    honest = np.zeros((12, 4))
    found = signals_left_out(fit_intent_shapes(toy.rows, wide), honest)
    expected = signals_left_out(fit_intent_shapes(toy.rows, toy.targets), honest[:, :3])
    np.testing.assert_allclose(found, expected)


def test_the_units_of_a_version_stay_while_its_exemplars_change() -> None:
    toy = clusters(3, 12, 0.5, seed=0)
    head = fit_votes(toy.rows, toy.targets, toy.intents, 0.3, 0.1)
    units = measure_exemplars(head, toy.rows, toy.targets)
    more = clusters(3, 2, 0.5, seed=5)
    rows = np.concatenate([toy.rows, more.rows])
    grown = units.measure_on("mixture", rows, np.concatenate([toy.targets, more.targets]))
    plain = units.measure_on("mixture", toy.rows, toy.targets)
    assert grown.fence == plain.fence
    assert grown.shapes.precision is plain.shapes.precision
    scores = head.scores(more.rows)
    assert (grown.familiarity(more.rows, scores) > plain.familiarity(more.rows, scores)).all()
    np.testing.assert_allclose(
        plain.familiarity(more.rows, scores),
        fit_fence("mixture", units.signals).familiarity(
            signals(fit_intent_shapes(toy.rows, toy.targets), more.rows, scores)
        ),
    )
    kept = units.familiarity("mixture")[0] >= units.limit("mixture", 0.25)
    assert kept.mean() == 0.75
    for share in (0.0, 0.05, 0.25, 1.0):
        assert units.rejection(units.limit("votes", share)) == pytest.approx(share)
    assert (units.rejection(-9.0), units.rejection(9.0)) == (0.0, 1.0)


def test_exemplars_are_judged_by_others_whatever_the_head() -> None:
    toy = clusters(3, 12, 0.9, seed=0)
    head = NeighbourHead(toy.intents, 1, toy.rows, toy.targets)
    honest = measure_exemplars(head, toy.rows, toy.targets).signals[:, 0]
    assert np.allclose(head.scores(toy.rows).max(1), 1.0)  # each is its own nearest
    assert honest.max() < 0.999


def test_names_beside_votes_count_in_what_is_familiar_and_labels_do_not() -> None:
    """A head of votes and names was measured by its votes on texts that it had learned from."""
    toy = clusters(3, 12, 0.9, seed=0)
    votes = fit_votes(toy.rows, toy.targets, toy.intents, 0.3, 0.1)
    names = PointHead("names", toy.intents, unit_rows(toy.rows[[0, 12, 24]]))
    mixed = even_mixture(votes, names, 0.5)
    found = measure_exemplars(mixed, toy.rows, toy.targets)
    honest = leave_one_out(votes) + mixed.voices(toy.rows)
    np.testing.assert_allclose(found.signals[:, 0], honest.max(1))
    assert found.columns.tolist() == honest.argmax(1).tolist()
    assert found.signals[:, 0].mean() < mixed.scores(toy.rows).max(1).mean()


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
    shapes = fit_intent_shapes(toy.rows, toy.targets)
    honest = signals_left_out(shapes, leave_one_out(head))
    outside = signals(shapes, foreign, head.scores(foreign))
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
    both = (one.inside(familiarity, columns) for one in (fence, moved))
    found = crossing(*both, familiarity)
    assert found.entering.tolist() == [0, 4]
    assert found.leaving.tolist() == [3, 1]
