"""Texts that differ by a negation, an opposite or a telling word do not contradict each other."""

from core.review.opposites import contrasts_of


def test_an_opposite_and_a_negation_tell_two_texts_apart() -> None:
    texts = ["turn it up", "turn it down", "I do know it", "I don't know it", "turn it round"]
    contrasts = contrasts_of(texts, [(0,), (1,), (2,), (3,), (4,)])
    assert contrasts.opposed(0, 1)
    assert contrasts.opposed(2, 3)
    assert not contrasts.opposed(0, 4)
    assert not contrasts.opposed(0, 2)


def test_one_word_separates_two_labels_where_their_other_texts_bear_it_out() -> None:
    lamps = ["switch the lamp on", "a lamp please", "lamp in the hall", "the lamp again"]
    fans = ["switch the fan on", "a fan please", "fan in the hall", "the fan again"]
    contrasts = contrasts_of([*lamps, *fans], [(0,)] * 4 + [(1,)] * 4)
    assert contrasts.told_apart(0, 4)
    alone = contrasts_of([lamps[0], fans[0]], [(0,), (1,)])
    assert not alone.told_apart(0, 1)  # two labels with one text each bear nothing out


def test_a_word_that_both_labels_use_separates_nothing() -> None:
    texts = ["switch the lamp on", "the lamp", "my lamp", "switch the fan on", "the lamp and fan"]
    contrasts = contrasts_of(texts, [(0,), (0,), (0,), (1,), (1,)])
    assert not contrasts.told_apart(0, 3)
