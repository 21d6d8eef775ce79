"""Wrong labels head the list, and each judge says what it claims to say."""

import numpy as np

from core.heads.votes.fit import fit_votes, leave_one_out
from core.nearby.search import Nearby, nearby
from core.review.label_errors import DoubtedIntent, doubted_intents, suspicion
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


CARD, BOTH, THANKS = (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)


def sets_of_twelve() -> tuple[np.ndarray, Nearby]:
    """Four texts of card, four of both intents, four of thanks; each is near its own three."""
    targets = np.array([label for label in (CARD, BOTH, THANKS) for _ in range(4)])
    near = [
        [other for other in range(12) if other // 4 == row // 4 and other != row]
        for row in range(12)
    ]
    return targets, Nearby(np.array(near), np.ones((12, 3), np.float32))


def told(doubted: list[DoubtedIntent]) -> set[tuple[int, int, bool, bool]]:
    return {(one.row, one.column, one.surplus, one.confident) for one in doubted}


def test_an_intent_too_many_and_a_missing_one_are_doubted_by_themselves() -> None:
    """A set was doubted only where its best intent was none of it: 0.8 of card hid the others."""
    right, near = sets_of_twelve()
    honest = 0.1 + 0.7 * right
    assert doubted_intents(honest, right, near) == []
    given = right.copy()
    given[2] = BOTH  # thanks is one too many: it scores 0.1, as the other texts without it
    given[5] = THANKS  # card is missing: it scores 0.8, as the other texts with it
    found = doubted_intents(honest, given, near)
    assert told(found) == {(2, 1, True, True), (5, 0, False, True)}
    np.testing.assert_allclose([one.doubt for one in found], 1.0)


def test_one_intent_is_doubted_as_far_as_scores_and_neighbours_agree() -> None:
    right, near = sets_of_twelve()
    honest, given = 0.1 + 0.7 * right, right.copy()
    given[2] = BOTH
    near.rows[2] = [0, 1, 4]  # two lack thanks: it is doubted, but not for certain
    [one] = doubted_intents(honest, given, near)
    assert told([one]) == {(2, 1, True, False)}
    np.testing.assert_allclose(one.doubt, 2 / 3)
    near.rows[2] = [0, 4, 6]
    assert doubted_intents(honest, given, near) == []
    near.rows[2] = [0, 1, 3]
    honest[2, 1] = 0.45  # between 0.1 of those without and 0.76 of those with it
    assert doubted_intents(honest, given, near) == []


def test_an_intent_that_no_score_tells_apart_is_not_doubted() -> None:
    right, near = sets_of_twelve()
    honest, given = 0.1 + 0.7 * right, right.copy()
    given[2] = BOTH
    honest[:, 1] = 0.1 + 0.2 * right[:, 1]
    assert doubted_intents(honest, given, near) == []
