import numpy as np
import pytest
from sklearn.metrics import roc_auc_score, roc_curve, silhouette_score

from core.metrics.calibration import expected_calibration_error
from core.metrics.geometry import alignment, silhouette, uniformity
from core.metrics.out_of_scope import auroc, fpr_at_95
from core.metrics.retrieval import recall_at


def test_calibration_error_of_a_case_worked_out_by_hand() -> None:
    """Two bins: |0.25 - 0.5| for two texts, |0.8 - 2/3| for three; (2 x 0.25 + 3 x 0.4/3) / 5."""
    confidences = np.array([0.2, 0.3, 0.7, 0.8, 0.9])
    correct = np.array([True, False, True, True, False])
    found = expected_calibration_error(confidences, correct, bins=2)
    assert found == pytest.approx((2 * 0.25 + 3 * (0.8 - 2 / 3)) / 5)


def test_calibration_error_at_the_ends_of_the_scale() -> None:
    sure = np.ones(4)
    assert expected_calibration_error(sure, np.ones(4, bool)) == 0.0
    assert expected_calibration_error(sure, np.zeros(4, bool)) == 1.0
    assert expected_calibration_error(np.zeros(0), np.zeros(0, bool)) == 0.0


def test_silhouette_is_that_of_scikit_learn_under_cosine_distance() -> None:
    rows = np.random.default_rng(0).normal(size=(40, 6)).astype(np.float32)
    labels = [f"i{row % 4}" for row in range(40)]
    expected = silhouette_score(rows, labels, metric="cosine")
    assert silhouette(rows * 3, labels) == pytest.approx(expected, abs=1e-5)
    uneven = ["alone", *("few" for _ in range(3)), *labels[4:]]
    rows[7] = 0.0  # no direction
    expected = silhouette_score(rows, uneven, metric="cosine")
    assert silhouette(rows, uneven) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("labels", [["a", "a", "a"], ["a", "b", "c"], []])
def test_silhouette_is_not_defined_for_one_intent_or_singletons(labels: list[str]) -> None:
    assert silhouette(np.eye(3, dtype=np.float32)[: len(labels)], labels) is None


def test_uniformity_of_a_case_worked_out_by_hand() -> None:
    """Squared distances of (1,0), (0,1), (-1,0): 2, 4, 2."""
    rows = np.array([[1, 0], [0, 5], [-2, 0]], np.float32)
    expected = np.log((2 * np.exp(-4) + np.exp(-8)) / 3)
    assert uniformity(rows) == pytest.approx(expected, rel=1e-5)


def test_uniformity_is_the_mean_over_distinct_pairs_whatever_the_chunks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = np.random.default_rng(1).normal(size=(30, 5))
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    squared = ((unit[:, None] - unit[None]) ** 2).sum(-1)
    expected = np.log(np.exp(-2 * squared[~np.eye(30, dtype=bool)]).mean())
    monkeypatch.setattr("core.metrics.geometry._CHUNK", 7)
    assert uniformity(rows.astype(np.float32)) == pytest.approx(expected, rel=1e-5)


def test_equal_rows_are_least_uniform() -> None:
    assert uniformity(np.ones((4, 3), np.float32)) == pytest.approx(0.0, abs=1e-6)


def test_alignment_of_a_case_worked_out_by_hand() -> None:
    """Pairs of one intent: a has squared distance 2, b has 4; their mean is 3."""
    rows = np.array([[1, 0], [0, 1], [2, 0], [-1, 0], [0, -1]], np.float32)
    assert alignment(rows, ["a", "a", "b", "b", "c"]) == pytest.approx(3.0, abs=1e-5)


def test_alignment_is_the_mean_over_pairs_of_one_intent() -> None:
    rows = np.random.default_rng(2).normal(size=(20, 4))
    labels = np.array([f"i{row % 3}" for row in range(20)])
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    squared = ((unit[:, None] - unit[None]) ** 2).sum(-1)
    same = (labels[:, None] == labels[None]) & ~np.eye(20, dtype=bool)
    found = alignment(rows.astype(np.float32), labels.tolist())
    assert found == pytest.approx(squared[same].mean(), rel=1e-5)


def test_alignment_without_a_pair_is_zero() -> None:
    assert alignment(np.eye(2, dtype=np.float32), ["a", "b"]) == 0.0


@pytest.mark.parametrize("decimals", [1, 6])
def test_auroc_is_that_of_scikit_learn_with_and_without_ties(decimals: int) -> None:
    generator = np.random.default_rng(0)
    inside = generator.normal(1, 1, 200).round(decimals)
    outside = generator.normal(0, 1, 120).round(decimals)
    truth, scores = np.r_[np.ones(200), np.zeros(120)], np.r_[inside, outside]
    assert auroc(inside, outside) == pytest.approx(roc_auc_score(truth, scores))
    rates, recalls, _ = roc_curve(truth, scores, drop_intermediate=False)
    assert fpr_at_95(inside, outside) == pytest.approx(rates[recalls >= 0.95].min())


def test_scores_that_separate_perfectly_and_scores_that_say_nothing() -> None:
    high, low = np.array([2.0, 3.0]), np.array([0.0, 1.0])
    assert (auroc(high, low), fpr_at_95(high, low)) == (1.0, 0.0)
    assert (auroc(low, high), fpr_at_95(low, high)) == (0.0, 1.0)
    assert (auroc(low * 0, low * 0), fpr_at_95(low * 0, low * 0)) == (0.5, 1.0)


@pytest.mark.parametrize("measure", [auroc, fpr_at_95])
def test_a_missing_side_is_refused(measure: object) -> None:
    with pytest.raises(ValueError, match="need both"):
        measure(np.zeros(0), np.ones(2))
    with pytest.raises(ValueError, match="need both"):
        measure(np.ones(2), np.zeros(0))


def test_recall_counts_the_right_candidate_among_the_first_k() -> None:
    scores = np.array([[0.9, 0.5, 0.1], [0.9, 0.5, 0.1], [0.9, 0.5, 0.1]])
    correct = np.array([0, 1, 2])
    assert [recall_at(scores, correct, k) for k in (1, 2, 3)] == pytest.approx([1 / 3, 2 / 3, 1])


def test_a_scorer_without_an_opinion_earns_nothing() -> None:
    assert recall_at(np.zeros((5, 10)), np.arange(5), 1) == 0.0
    with pytest.raises(ValueError, match="no queries"):
        recall_at(np.zeros((0, 3)), np.zeros(0, int), 1)
