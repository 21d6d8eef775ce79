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
    assert terms[1][0] == "refund"
    assert name_of(terms[1]).startswith("refund")


def test_no_word_stands_twice_in_a_name() -> None:
    for terms in group_terms(TEXTS, np.array([0, 0, 0, 1, 1, 1]), 2):
        words = [word for term in terms for word in term.split()]
        assert len(words) == len(set(words))


def test_texts_without_words_and_empty_groups_have_no_name() -> None:
    terms = group_terms(("!!", "??"), np.array([0, 0]), 2)
    assert [name_of(some) for some in terms] == ["", ""]
    assert group_terms(("hello there",), np.array([0]), 1)[0] == ("hello", "there")
