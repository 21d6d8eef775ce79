from core.templates.augmenting import Augmentation, augment
from core.templates.slot_book import slot_book
from core.templates.slots import Slot, slotted
from core.text import match_key

SAID = [
    slotted("fly to Boston", [Slot(7, 13, "city")]),
    slotted("weather in Rome", [Slot(11, 15, "city")]),
    slotted("weather in Oslo", [Slot(11, 15, "city")]),
]
BOOK = slot_book(SAID)


def test_texts_that_are_there_already_are_not_made_whatever_their_case_and_marks() -> None:
    made = augment(SAID, BOOK, existing=[match_key("Fly to ROME!"), match_key("weather in boston")])
    assert [one.utterance.text for one in made] == ["fly to Oslo"]


def test_a_share_that_was_made_before_is_not_made_again() -> None:
    how = Augmentation(per_template=2)
    first = augment(SAID, BOOK, how)
    assert [one.source for one in first] == [0, 0, 1]
    there = [match_key(one.utterance.text) for one in first]
    assert augment(SAID, BOOK, how, there, {0: 2, 1: 1}) == []
