import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, f1_score, precision_recall_fscore_support

from core.metrics.multi_label import multi_label_report

NAMES = ["card", "loan", "pin", "why"]
labels = st.sets(st.sampled_from(NAMES))


@settings(deadline=None, max_examples=80)
@given(st.lists(st.tuples(labels, labels), min_size=1, max_size=30))
def test_figures_are_those_of_scikit_learn(pairs: list[tuple[set[str], set[str]]]) -> None:
    actual, predicted = zip(*pairs, strict=True)
    report = multi_label_report(actual, predicted)
    assume(len(report.intents) > 1)  # scikit-learn takes a single column for yes and no
    names = [one.intent for one in report.intents]
    truth, answer = (
        np.array([[name in label for name in names] for label in side]).astype(int)
        for side in (actual, predicted)
    )
    assert report.n == len(pairs)
    assert report.exact == pytest.approx(accuracy_score(truth, answer))
    micro = f1_score(truth, answer, average="micro", zero_division=0)
    assert report.micro_f1 == pytest.approx(micro)
    if (has_text := truth.any(0)).any():
        macro = f1_score(truth, answer, average=None, zero_division=0)[has_text].mean()
        assert report.macro_f1 == pytest.approx(macro)
    expected = precision_recall_fscore_support(truth, answer, average=None, zero_division=0)
    found = [(q.precision, q.recall, q.f1, q.support) for q in report.intents]
    np.testing.assert_allclose(np.array(found).T, expected)


def test_texts_without_intent_count_among_the_exact_answers() -> None:
    actual, predicted = [(), (), ("card",), ("card", "pin")], [(), ("pin",), ("card",), ("card",)]
    report = multi_label_report(actual, predicted)
    assert report.exact == 0.5
    assert (report.n_without, report.without_recall) == (2, 0.5)
    assert report.micro_f1 == pytest.approx(2 * 2 / (3 + 3))
    assert report.macro_f1 == pytest.approx((1.0 + 0.0) / 2)
    assert multi_label_report([(), ("card",)], [("pin",), ("card",)]).macro_f1 == 1.0


def test_no_text_is_refused() -> None:
    with pytest.raises(ValueError, match="no texts"):
        multi_label_report([], [])
    with pytest.raises(ValueError, match="zip"):
        multi_label_report([()], [])
