"""What every head promises, on each of them."""

from typing import get_args

import numpy as np
import pytest

from core.heads.base import Head
from core.heads.build import fit_head
from core.recipes.heads import (
    HeadConfig,
    LinearConfig,
    MlpConfig,
    NamesConfig,
    NeighboursConfig,
    PrototypesConfig,
    VotesConfig,
)
from tests.builders.toy_embeddings import clusters

TOY = clusters(5, 8, spread=0.6, seed=0)
TEXTS = clusters(5, 12, spread=0.6, seed=1)
CONFIGS: list[HeadConfig] = [
    VotesConfig(),
    VotesConfig(max_exemplars=15),
    NeighboursConfig(),
    NeighboursConfig(k=5),
    PrototypesConfig(),
    LinearConfig(),
    MlpConfig(hidden=64, epochs=60),
    NamesConfig(),
]

every_head = pytest.mark.parametrize("config", CONFIGS, ids=lambda c: c.kind)


def fitted(config: HeadConfig) -> Head:
    names = np.stack([TOY.rows[TOY.columns == column].mean(0) for column in range(5)])
    return fit_head(config, TOY.rows, TOY.targets, TOY.intents, names)


def test_every_kind_of_head_in_the_recipes_is_held_to_this_contract() -> None:
    union, *_ = get_args(HeadConfig)
    assert {type(config) for config in CONFIGS} == set(get_args(union))


@every_head
def test_a_head_scores_each_intent_in_its_order(config: HeadConfig) -> None:
    head = fitted(config)
    scores = head.scores(TEXTS.rows)
    assert (head.kind, head.intents) == (config.kind, TOY.intents)
    assert scores.shape == (60, 5)
    assert scores.dtype == np.float64
    assert np.isfinite(scores).all()


@every_head
def test_a_head_answers_texts_near_an_intent_with_it(config: HeadConfig) -> None:
    assert (fitted(config).scores(TEXTS.rows).argmax(1) == TEXTS.columns).mean() > 0.9


@every_head
def test_a_head_normalises_embeddings_itself(config: HeadConfig) -> None:
    head = fitted(config)
    np.testing.assert_allclose(head.scores(TEXTS.rows * 17), head.scores(TEXTS.rows), atol=1e-4)


@every_head
def test_a_text_scores_the_same_alone_and_among_others(config: HeadConfig) -> None:
    head = fitted(config)
    alone = np.concatenate([head.scores(TEXTS.rows[row : row + 1]) for row in range(60)])
    np.testing.assert_allclose(alone, head.scores(TEXTS.rows), atol=1e-10)


@every_head
def test_no_text_gives_no_scores(config: HeadConfig) -> None:
    assert fitted(config).scores(np.zeros((0, 12), np.float32)).shape == (0, 5)


@every_head
def test_fitting_twice_gives_bit_for_bit_the_same_scores(config: HeadConfig) -> None:
    np.testing.assert_array_equal(
        fitted(config).scores(TEXTS.rows), fitted(config).scores(TEXTS.rows)
    )


@every_head
def test_fitting_changes_neither_embeddings_nor_targets(config: HeadConfig) -> None:
    rows, targets = TOY.rows.copy(), TOY.targets.copy()
    fit_head(config, rows, targets, TOY.intents, TOY.rows[:5])
    np.testing.assert_array_equal(rows, TOY.rows)
    np.testing.assert_array_equal(targets, TOY.targets)
