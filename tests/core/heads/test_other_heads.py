import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from core.errors import ArtifactDamaged, InvalidInput
from core.heads.build import fit_head, head_from_arrays, head_to_arrays
from core.heads.decision import fit_calibration, probabilities
from core.heads.honest import honest_scores
from core.recipes import (
    LinearConfig,
    NamesConfig,
    NeighboursConfig,
    PrototypesConfig,
    VotesConfig,
)
from core.vectors import unit_rows

CONFIGS = [
    VotesConfig(),
    NeighboursConfig(),
    NeighboursConfig(k=5),
    PrototypesConfig(),
    LinearConfig(),
    NamesConfig(),
]


def clusters(seed: int = 0, n: int = 60):
    generator = np.random.default_rng(seed)
    labels = generator.integers(0, 3, n)
    centres = np.eye(3, 6) * 3
    x = (centres[labels] + generator.normal(size=(n, 6))).astype(np.float32)
    return x, np.eye(3)[labels], ["a", "b", "c"], centres.astype(np.float32)


@pytest.mark.parametrize("config", CONFIGS, ids=str)
def test_every_head_tells_clear_clusters_apart(config) -> None:
    x, y, names, centres = clusters()
    head = fit_head(config, x, y, names, centres)
    unseen, labels, _, _ = clusters(seed=1)
    assert head.intents == ("a", "b", "c")
    assert (head.scores(unseen).argmax(1) == labels.argmax(1)).mean() > 0.85


@pytest.mark.parametrize("config", CONFIGS, ids=str)
def test_every_head_scores_a_batch_as_its_rows_one_by_one(config) -> None:
    x, y, names, centres = clusters()
    head = fit_head(config, x, y, names, centres)
    one_by_one = np.concatenate([head.scores(row[None]) for row in x[:8]])
    assert head.scores(x[:8]) == pytest.approx(one_by_one, abs=1e-6)


@pytest.mark.parametrize("config", CONFIGS, ids=str)
def test_every_head_is_stored_bit_for_bit(config) -> None:
    x, y, names, centres = clusters()
    head = fit_head(config, x, y, names, centres)
    assert np.array_equal(head_from_arrays(*head_to_arrays(head)).scores(x), head.scores(x))


def test_one_neighbour_answers_with_the_nearest_label() -> None:
    x, y, names, _ = clusters()
    asked = clusters(seed=2)[0]
    nearest = (unit_rows(asked) @ unit_rows(x).T).argmax(1)
    head = fit_head(NeighboursConfig(k=1), x, y, names)
    assert np.array_equal(head.scores(asked).argmax(1), y[nearest].argmax(1))


def test_linear_scores_equal_those_of_scikit_learn() -> None:
    x, y, names, _ = clusters()
    model = LogisticRegression(C=10.0, max_iter=1000).fit(unit_rows(x), y.argmax(1))
    head = fit_head(LinearConfig(), x, y, names)
    assert head.scores(x) == pytest.approx(model.decision_function(unit_rows(x)), abs=1e-5)


def test_linear_takes_two_intents() -> None:
    x, y, names, _ = clusters()
    kept = y.argmax(1) < 2
    head = fit_head(LinearConfig(), x[kept], y[kept], names)
    assert (head.scores(x[kept]).argmax(1) == y[kept].argmax(1)).mean() > 0.9


def test_names_without_names_is_refused() -> None:
    x, y, names, _ = clusters()
    with pytest.raises(InvalidInput, match="needs intent names"):
        fit_head(NamesConfig(), x, y, names, None)


def test_a_stored_head_of_unknown_kind_is_refused() -> None:
    with pytest.raises(ArtifactDamaged, match="'oracle' is not known"):
        head_from_arrays({"kind": "oracle", "intents": ["a"]}, {})


def test_honest_scores_of_prototypes_come_from_folds_that_leave_the_text_out() -> None:
    x, y, names, _ = clusters()
    config = PrototypesConfig()
    head = fit_head(config, x, y, names)
    honest = honest_scores(head, config, x, y)
    assert honest.shape == y.shape
    own = np.take_along_axis(honest, y.argmax(1)[:, None], 1).mean()
    flattered = np.take_along_axis(head.scores(x), y.argmax(1)[:, None], 1).mean()
    assert own < flattered


def test_the_threshold_sends_the_agreed_share_away() -> None:
    generator = np.random.default_rng(0)
    scores = generator.normal(size=(2000, 4))
    targets = np.eye(4)[scores.argmax(1)]
    found = fit_calibration(scores, targets, 0.05)
    assert (scores.max(1) < found.threshold).mean() == pytest.approx(0.05, abs=0.001)


def test_the_temperature_recovers_the_one_that_drew_the_labels() -> None:
    generator = np.random.default_rng(1)
    scores = generator.normal(size=(4000, 5))
    shares = np.exp(scores / 0.5)
    shares /= shares.sum(1, keepdims=True)
    labels = np.array([generator.choice(5, p=row) for row in shares])
    found = fit_calibration(scores, np.eye(5)[labels], 0.05)
    assert found.temperature == pytest.approx(0.5, rel=0.08)
    assert probabilities(scores, found).sum(1) == pytest.approx(np.ones(4000))
