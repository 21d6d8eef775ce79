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


def test_a_value_within_a_text_without_blanks_is_proposed_in_others() -> None:
    """Such texts were one word each, so that a value had to be the whole text."""
    known = [
        slotted("東京に行きたい", [Slot(0, 2, "city")]),
        slotted("ไปกรุงเทพวันนี้", [Slot(2, 9, "city")]),
    ]
    matcher = learn_matcher(known)
    assert matcher.propose("明日、東京へ。").slots == (Slot(3, 5, "city"),)
    assert matcher.propose("จากกรุงเทพ").slots == (Slot(3, 10, "city"),)
    assert matcher.propose("京都に行きたい").slots == ()


def test_a_value_is_found_between_marks_of_other_scripts() -> None:
    known = [
        slotted("إلى الرياض", [Slot(4, 10, "city")]),
        slotted("ABC です", [Slot(0, 3, "make")]),
    ]
    matcher = learn_matcher(known)
    assert matcher.propose("أين الرياض؟").slots == (Slot(4, 10, "city"),)
    assert matcher.propose("「ABC」です").slots == (Slot(1, 4, "make"),)
