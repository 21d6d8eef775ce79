import numpy as np
import pytest
from sklearn.metrics import f1_score, roc_auc_score, silhouette_score

from core.metrics.calibration import expected_calibration_error
from core.metrics.classification import classification_report
from core.metrics.geometry import alignment, silhouette, uniformity
from core.metrics.out_of_scope import auroc, false_positive_rate


def test_macro_f1_equals_scikit_learn() -> None:
    generator = np.random.default_rng(0)
    actual = [f"i{n}" for n in generator.integers(0, 5, 200)]
    predicted = [a if generator.random() < 0.7 else f"i{generator.integers(0, 6)}" for a in actual]
    report = classification_report(actual, predicted)
    assert report.macro_f1 == pytest.approx(f1_score(actual, predicted, average="macro"))
    assert report.accuracy == pytest.approx(np.mean(np.array(actual) == np.array(predicted)))


def test_confusions_come_most_frequent_first() -> None:
    report = classification_report(["a", "a", "a", "b"], ["b", "b", "a", "a"])
    found = [(c.actual, c.predicted, c.count) for c in report.confusions]
    assert found == [("a", "b", 2), ("b", "a", 1)]


def test_calibration_error_by_hand() -> None:
    """Two bins hold 2 texts each: |0.9 - 0.5| / 2 + |0.1 - 0| / 2 = 0.25."""
    confidences = np.array([0.9, 0.9, 0.1, 0.1])
    correct = np.array([True, False, False, False])
    assert expected_calibration_error(confidences, correct, 2) == pytest.approx(0.25)


def test_geometry_by_hand_and_by_scikit_learn() -> None:
    right_angle = np.array([[2.0, 0.0], [0.0, 3.0]], dtype=np.float32)
    assert uniformity(right_angle) == pytest.approx(-4.0)
    assert alignment(right_angle, ["a", "a"]) == pytest.approx(2.0)
    x = np.random.default_rng(0).normal(size=(30, 4)).astype(np.float32)
    labels = ["a", "b", "c"] * 10
    assert silhouette(x, labels) == pytest.approx(silhouette_score(x, labels, metric="cosine"))
    assert silhouette(x, ["a"] * 30) is None


def test_auroc_equals_scikit_learn_and_counts_ties_half() -> None:
    generator = np.random.default_rng(0)
    inside, outside = generator.normal(1, 1, 50).round(1), generator.normal(0, 1, 40).round(1)
    truth = np.r_[np.ones(50), np.zeros(40)]
    assert auroc(inside, outside) == pytest.approx(roc_auc_score(truth, np.r_[inside, outside]))
    assert auroc(np.ones(3), np.ones(2)) == 0.5


def test_the_false_positive_rate_keeps_the_recall() -> None:
    inside, outside = np.arange(100.0), np.array([-1.0, 4.0, 5.0, 50.0])
    assert false_positive_rate(inside, outside, 0.95) == pytest.approx(0.5)
