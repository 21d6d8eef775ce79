"""Personal data goes; dates, prices, times and codes stay."""

import re
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from core.formats.dialogues import Dialogue, Turn
from core.formats.masking import mask_dialogue, mask_personal


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("Write to jane.doe+x@mail.example.co.uk, please", "Write to [e-mail], please"),
        ("It is DE89 3704 0044 0532 0130 00.", "It is [account]."),
        ("iban gb82west12345698765432", "iban [account]"),
        ("My card is 4111 1111 1111 1111", "My card is [card]"),
        ("card 4111-1111-1111-1111.", "card [card]."),
        ("amex 378282246310005", "amex [card]"),
        ("Call 408-247-8880 now", "Call [phone] now"),
        ("(408) 247-8880 or 1 408 247 8880", "[phone] or [phone]"),
        ("+44 20 7946 0958, +1 (415) 555-2671", "[phone], [phone]"),
        ("ring 020 7946 0958 or 07911 123456", "ring [phone] or [phone]"),
        ("my account is 12345678", "my account is [account]"),
        ("4111 1111 1111 1112 fails Luhn", "4111 1111 1111 1112 fails Luhn"),
        ("account 4111111111111112", "account [account]"),
    ],
)
def test_personal_data_is_masked(text: str, masked: str) -> None:
    assert mask_personal(text) == masked


@pytest.mark.parametrize(
    "text",
    [
        "A table for 2 at 19:30 on 2019-03-08",
        "from 08/03/2019 to 10.03.2019, or 08-03-19",
        "It costs $1,250,000.00 or 12345678.90",
        "between 2018-2019, flight BA 1234",
        "meet me @ noon",
        "my PIN is 1234, code 482913",
        "377 Santana Row #1000",
        "DE89 is a road",
    ],
)
def test_other_numbers_stay(text: str) -> None:
    assert mask_personal(text) == text


def test_an_iban_with_a_wrong_check_digit_is_no_iban() -> None:
    assert mask_personal("GB83WEST12345698765432") == "GB83WEST12345698765432"


def test_every_turn_of_a_conversation_is_masked() -> None:
    log = Dialogue("7", (Turn("I am a@b.example", "user"), Turn("Thanks.", "agent")))
    masked = mask_dialogue(log)
    assert masked == Dialogue("7", (Turn("I am [e-mail]", "user"), Turn("Thanks.", "agent")))


FORMER_PHONES = (
    re.compile(r"(?<!\w)\+\d{1,3}(?:[ ./-]?\(?\d{1,6}\)?){1,6}(?!\w)"),
    re.compile(r"(?<![\w+])(?:1[ .-]?)?\(?\d{3}\)?[ .-]?\d{3}[ .-]\d{4}(?!\w)"),
    re.compile(r"(?<![\w+.,:/-])\(?0\d{1,5}\)?(?:[ /-]?\d{2,8}){1,4}(?!\w)"),
)
"""They tried each way to part a run of digits: slow on long runs, and right."""
PIECES = [*"019 +()-./a_\u0661", "+49", "0170", "12", "123456", "1234567", "(0)", "+1 ", " 0"]


@example(["+49 170 1234567 8a"])
@example(["+1 (415) 555-2671)5"])
@example([" 0", "1" * 9, " ", "1" * 17, "-", "12", "a"])
@given(st.lists(st.sampled_from(PIECES), max_size=16))
def test_the_same_numbers_are_masked_as_when_each_way_was_tried(pieces: list[str]) -> None:
    text = "".join(pieces)
    masked = mask_personal(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("core.formats.masking._PHONES", FORMER_PHONES)
        assert masked == mask_personal(text)


@pytest.mark.parametrize("text", [(" +" + "1" * 45) * 400, (" 0" + "1" * 30 + "a") * 4_000])
def test_long_runs_of_digits_are_no_work(text: str) -> None:
    """All parts of the server wait for a regular expression: these texts took it seconds."""
    began = time.process_time()
    assert mask_personal(text) == text
    assert time.process_time() - began < 1.0
