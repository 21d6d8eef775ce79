"""Planted label errors are counted at the cut of the list; planting none is allowed."""

from dataclasses import replace

import numpy as np
import pytest

from core.benchmarks.inputs import LabelledTexts
from core.benchmarks.label_errors import (
    figures_at_the_cut,
    judge_labels,
    label_error_figures,
    plant,
)
from core.encoders.packed.encoder import TransformerEncoder
from core.errors import InvalidInput
from tests.builders.toy_embeddings import clusters


def test_the_cut_lists_about_as_many_labels_as_are_wrong() -> None:
    toy = clusters(8, 25, 0.4, seed=1)
    for share in (0.0, 0.02, 0.05, 0.1):
        planted = plant(toy.columns, 8, share, seed=3)
        figures = figures_at_the_cut(
            judge_labels(toy.rows, planted.columns, toy.intents), planted.rows
        )
        assert share - 0.01 <= figures["listed"] <= share + 0.03
        assert figures["recall"] >= 0.85
        assert figures["precision"] >= 0.8 or share == 0.0


def test_figures_of_an_empty_list_and_of_no_wrong_label() -> None:
    toy = clusters(3, 10, 0.1, seed=2)
    sure = judge_labels(toy.rows, toy.columns, toy.intents)
    nothing = np.zeros(0, np.int64)
    none = replace(sure, confident=np.zeros(30, dtype=bool))
    assert figures_at_the_cut(none, nothing) == {"listed": 0.0, "precision": 1.0, "recall": 1.0}
    assert figures_at_the_cut(none, np.array([1]))["recall"] == 0.0


def test_the_bench_runs_without_a_planted_error(tiny: TransformerEncoder) -> None:
    texts = tuple(f"{verb} the {thing}" for verb in ("track", "refund") for thing in "abcdef")
    train = LabelledTexts(texts, ("parcel",) * 6 + ("refund",) * 6)
    figures = label_error_figures(train, tiny, 0.0, 0)
    assert (figures["planted"], figures["recall"]) == (0, 1.0)
    assert {
        "listed",
        "precision",
        "recall_at",
        "alone_at_500",
        "right_suggestion",
    } <= figures.keys()
    with pytest.raises(InvalidInput):
        plant(np.zeros(5, np.int64), 1, 0.0, 0)
