"""What counts as the same text."""

import hashlib
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.characters import storable
from core.text import (
    decimal,
    digits_that_agree,
    free_name,
    is_storable,
    match_key,
    match_keys,
    normalise,
    percent,
    plain_name,
    share_of,
    signed_points,
    size_words,
    text_hash,
    whole_number,
    word_spans,
)

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


@settings(deadline=None, max_examples=50)
@given(texts)
def test_normalising_twice_changes_nothing_more(text: str) -> None:
    assert normalise(normalise(text)) == normalise(text)


@settings(deadline=None, max_examples=50)
@given(texts)
def test_composed_and_decomposed_forms_have_one_hash(text: str) -> None:
    assert text_hash(unicodedata.normalize("NFD", text)) == text_hash(
        unicodedata.normalize("NFC", text)
    )


@settings(deadline=None, max_examples=50)
@given(texts)
def test_the_key_of_a_key_is_the_key(text: str) -> None:
    assert match_key(match_key(text)) == match_key(text)


@settings(deadline=None, max_examples=50)
@given(texts)
def test_texts_with_one_hash_have_one_key(text: str) -> None:
    assert match_key(normalise(text)) == match_key(text)


def test_the_hash_is_that_of_the_stripped_composed_text() -> None:
    assert text_hash("  cafe\u0301\n") == hashlib.sha256("caf\u00e9".encode()).hexdigest()


@pytest.mark.parametrize(
    "other", ["WHERE IS MY CARD", " where  is my card?!", "\uff37here is my card..."]
)
def test_case_width_spaces_and_outer_punctuation_do_not_part_questions(other: str) -> None:
    assert match_key(other) == match_key("Where is my card?")


def test_inner_punctuation_and_punctuation_alone_do_count() -> None:
    assert match_key("it's 1.5") != match_key("its 15")
    assert match_key("?") != match_key("!")
    assert match_key("?") != ""


@pytest.mark.parametrize(
    ("said", "other"),
    [
        ("أين بطاقتي؟", "أين بطاقتي"),
        ("東京に行きたい。", "東京に行きたい"),
        ("मेरा कार्ड कहाँ है।", "मेरा कार्ड कहाँ है"),
        ("\u00abwhere is it\u00bb?", "where is it"),
        ("\u201cWhere is it?\u201d", "where is it"),
        ("\u300c東京\u300d", "東京"),
    ],
)
def test_outer_punctuation_of_other_scripts_does_not_part_questions(said: str, other: str) -> None:
    """A question in Arabic with its mark and without it were two, and a label decided one alone."""
    assert match_key(said) == match_key(other) == other


def test_the_key_of_earlier_releases_comes_first_where_it_was_another_one() -> None:
    assert match_keys("أين بطاقتي؟!") == ("أين بطاقتي؟", "أين بطاقتي")
    assert match_keys("Where is it?") == ("where is it",)
    assert match_keys("؟؟.") == ("؟؟",)  # punctuation alone is kept


def test_percents_round_as_the_pages_do() -> None:
    """A report had said 96.2 % of 616 of 640 texts, and the pages 96.3 %."""
    assert percent(616 / 640, 1) == "96.3 %"
    assert percent(0.125) == "13 %"
    assert percent(1.0, 1) == "100.0 %"


def test_a_share_of_few_texts_is_counted() -> None:
    """A receipt set 100 % of 5 texts as large as 95 % of 300."""
    assert share_of(1.0, 5) == "5 of 5"
    assert share_of(2 / 3, 3) == "2 of 3"
    assert share_of(18 / 19, 19) == "18 of 19"
    assert share_of(19 / 20, 20) == "95 %"


def test_a_negative_figure_has_a_minus_sign_and_zero_has_none() -> None:
    """A hyphen stood before some figures and a minus sign before others."""
    assert decimal(-1.234, 2) == "\N{MINUS SIGN}1.23"
    assert decimal(-0.04, 1) == "0.0"
    assert [signed_points(part) for part in (0.123, -0.123)] == ["+12.3", "\N{MINUS SIGN}12.3"]


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("card\u200b lost", "card lost"),  # zero-width space
        ("\ufeffcard", "card"),  # mark of byte order
        ("\u202edrac\u202c", "drac"),  # turned round: it is shown as "card"
        (" cafe\u0301 ", "caf\u00e9"),
        ("\u0645\u06cc\u200c\u0634", "\u0645\u06cc\u200c\u0634"),  # Persian needs its joiner
        ("\u200b", ""),
    ],
)
def test_a_name_has_no_sign_that_nobody_sees(typed: str, name: str) -> None:
    assert plain_name(typed) == name


@pytest.mark.parametrize(
    ("digits", "number"),
    [
        ("0", 0),
        ("9" * 18, 10**18 - 1),
        *((other, None) for other in ("", " 1", "-1", "1.0", "9" * 19, "9" * 5_000)),
    ],
)
def test_a_number_has_at_most_18_digits(digits: str, number: int | None) -> None:
    assert whole_number(digits) == number


def test_a_name_that_is_taken_gets_the_first_free_number() -> None:
    assert free_name("card", {"parcel"}, "_") == "card"
    assert free_name("card", ["card", "card 3"], " ") == "card 2"
    assert free_name("card", {"card", "card_2", "card_3"}, "_") == "card_4"


@pytest.mark.parametrize(
    ("n_bytes", "words"),
    [
        (0, "0 MB"),
        (412_000, "0.4 MB"),
        (1_000_000, "1 MB"),
        (87_500_000, "87.5 MB"),
        (67_108_864, "67.1 MB"),  # 64 MiB were called "64 MB"
        (2_000_000_000, "2 GB"),
    ],
)
def test_a_megabyte_has_a_million_bytes(n_bytes: int, words: str) -> None:
    assert size_words(n_bytes) == words


def test_a_difference_agrees_with_the_two_shares_beside_it() -> None:
    """88.8 % and 87.8 % stood beside a difference of 0.9 points."""
    before, after = 852 / 960, 843 / 960
    digits = digits_that_agree(before, after)
    told = percent(before, digits), percent(after, digits), signed_points(after - before, digits)
    assert told == ("88.75 %", "87.81 %", "\u22120.94")
    assert digits_that_agree(0.9, 0.88) == 1
    for right in range(961):
        digits = digits_that_agree(before, right / 960)
        shown = [float(percent(share, digits)[:-2]) for share in (right / 960, before)]
        apart = 100 * abs(right / 960 - before)
        assert abs(abs(shown[0] - shown[1]) - apart) <= 0.5 * 10**-digits + 1e-9 or digits == 3


@settings(deadline=None, max_examples=50)
@given(st.text(st.characters() | st.sampled_from("\0\ud800\udfff"), max_size=20))
def test_what_cannot_be_stored_is_replaced_and_nothing_else(text: str) -> None:
    found = storable(text)
    assert is_storable(found)
    assert found.encode().decode() == found
    assert (found == text) is is_storable(text)
    assert len(found) == len(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("I'm  here, now", ["I'm", "here,", "now"]),
        ("東京に行きたい ABC。", ["東", "京", "に", "行", "き", "た", "い", "ABC。"]),
        ("か\u3099っこう", ["か\u3099", "っ", "こ", "う"]),
        ("100บาท", ["100", "บ", "า", "ท"]),
        ("\u0e19\u0e49\u0e33\u0e23\u0e38", ["\u0e19\u0e49\u0e33", "\u0e23\u0e38"]),  # Thai
        ("\u0ea5\u0eb2\u0ea7", ["\u0ea5", "\u0eb2", "\u0ea7"]),  # Lao
        ("\u1019\u103c\u1014\u103a\u1019\u102c", ["\u1019\u103c", "\u1014\u103a", "\u1019\u102c"]),
        ("\u1781\u17d2\u1798\u17c2\u179a", ["\u1781\u17d2\u1798\u17c2", "\u179a"]),  # Khmer
    ],
)
def test_signs_of_scripts_without_white_space_are_words_with_their_marks(
    text: str, words: list[str]
) -> None:
    """A text in Thai was one word, of which no part could be marked or explained."""
    assert [text[start:end] for start, end in word_spans(text)] == words
