"""A package that is made to cost much time or memory is read soon, or refused in words."""

import time

from core.platforms.gathering import Losses, fitting_slots
from core.templates.slots import Slot


def test_many_marks_of_one_phrase_are_no_work() -> None:
    """Each mark was checked again with each later one: 1 MB took three hours."""
    text = "a " * 3_000
    marks = [Slot(2 * place, 2 * place + 1, "b") for place in range(3_000)]
    wrong = [Slot(0, 3, "over two"), Slot(7, 8, "a blank"), Slot(5_999, 6_001, "out of it")]
    began, losses = time.process_time(), Losses()
    assert fitting_slots(text, [*wrong, *reversed(marks)], losses) == tuple(marks)
    assert [one.count for one in losses.told()] == [3]
    assert time.process_time() - began < 1.0
