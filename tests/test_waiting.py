"""Tests wait for what they need, and say what did not come."""

import pytest

from tests.waiting import wait_until


def test_what_does_not_come_is_named() -> None:
    """Most loops went on when their time was up, and the test failed later by a wrong figure."""
    with pytest.raises(AssertionError, match="not yet: the pool is evaluated"):
        wait_until(lambda: False, "the pool is evaluated", seconds=0.05)


def test_it_asks_until_the_answer_is_yes() -> None:
    answers = iter([0, "", None, "yes", 0])
    wait_until(lambda: next(answers), "the fourth answer")
    assert next(answers) == 0
