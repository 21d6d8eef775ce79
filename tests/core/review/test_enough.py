"""When the newest labels of an intent tell the model nothing, it has enough of them."""

import numpy as np

from core.review.enough import JUDGED, NewestKnown, newest_known


def judged(answers: list[int], given: list[int], order: list[int]) -> list[NewestKnown]:
    return newest_known(np.array(answers), np.array(given), np.array(order), 3)


def test_the_newest_labels_of_an_intent_decide() -> None:
    n = JUDGED + 5
    answers = [1] * 5 + [0] * JUDGED  # the five oldest labels were answered otherwise
    first, other, none = judged([*answers, 1], [0] * n + [1], [*range(n), n])
    assert (first.judged, first.known, first.is_enough) == (JUDGED, JUDGED, True)
    assert (other.judged, other.known, other.is_enough) == (1, 1, False)
    assert (none.judged, none.is_enough) == (0, False)
    turned = judged([*answers, 1], [0] * n + [1], [*range(n, 0, -1), n + 1])[0]
    assert (turned.known, turned.is_enough) == (10, False)


def test_one_of_fifteen_may_be_missed_and_two_may_not() -> None:
    for missed, is_enough in ((1, True), (2, False)):
        answers = [0] * (JUDGED - missed) + [1] * missed
        [one, *_] = judged(answers, [0] * JUDGED, list(range(JUDGED)))
        assert (one.known, one.is_enough) == (JUDGED - missed, is_enough)


def test_labels_given_to_many_texts_at_once_tell_nothing() -> None:
    order = [-1] * JUDGED + [3]
    [one, *_] = judged([0] * (JUDGED + 1), [0] * (JUDGED + 1), order)
    assert (one.judged, one.is_enough) == (1, False)
