"""Groups are named by the words that set them apart."""

import numpy as np

from core.discover.naming import group_terms, name_of

TEXTS = (
    "where is my parcel",
    "my parcel is late",
    "track my parcel please",
    "I want a refund",
    "refund my order please",
    "when do I get the refund",
)


def test_a_word_of_one_group_alone_comes_before_words_of_all() -> None:
    terms = group_terms(TEXTS, np.array([0, 0, 0, 1, 1, 1]), 2)
    assert "parcel" in terms[0][0]
    assert "refund" in name_of(terms[1])


def test_a_name_is_in_the_order_in_which_people_speak() -> None:
    """Groups were called “declined card” and “alarm set”."""
    texts = ("my card was declined", "the card is declined again", "why declined, my card", "hello")
    [terms, _] = group_terms(texts, np.array([0, 0, 0, 1]), 2)
    assert name_of(terms) == "card declined"


def test_two_common_words_are_no_name() -> None:
    """A group of applications was called “for a”."""
    asked = [f"apply for a {thing}" for thing in ("card", "loan", "job")]
    others = ["is it for me", "what for", "give me a cat", "a dog", "a bird for him", "for her"]
    [terms, _] = group_terms([*asked, *others], np.array([0] * 3 + [1] * 6), 2)
    assert terms[0] == "apply" or terms[1] == "apply"
    assert "for a" not in terms[:2]


def test_no_word_stands_twice_in_a_name() -> None:
    for terms in group_terms(TEXTS, np.array([0, 0, 0, 1, 1, 1]), 2):
        words = [word for term in terms for word in term.split()]
        assert len(words) == len(set(words))


def test_texts_without_words_and_empty_groups_have_no_name() -> None:
    terms = group_terms(("!!", "??"), np.array([0, 0]), 2)
    assert [name_of(some) for some in terms] == ["", ""]
    assert group_terms(("hello there",), np.array([0]), 1)[0] == ("hello", "there")
