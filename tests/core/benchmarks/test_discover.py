"""The simulated designer sees only shown texts, and pays for each look and each removal."""

import json
from pathlib import Path

import numpy as np
import pytest

from app.cli import main
from core.benchmarks.discover import Designer, agreement, work
from core.discover.showing import show
from tests.builders.toy_embeddings import clusters

NOBODY = np.zeros(12, dtype=bool)
GROUP = show(np.arange(12), np.ones(12, dtype=np.float32), 0.6)


def test_a_pure_group_costs_a_look_and_one_decision_for_each_removal() -> None:
    designer = Designer(np.array([1] * 10 + [0, 2]), NOBODY)
    designer.look_at(GROUP)
    assert (designer.done.decisions, designer.done.groups) == (3, 1)
    assert designer.done.taken.labelled.tolist() == [True] * 10 + [False] * 2


def test_a_mixed_group_costs_a_look_and_labels_nothing() -> None:
    designer = Designer(np.array([1] * 9 + [0, 2, 3]), NOBODY)
    designer.look_at(GROUP)
    assert (designer.done.decisions, designer.done.looked, designer.done.groups) == (1, 1, 0)
    assert not designer.done.taken.labelled.any()


def test_the_designer_never_exceeds_the_decisions_and_known_labels_stay() -> None:
    toy = clusters(6, 60, 0.5, seed=5)
    known = np.arange(360) % 10 == 0
    done = work(toy.rows, toy.columns, known, 20)
    assert 0 < done.decisions <= 20
    assert (done.taken.columns[known] == toy.columns[known]).all()


def test_hidden_labels_of_texts_that_are_not_shown_change_nothing() -> None:
    toy = clusters(4, 100, 0.3, seed=6)
    nobody = np.zeros(400, dtype=bool)
    done = work(toy.rows, toy.columns, nobody, 6)
    unseen = done.taken.labelled & ~done.taken.seen
    assert unseen.any()
    changed = toy.columns.copy()
    changed[unseen] = 3 - changed[unseen]
    again = work(toy.rows, changed, nobody, 6)
    assert again.taken.columns.tolist() == done.taken.columns.tolist()


def test_the_right_intents_agree_with_themselves() -> None:
    toy = clusters(4, 20, 1.5, seed=7)
    figures = agreement(toy.rows, toy.columns, toy.columns, 0)
    assert (figures["ari"], figures["nmi"]) == (100.0, 100.0)
    assert figures["kmeans_ari"] < 100.0
    assert 0.0 < figures["groups_ari"] < 100.0


def test_the_command_prints_its_figures_and_refuses_what_is_no_share(
    labelled_csv: Path, tiny_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["bench", "discover", "--texts", str(labelled_csv), "--base", str(tiny_path)]
    assert main([*words, "--known", "0.2", "--decisions", "30", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {"decisions", "labelled_share", "right_share", "intents_found", "ari"} <= found.keys()
    assert {"nmi", "kmeans_ari", "seconds", "peak_mb"} <= found.keys()
    assert 0.0 <= found["groups_nmi"] <= 100.0
    assert -100.0 <= found["groups_ari"] <= 100.0
    assert main([*words, "--known", "1"]) == 2
    assert "--known 0.1" in capsys.readouterr().err
    assert main([*words, "--decisions", "0"]) == 2
