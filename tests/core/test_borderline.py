"""Which utterances speak for another intent's name than their own."""

from core.borderline import select_borderline, words_of

NAMES = ["order", "order_status", "card_arrival", "pin_blocked"]


def test_words_are_whole_and_letter_case_does_not_count() -> None:
    assert words_of("My CARD's pin_blocked, 24h") == {"my", "card", "s", "pin", "blocked", "24h"}


def test_both_stages_by_hand() -> None:
    texts = [
        "where is my card",  # shares `card` with its own name
        "in which order did it arrive",  # shares nothing with it, and `order` with two others
        "has it come yet",  # shares nothing with any name
        "they put it in an orderly heap",  # part of a word is not a word
        "PIN of the order",  # letter case does not count
    ]
    intents = ["card_arrival"] * 4 + ["card_arrival"]
    found = select_borderline(texts, intents, NAMES)
    assert found.without_own == (1, 2, 3, 4)
    assert found.rows == [1, 4]
    assert found.selected[0].shared == {"order": ("order",), "order_status": ("order",)}
    assert found.selected[1].shared == {
        "order": ("order",),
        "order_status": ("order",),
        "pin_blocked": ("pin",),
    }


def test_a_word_shared_with_the_right_name_outweighs_those_with_wrong_ones() -> None:
    found = select_borderline(["order a card"], ["order"], NAMES)
    assert found.without_own == ()
    assert found.rows == []


def test_nothing_gives_nothing() -> None:
    assert select_borderline([], [], NAMES).rows == []
