"""Twins, ill intents, greedy examples, borders and the next label, on texts made for each."""

import numpy as np

from core.heads.votes.fit import fit_votes
from core.heads.votes.kernel import kernel
from core.nearby.search import nearby
from core.review.duplicates import twins
from core.review.intents import (
    border_walk,
    busiest_border,
    greedy_examples,
    intent_health,
)
from core.review.next_labels import next_labels
from core.vectors import unit_rows
from tests.builders.toy_embeddings import clusters


def test_nearest_others_equal_those_of_sorting_all() -> None:
    rows = unit_rows(np.random.default_rng(0).normal(size=(600, 5)).astype(np.float32))
    found = nearby(rows, 7)
    every = rows @ rows.T
    np.fill_diagonal(every, -np.inf)
    np.testing.assert_array_equal(found.rows, np.argsort(-every, axis=1, kind="stable")[:, :7])
    np.testing.assert_allclose(found.cosines, -np.sort(-every, axis=1)[:, :7])
    assert nearby(rows[:1], 5).rows.shape == (1, 0)
    assert nearby(rows[:3], 5).rows.shape == (3, 2)


def test_twins_under_different_intents_come_before_duplicates() -> None:
    rows = np.array([[1, 0, 0], [1, 0.1, 0], [0, 1, 0], [0, 1, 0.3], [0, 0, 1], [0, 0.2, 1]])
    texts = ["my card", "My card!", "stop it", "stop it now", "hello", "hello there"]
    targets = np.eye(3)[[0, 0, 1, 2, 0, 0]]
    unit = unit_rows(rows.astype(np.float32))
    found = twins(texts, targets, nearby(unit, 2))
    pairs = [(pair.first, pair.second, pair.conflict, pair.same_text) for pair in found]
    assert pairs == [(2, 3, True, False), (0, 1, False, True), (4, 5, False, False)]


def test_the_same_text_is_found_however_far_apart_the_encoder_puts_it() -> None:
    unit = np.eye(3, dtype=np.float32)
    found = twins(["Refund!", "hello", "refund"], np.eye(3), nearby(unit, 1))
    assert [(pair.first, pair.second, pair.conflict, pair.same_text) for pair in found] == [
        (0, 2, True, True)
    ]


def test_what_differs_by_a_number_or_a_negation_is_no_duplicate() -> None:
    """One of such a pair went as a copy of the other."""
    same = ["pay my bill", "pay my bill please"]
    apart = [
        ("send 50 euros", "send 100 euros"),
        ("book it for two of us", "book it for the four of us please"),
        ("I can pay it today", "so today I really can't pay it"),
        ("turn the lights on for me", "please turn the lights off now"),
    ]
    for one, other in (same, *apart):
        unit = unit_rows(np.array([[1, 0.01], [1, 0]], np.float32))
        found = twins([one, other], np.ones((2, 1)), nearby(unit, 1))
        assert len(found) == (one == same[0]), one


def test_thin_and_overgrown_intents_are_told_from_sound_ones() -> None:
    columns = np.repeat([0, 1, 2, 3], [20, 20, 2, 100])
    honest = np.eye(4)[columns]
    honest[:15] = np.eye(4)[3]  # most of the first intent's texts are drawn away
    found = intent_health(honest, np.eye(4)[columns])
    assert [one.examples for one in found] == [20, 20, 2, 100]
    assert [one.kept for one in found] == [5, 20, 2, 100]
    assert [one.drawn for one in found] == [0, 0, 0, 15]
    assert [one.thin for one in found] == [False, False, True, False]
    assert [one.overgrown for one in found] == [False, False, False, True]


def test_an_example_under_the_wrong_intent_leads_the_greedy_ones() -> None:
    toy = clusters(3, 6, 0.5, seed=4)
    targets = toy.targets.copy()
    targets[2] = np.eye(3)[1]
    head = fit_votes(toy.rows, targets, toy.intents, 0.2, 0.05)
    near = unit_rows(toy.rows[[2]] + 0.05 * toy.rows[[8, 9, 10]])
    found = greedy_examples(head, near, np.zeros(3, np.int64))
    assert found[0].row == 2
    assert found[0].texts == (0, 1, 2)
    assert found[0].intents == (0,)
    assert found[0].harm >= max(one.harm for one in found)
    assert greedy_examples(head, toy.rows[:2], np.zeros(2, np.int64)) == []


def test_a_border_walk_goes_from_one_intent_to_the_other() -> None:
    scores = np.array(
        [[0.9, 0.1, 0.0], [0.5, 0.4, 0.1], [0.4, 0.5, 0.1], [0.1, 0.3, 0.6], [0.1, 0.8, 0.0]]
    )
    found = border_walk(scores, 0, 1)
    assert found.rows.tolist() == [0, 1, 2, 4]
    np.testing.assert_allclose(found.leads, [0.8, 0.1, -0.1, -0.7])
    nearest = border_walk(scores, 0, 1, most=2)
    assert nearest.rows.tolist() == [1, 2]
    assert nearest.left_out == 2
    # The fourth text is nearer to a third intent; it is asked for by name, once.
    assert border_walk(scores, 0, 1, also=[3, 1], most=1).rows.tolist() == [1, 2, 3]


def test_the_busiest_border_is_that_with_most_unclear_texts() -> None:
    """The page opened on the first two intents, with no text between them."""
    clear = [[0.9, 0.1, 0.0, 0.0]] * 5
    unclear = [[0.0, 0.0, 0.5, 0.4]] * 2
    assert busiest_border(np.array(clear + unclear), 0.4) == (2, 3)
    assert busiest_border(np.array(clear), 0.4) == (0, 1)
    assert busiest_border(np.zeros((0, 4)), 0.4) is None
    assert busiest_border(np.ones((3, 1)), 0.4) is None


def test_the_next_label_settles_a_crowd_before_a_single_text() -> None:
    crowd = np.tile(np.eye(4, dtype=np.float32)[0], (5, 1))
    crowd[:, 1] = np.linspace(0, 0.2, 5)
    rows = unit_rows(np.concatenate([np.eye(4, dtype=np.float32)[[2, 3]], crowd]))
    found = next_labels(rows, np.array([0.8, 0.0, 1, 1, 1, 1, 1]), 0.3, 0.1, n=2)
    assert found[0].row in range(3, 7)
    assert found[1].row == 0
    weight = kernel(rows, rows[[found[0].row]], 0.3)[:, 0]
    doubts = np.array([0.8, 0.0, 1, 1, 1, 1, 1])
    np.testing.assert_allclose(found[0].settles, (weight**2 / 1.1) @ doubts, rtol=1e-5)
    assert next_labels(rows, np.zeros(7), 0.3, 0.1, n=3) == []
