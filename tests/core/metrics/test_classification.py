import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, f1_score, precision_recall_fscore_support

from core.metrics.classification import Confusion, classification_report

names = st.sampled_from(["card", "loan", "rate", "fee"])


@settings(deadline=None, max_examples=50)
@given(st.lists(st.tuples(names, names), min_size=1, max_size=40))
def test_accuracy_and_f1_are_those_of_scikit_learn(pairs: list[tuple[str, str]]) -> None:
    actual, predicted = zip(*pairs, strict=True)
    report = classification_report(actual, predicted)
    assert report.n == len(pairs)
    assert report.accuracy == pytest.approx(accuracy_score(actual, predicted))
    tested = sorted(set(actual))
    macro = f1_score(actual, predicted, labels=tested, average="macro", zero_division=0)
    assert report.macro_f1 == pytest.approx(macro)
    labels = [quality.intent for quality in report.intents]
    expected = precision_recall_fscore_support(
        actual, predicted, labels=labels, average=None, zero_division=0
    )
    found = [(q.precision, q.recall, q.f1, q.support) for q in report.intents]
    np.testing.assert_allclose(np.array(found).T, expected)


def test_confusions_come_most_frequent_first_and_with_their_counts() -> None:
    actual = ["a", "a", "a", "b", "b", "c"]
    predicted = ["b", "b", "a", "a", "c", "c"]
    report = classification_report(actual, predicted)
    assert report.confusions == (
        Confusion("a", "b", 2),
        Confusion("b", "a", 1),
        Confusion("b", "c", 1),
    )


def test_an_intent_without_a_text_counts_in_no_average() -> None:
    """Texts of 14 of 63 intents gave an average of 55.9 %: the 49 others counted as 0."""
    report = classification_report(["a", "a"], ["a", "b"])
    assert [(q.intent, q.support) for q in report.intents] == [("a", 2), ("b", 0)]
    assert report.macro_f1 == 2 / 3


def test_no_texts_and_unequal_numbers_are_refused() -> None:
    with pytest.raises(ValueError, match="no texts"):
        classification_report([], [])
    with pytest.raises(ValueError, match="shorter"):
        classification_report(["a", "b"], ["a"])
