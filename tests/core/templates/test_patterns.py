import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.templates.patterns import find_patterns
from core.templates.slots import slotted


def found(text: str) -> list[tuple[str, str, bool]]:
    return [
        (text[one.slot.start : one.slot.end], one.slot.name, one.sure)
        for one in find_patterns(text)
    ]


@pytest.mark.parametrize(
    "value",
    [
        "2024-03-09", "9.3.2024", "03/09/24", "march 3rd", "March 3, 2024", "the 3rd of may 2024",
        "3 June", "sunday", "next Friday", "tomorrow", "the day after tomorrow", "this weekend",
    ],
)  # fmt: skip
def test_dates(value: str) -> None:
    assert found(f"remind me on {value} please") == [(value, "date", True)]


@pytest.mark.parametrize(
    "value", ["10:30", "9:05 pm", "7 am", "7 p.m.", "six thirty pm", "5 o'clock", "noon"]
)
def test_times(value: str) -> None:
    assert found(f"wake me at {value} please") == [(value, "time", True)]


@pytest.mark.parametrize(
    "value",
    ["$5", "€ 12.50", "£3 million", "1,200 dollars", "twenty five euros", "50 cents", "30€"],
)
def test_money(value: str) -> None:
    assert found(f"send {value} to Ann") == [(value, "money", True)]


@pytest.mark.parametrize("value", ["5", "1,000", "3.5", "2nd", "seven", "two hundred"])
def test_numbers_are_found_and_never_sure(value: str) -> None:
    assert found(f"give it {value} stars") == [(value, "number", False)]


@pytest.mark.parametrize("text", ["twenty one " * 20, "ten " * 5_000, "1" + ",111" * 5_000])
def test_a_long_row_of_numbers_is_no_work(text: str) -> None:
    """“twenty one” could be read as one number or two: 40 of them would have taken for ever."""
    began = time.process_time()
    assert {(name, sure) for _, name, sure in found(text)} == {("number", False)}
    assert time.process_time() - began < 1.0


@pytest.mark.parametrize(
    "value",
    [
        "twenty-one",
        "ninety nine",
        "nine hundred ninety nine million nine hundred ninety nine thousand nine hundred five",
        "999,999,999,999,999,999.5",
    ],
)
def test_a_long_number_is_one_number(value: str) -> None:
    assert found(f"give it {value} stars") == [(value, "number", False)]
    assert found(f"give it {value} dollars") == [(f"{value} dollars", "money", True)]


def test_what_may_be_another_word_is_noisy() -> None:
    assert found("may I call in 2019 or half past six in the evening") == [
        ("may", "date", False),
        ("2019", "date", False),
        ("half past six", "time", False),
        ("evening", "time", False),
    ]


def test_other_words_are_no_values() -> None:
    assert found("someone decided to phone Augustine in the office, often") == []


def test_each_word_is_of_one_value_and_the_clearer_one_wins() -> None:
    assert found("on may 5 at 5 pm pay 5 dollars for 5") == [
        ("may 5", "date", True),
        ("5 pm", "time", True),
        ("5 dollars", "money", True),
        ("5", "number", False),
    ]


@given(st.text("05 :.-/$€mayp,thhundred of", max_size=40))
def test_what_is_found_fits_its_text(text: str) -> None:
    slots = [one.slot for one in find_patterns(text)]
    assert slotted(text, slots).slots == tuple(slots)
