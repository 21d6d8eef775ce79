import numpy as np
import pytest
import torch

from core.heads.build import head_from_arrays, head_to_arrays
from core.heads.perceptron import fit_mlp, smoothed
from core.recipes.heads import MlpConfig
from tests.builders.toy_embeddings import clusters

TOY = clusters(4, 10, spread=0.6, seed=0)
TEXTS = clusters(4, 20, spread=0.6, seed=1)
CONFIG = MlpConfig(hidden=64, epochs=200)
SMALL = MlpConfig(hidden=8, epochs=2)


def test_the_defaults_are_those_of_the_paper() -> None:
    config = MlpConfig()
    assert (config.hidden, config.dropout, config.smoothing) == (512, 0.4, 0.95)
    assert (config.epochs, config.batch_size, config.learning_rate) == (600, 32, 3e-3)
    assert config.weight_decay == 0.02


def test_smoothing_gives_to_others_what_it_takes_from_the_labels() -> None:
    """Equation 1: 0.95 for each label, 0.05 M / intents for the rest; no intent stays none."""
    found = smoothed(np.array([[1.0, 1, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0]]), 0.95)
    expected = [[0.95, 0.95, 0.025, 0.025], [0.0125, 0.95, 0.0125, 0.0125], [0, 0, 0, 0]]
    np.testing.assert_allclose(found, expected)
    np.testing.assert_array_equal(smoothed(TOY.targets, 1.0), TOY.targets)


def test_the_same_labels_give_the_same_network_and_chance_elsewhere_stays() -> None:
    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    one, other = (fit_mlp(TOY.rows, TOY.targets, TOY.intents, SMALL) for _ in range(2))
    np.testing.assert_array_equal(torch.rand(3), expected)
    np.testing.assert_array_equal(one.scores(TEXTS.rows), other.scores(TEXTS.rows))
    seeded = fit_mlp(TOY.rows, TOY.targets, TOY.intents, SMALL.model_copy(update={"seed": 1}))
    assert not np.array_equal(seeded.scores(TEXTS.rows), one.scores(TEXTS.rows))


def test_it_finds_both_intents_of_texts_that_lie_between_two_and_none_where_none_is() -> None:
    between = TOY.rows[TOY.columns == 0] + TOY.rows[TOY.columns == 1]
    elsewhere = clusters(5, 10, spread=0.6, seed=3)
    nothing = elsewhere.rows[elsewhere.columns == 4]
    rows = np.vstack([TOY.rows, between, nothing]).astype(np.float32)
    targets = np.vstack([TOY.targets, np.tile([1.0, 1, 0, 0], (10, 1)), np.zeros((10, 4))])
    head = fit_mlp(rows, targets, TOY.intents, CONFIG)
    assert ((head.scores(rows) >= 0.3) == (targets > 0)).all(1).mean() > 0.95
    fresh = clusters(5, 20, spread=0.6, seed=4)
    assert (head.scores(fresh.rows[fresh.columns == 4]) < 0.3).all(1).mean() > 0.9


def test_scores_are_those_of_torch_and_do_not_depend_on_how_many_are_asked() -> None:
    head = fit_mlp(TOY.rows, TOY.targets, TOY.intents, SMALL)
    hidden = torch.relu(torch.from_numpy(TEXTS.rows @ head.inner + head.inner_offsets))
    expected = torch.sigmoid(
        hidden @ torch.from_numpy(head.outer) + torch.tensor(head.outer_offsets)
    )
    np.testing.assert_allclose(head.scores(TEXTS.rows), expected.numpy(), atol=1e-6)
    alone = head.scores(3.0 * TEXTS.rows[:1])
    np.testing.assert_allclose(alone, head.scores(TEXTS.rows)[:1], atol=1e-6)


def test_it_is_stored_bit_for_bit() -> None:
    head = fit_mlp(TOY.rows, TOY.targets, TOY.intents, SMALL)
    again = head_from_arrays(*head_to_arrays(head))
    np.testing.assert_array_equal(again.scores(TEXTS.rows), head.scores(TEXTS.rows))


@pytest.mark.parametrize("smoothing", [0.5, 1.5])
def test_a_smoothing_that_makes_no_sense_is_refused(smoothing: float) -> None:
    with pytest.raises(ValueError, match="smoothing"):
        MlpConfig(smoothing=smoothing)
