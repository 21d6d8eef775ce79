"""Wrong labels head the list, and each judge says what it claims to say."""

import numpy as np

from core.heads.votes.fit import fit_votes, leave_one_out
from core.review.label_errors import suspicion
from core.review.nearby import nearby
from tests.builders.toy_embeddings import clusters


def judged(spread: float, wrong: list[int], per_intent: int = 20):
    toy = clusters(6, per_intent, spread, seed=1)
    columns = toy.columns.copy()
    columns[wrong] = (columns[wrong] + 1) % 6
    targets = np.eye(6)[columns]
    head = fit_votes(toy.rows, targets, toy.intents, 0.3, 0.1)
    return toy, suspicion(leave_one_out(head), targets, nearby(toy.rows, 10))


def test_planted_errors_come_first_and_the_right_intent_is_suggested() -> None:
    wrong = [3, 27, 55, 80, 101]
    toy, found = judged(0.4, wrong)
    assert sorted(found.order[:5].tolist()) == wrong
    np.testing.assert_array_equal(found.suggested[wrong], toy.columns[wrong])
    assert found.rank.max() == 1.0
    assert found.rank.min() > 0.0


def test_judges_speak_of_the_given_label() -> None:
    toy, found = judged(0.2, [3])
    assert found.disagreement[3] == 1.0
    assert found.confidence[3] < 0.1 < 0.9 < found.confidence[4]
    assert found.residual[3] > 0.9
    clean = np.setdiff1d(np.arange(len(toy.rows)), [3])
    assert found.residual[clean].max() < 0.5


def test_of_several_intents_the_least_likely_label_counts() -> None:
    toy = clusters(3, 10, 0.2, seed=2)
    targets = toy.targets.copy()
    targets[0, 1] = 1.0  # one label too many
    head = fit_votes(toy.rows, targets, toy.intents, 0.3, 0.1)
    found = suspicion(leave_one_out(head), targets, nearby(toy.rows, 5))
    assert found.order[0] == 0


def test_a_text_without_any_label_is_judged_without_falling_over() -> None:
    toy = clusters(2, 5, 0.2, seed=3)
    targets = toy.targets.copy()
    targets[0] = 0.0
    head = fit_votes(toy.rows, targets, toy.intents, 0.3, 0.1)
    found = suspicion(leave_one_out(head), targets, nearby(toy.rows, 3))
    assert np.isfinite(found.rank).all()
