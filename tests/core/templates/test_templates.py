"""Slots, templates, slot books and augmentation."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InvalidInput
from core.templates.augmenting import Augmentation, augment
from core.templates.slot_book import slot_book
from core.templates.slots import Slot, SlottedText, filled, slotted, template_of

FLIGHT = slotted("fly from Boston to Rome today", [Slot(19, 23, "to"), Slot(9, 15, "from")])
BACK = slotted("go from Rome to boston", [Slot(8, 12, "from"), Slot(16, 22, "to")])


def test_a_template_has_one_token_for_each_value() -> None:
    assert [slot.name for slot in FLIGHT.slots] == ["from", "to"]
    assert template_of(FLIGHT) == "fly from {SLOT} to {SLOT} today"
    assert template_of(FLIGHT, "distinct") == "fly from {from} to {to} today"
    assert template_of(SlottedText("hello")) == "hello"


@pytest.mark.parametrize(
    ("slot", "says"),
    [
        (Slot(10, 40, "a"), "holds no words"),
        (Slot(5, 5, "a"), "holds no words"),
        (Slot(3, 4, "a"), "holds no words"),
        (Slot(12, 17, "a"), "overlaps"),
        (Slot(0, 3, " "), "no usable name"),
        (Slot(0, 3, "{a}"), "no usable name"),
    ],
)
def test_a_slot_that_cannot_be_is_named(slot: Slot, says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        slotted(FLIGHT.text, [*FLIGHT.slots, slot])


def test_a_slot_book_counts_values_without_regard_to_case() -> None:
    book = slot_book([FLIGHT, BACK, FLIGHT])
    assert book.values == {
        "from": (("Boston", 2), ("Rome", 1)),
        "to": (("Rome", 2), ("boston", 1)),
    }
    assert book.top("to", 1) == ("Rome",)
    assert book.top("nothing", 3) == ()


def test_augmentation_fills_templates_with_frequent_values_and_repeats_no_text() -> None:
    book = slot_book([FLIGHT, BACK])
    made = augment([FLIGHT, BACK, SlottedText("hello")], book)
    assert {one.utterance.text for one in made if one.source == 0} == {
        "fly from Boston to boston today",
        "fly from Rome to Rome today",
        "fly from Rome to boston today",
    }
    assert {one.source for one in made} == {0, 1}
    one_value = augment([FLIGHT, BACK], book, Augmentation(top=1))
    assert [one.utterance.text for one in one_value] == [
        "fly from Boston to boston today",
        "go from Boston to boston",
    ]
    capped = augment([FLIGHT, BACK], book, Augmentation(per_template=1))
    assert [one.source for one in capped] == [0, 1]
    assert len(augment([FLIGHT, BACK], book, Augmentation(most=3))) == 3
    assert augment([FLIGHT, BACK], book) == augment([FLIGHT, BACK], book)


words = st.text("ab ß😀", min_size=1, max_size=6)
values = st.text("aAß😀", min_size=1, max_size=4)


@st.composite
def utterances(draw: st.DrawFn) -> SlottedText:
    text, slots = draw(words), []
    for name in draw(st.lists(st.sampled_from("abc"), max_size=4)):
        value = draw(values)
        slots.append(Slot(len(text), len(text) + len(value), name))
        text += value + draw(words)
    return slotted(text, slots)


@given(st.lists(utterances(), max_size=4), st.integers(1, 4))
def test_synthetic_texts_keep_offsets_and_templates(made: list[SlottedText], top: int) -> None:
    """Every slot of a new text holds a value of its book, and its template is its source's."""
    book = slot_book(made)
    for one in augment(made, book, Augmentation(top=top, per_template=5)):
        assert template_of(one.utterance, "distinct") == template_of(made[one.source], "distinct")
        for slot in one.utterance.slots:
            assert one.utterance.value(slot) in book.top(slot.name, top)


@given(utterances())
def test_filling_in_the_own_values_changes_nothing(utterance: SlottedText) -> None:
    own = [utterance.value(slot) for slot in utterance.slots]
    assert filled(utterance, own) == utterance
