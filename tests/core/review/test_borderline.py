"""Which utterances speak for another intent's name than their own."""

from core.review.borderline import idle_words, select_borderline, words_in_order, words_of

NAMES = ["order", "order_status", "card_arrival", "pin_blocked"]


def test_words_are_whole_and_letter_case_does_not_count() -> None:
    assert words_of("My CARD's pin_blocked, 24h") == {"my", "card", "s", "pin", "blocked", "24h"}


def test_letters_keep_their_vowel_signs_and_accents() -> None:
    """Words of Hindi, Thai and others fell into single letters."""
    assert words_in_order("मेरा कार्ड, ที่ไหน? cafe\u0301s") == ["मेरा", "कार्ड", "ที่ไหน", "cafe\u0301s"]
    assert words_in_order("می‌خواهم ❤️ בַּיִת") == ["می‌خواهم", "בַּיִת"]


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


def test_words_that_most_intents_use_speak_for_none() -> None:
    """The name are_you_a_bot was said to mislead about every text with an "a" in it."""
    intents = ["refund", "parcel", "music", "taxi", "hotel", "flight", "visa", "loan"]
    intents.append("are_you_a_bot")
    texts = [f"I need a thing number {n}" for n in range(5)]
    texts += [f"my number is {n}" for n in range(5, 8)] + ["is it a machine"]
    idle = idle_words(texts, intents)
    assert idle == {"a", "i", "need", "thing", "number"}  # of six, five, five, five and eight of 9
    all_words = select_borderline(texts, intents, intents)
    assert {one.row for one in all_words.selected if "are_you_a_bot" in one.shared} == set(range(5))
    assert select_borderline(texts, intents, intents, idle).rows == []
    assert "number" not in idle_words(texts[:3], intents[:3])  # of few intents most is soon reached
