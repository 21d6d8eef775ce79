import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.templates.moved_slots import carried, normalised
from core.templates.slots import Slot, SlottedText, slotted

FLIGHT = slotted("fly from Boston to Denver", [Slot(9, 15, "from"), Slot(19, 25, "to")])


def values(found: SlottedText) -> list[tuple[str, str]]:
    return [(found.value(slot), slot.name) for slot in found.slots]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("please fly from Boston to Denver", [("Boston", "from"), ("Denver", "to")]),
        ("fly from Austin to Denver", [("Denver", "to")]),
        ("to Denver from Boston", [("Denver", "to"), ("Boston", "from")]),
        ("FLY FROM BOSTON TO DENVER", [("BOSTON", "from"), ("DENVER", "to")]),
        ("fly from Bostonia to Denver", [("Denver", "to")]),
        ("hello", []),
    ],
)
def test_slots_stay_where_their_values_stand(text: str, expected: list) -> None:
    assert values(carried(FLIGHT, text)) == expected


def test_a_value_that_now_stands_twice_is_marked_where_it_was() -> None:
    found = carried(slotted("to Rome", [Slot(3, 7, "city")]), "to Rome, and Rome again")
    assert found.slots == (Slot(3, 7, "city"),)


def test_a_value_stays_where_a_sign_of_a_script_without_white_space_comes_before_it() -> None:
    found = carried(slotted("東京に行く", [Slot(0, 2, "city")]), "私は東京に行く")
    assert found.slots == (Slot(2, 4, "city"),)


def test_long_texts_are_not_compared_sign_by_sign() -> None:
    long = "x " * 3_000
    found = carried(slotted(f"{long}Rome", [Slot(6_000, 6_004, "city")]), f"Rome {long}")
    assert found.slots == (Slot(0, 4, "city"),)


def test_slots_are_counted_in_the_text_as_it_is_stored() -> None:
    raw = "  " + unicodedata.normalize("NFD", "café in Zürich") + " "
    start = raw.index("Z")
    found = normalised(SlottedText(raw, (Slot(2, 7, "place"), Slot(start, len(raw), "city"))))
    assert found.text == "café in Zürich"
    assert values(found) == [("café", "place"), ("Zürich", "city")]


@given(st.text(max_size=20), st.data())
def test_what_is_carried_or_normalised_always_fits(text: str, data) -> None:
    old = data.draw(st.text(min_size=1, max_size=20).filter(lambda t: bool(t.strip())))
    start = data.draw(st.integers(0, len(old) - 1))
    end = data.draw(st.integers(start + 1, len(old)))
    if not old[start:end].strip():
        return
    marked = slotted(old, [Slot(start, end, "x")])
    for found in (carried(marked, text), normalised(marked)):
        assert slotted(found.text, found.slots) == found
