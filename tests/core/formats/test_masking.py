"""Personal data goes; dates, prices, times and codes stay."""

import pytest

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
