"""Slots proposed from the values that people marked."""

from core.templates.matching import learn_matcher
from core.templates.slots import Slot, SlottedText, slotted

KNOWN = [
    slotted("fly to New York", [Slot(7, 15, "city")]),
    slotted("fly to york.", [Slot(7, 11, "city")]),
    slotted("is york far from new york", [Slot(3, 7, "place"), Slot(17, 25, "city")]),
    slotted("is York old", [Slot(3, 7, "place")]),
    slotted("play a", [Slot(5, 6, "title")]),
    SlottedText("is a train late or a bus"),
]


def test_the_longest_value_is_marked_without_the_marks_around_it() -> None:
    found = learn_matcher(KNOWN).propose('from "NEW YORK," to YORK!')
    assert found.slots == (Slot(6, 14, "city"), Slot(20, 24, "place"))


def test_a_word_that_mostly_is_no_value_is_not_marked() -> None:
    """One of three times "a" was a title; marked each time, it would take the verb's object."""
    assert learn_matcher(KNOWN).propose("play a song").slots == ()
    assert learn_matcher(KNOWN, least=0.3).propose("play a song").slots == (Slot(5, 6, "title"),)


def test_nothing_is_known_without_slots() -> None:
    assert learn_matcher([SlottedText("hello")]).propose("hello ... you").slots == ()
