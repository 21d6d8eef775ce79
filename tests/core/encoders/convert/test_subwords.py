"""Subwords: the longest prefix again and again, and buckets for what is in none."""

import zlib

import pytest

from core.encoders.convert.subwords import Subwords
from core.encoders.convert.vocabulary import learn_pieces

SUBWORDS = Subwords(("re", "ref", "##und", "##u", "##n", "##d", "a", ".", "##s"), buckets=7)


def pieces(text: str, longest: int = 50) -> list[str]:
    ids = SUBWORDS.ids(text, longest)
    return [SUBWORDS.pieces[i] if i < len(SUBWORDS.pieces) else f"<{i}>" for i in ids]


def test_the_longest_prefix_is_taken_from_left_to_right() -> None:
    assert pieces("Refund") == ["ref", "##und"]
    assert pieces("A refunds.") == ["a", "ref", "##und", "##s", "."]
    assert pieces("a  a.a") == ["a", "a", ".", "a"]


def test_a_character_in_no_subword_goes_to_a_bucket_and_the_rest_goes_on() -> None:
    bucket = 9 + zlib.crc32("ß".encode()) % 7
    assert SUBWORDS.ids("refßund", 50) == [1, bucket, 2]
    assert SUBWORDS.ids("ß", 50) == [bucket]
    assert 9 <= SUBWORDS.ids("", 50)[0] < 16
    assert SUBWORDS.ids("", 50) == SUBWORDS.ids(" \n", 50)


def test_long_texts_are_cut() -> None:
    assert pieces("a " * 100, longest=3) == ["a"] * 3
    assert pieces("a refund", longest=2) == ["a", "ref"]


def test_a_vocabulary_is_learned_from_texts() -> None:
    texts = ["Refund the order", "refund my money", "the order 1234567 is late"] * 20
    learned = learn_pieces(texts, size=120)
    assert learned == learn_pieces(texts, size=120)
    assert {"refund", "order", "the"} <= set(learned)
    assert len(set(learned)) == len(learned) <= 120
    assert all(mark + sign in learned for mark in ("", "##") for sign in "refundtholamyis1234567")
    assert not any("12345" in piece for piece in learned)
    subwords = Subwords(learned, buckets=3)
    assert max(subwords.ids("refund 1234567 order", 50)) < len(learned)


@pytest.mark.parametrize("text", ["naïve café", "你好", "🙂 hello", "it's 1,000.50 $"])
def test_any_text_has_ids(text: str) -> None:
    ids = SUBWORDS.ids(text, 50)
    assert ids == SUBWORDS.ids(text, 50)
    assert all(0 <= number < 16 for number in ids)
