"""The simulated designer sees only shown texts, and pays for each look and each removal."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from app.cli import main
from core.benchmarks import discover
from core.benchmarks.discover import (
    Designer,
    agreement,
    crowd_figures,
    discover_figures,
    repeated,
    work,
)
from core.benchmarks.inputs import LabelledTexts
from core.discover.grouping import Grouping
from core.discover.joining import join
from core.discover.showing import show
from core.vectors import unit_rows
from tests.builders.toy_embeddings import Toy, cloud, clusters

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


class CountingEncoder:
    """Embeds all texts of a toy, and counts how often it was asked."""

    def __init__(self, toy: Toy) -> None:
        self.toy = toy
        self.asked = 0

    def encode(self, texts: Sequence[str], progress: object = None) -> np.ndarray:
        self.asked += 1
        assert len(texts) == len(self.toy.rows)
        return self.toy.rows


def texts_of(toy: Toy) -> LabelledTexts:
    said = tuple(f"text {row}" for row in range(len(toy.rows)))
    return LabelledTexts(said, tuple(toy.intents[column] for column in toy.columns))


def test_the_page_s_number_of_groups_is_judged_beside_that_of_the_decisions() -> None:
    """The designer had 52 groups of these texts, and nobody else: the page makes 20."""
    encoder = CountingEncoder(clusters(4, 100, 0.3, seed=6))
    found = discover_figures(texts_of(encoder.toy), encoder, 0.0, 60, 0)
    assert encoder.asked == 1
    assert found["page_groups"] == 20  # the root of 400
    assert 10 < int(str(found["page_decisions"])) <= 20  # each group is of one intent
    assert int(str(found["page_decisions"])) < int(str(found["decisions"])) <= 60
    assert (found["page_labelled_share"], found["page_right_share"]) == (0.8, 1.0)
    assert found["page_intents_found"] == 4


def test_beside_known_labels_the_page_makes_more_groups() -> None:
    encoder = CountingEncoder(clusters(4, 100, 0.3, seed=6))
    found = discover_figures(texts_of(encoder.toy), encoder, 0.1, 60, 0)
    assert found["known"] == 40
    assert found["page_groups"] == 38  # twice the root of 360


def test_groups_of_the_page_that_are_all_mixed_label_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(discover, "usual_groups", lambda n_texts, has_labels: 1)
    encoder = CountingEncoder(clusters(4, 100, 0.3, seed=6))
    found = discover_figures(texts_of(encoder.toy), encoder, 0.0, 60, 0)
    assert found["right_share"] == 1.0
    assert (found["page_groups"], found["page_decisions"]) == (1, 1)
    assert (found["page_labelled_share"], found["page_right_share"]) == (0.0, None)
    assert found["page_intents_found"] == 0


def test_the_command_prints_its_figures_and_refuses_what_is_no_share(
    labelled_csv: Path, tiny_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["bench", "discover", "--texts", str(labelled_csv), "--base", str(tiny_path)]
    assert main([*words, "--known", "0.2", "--decisions", "30", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {"decisions", "labelled_share", "right_share", "intents_found", "ari"} <= found.keys()
    assert {"nmi", "kmeans_ari", "seconds", "peak_mb"} <= found.keys()
    page = {"page_groups", "page_decisions", "page_labelled_share", "page_right_share"}
    assert page | {"page_intents_found"} <= found.keys()
    assert 0.0 <= found["groups_nmi"] <= 100.0
    assert -100.0 <= found["groups_ari"] <= 100.0
    assert main([*words, "--known", "1"]) == 2
    assert "--known 0.1" in capsys.readouterr().err
    assert main([*words, "--decisions", "0"]) == 2


def test_embeddings_are_repeated_in_turn_each_time_a_little_elsewhere() -> None:
    rows = cloud(3, 12)
    found = repeated(rows, 7, seed=0)
    cosines = found @ unit_rows(rows).T
    assert sorted(np.bincount(cosines.argmax(1)).tolist()) == [2, 2, 3]
    assert (cosines.max(1) > 0.98).all()
    assert len(np.unique(found, axis=0)) == 7
    assert np.allclose(np.linalg.norm(found, axis=1), 1.0)
    assert (repeated(rows, 7, seed=0) == found).all()
    assert len(repeated(rows, 2, seed=0)) == 2


def test_many_texts_are_grouped_as_the_page_does_and_more_move_none_of_them() -> None:
    """The figure of 100,000 texts came from a script that nobody could run again."""
    encoder = CountingEncoder(clusters(4, 25, 0.3, seed=8))
    found = crowd_figures(texts_of(encoder.toy).texts, encoder, 400, 0)
    assert encoder.asked == 1
    assert (found["texts"], found["added"], found["groups"]) == (400, 20, 20)
    assert found["moved_share"] == 0.0


def test_texts_that_change_their_group_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    def moves(grouping: Grouping, *others: object) -> Grouping:
        joined = join(grouping, *others)
        of = joined.of.copy()
        of[:100] += 1
        of[400:] += 1  # added texts had no group before
        return replace(joined, of=of)

    monkeypatch.setattr(discover, "join", moves)
    encoder = CountingEncoder(clusters(4, 25, 0.3, seed=8))
    assert crowd_figures(texts_of(encoder.toy).texts, encoder, 400, 0)["moved_share"] == 0.25


def test_the_command_groups_many_texts_and_refuses_none(
    labelled_csv: Path, tiny_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["bench", "discover", "--texts", str(labelled_csv), "--base", str(tiny_path)]
    assert main([*words, "--many", "120", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["texts"], found["added"], found["moved_share"]) == (120, 6, 0.0)
    assert 1 <= found["groups"] <= 11  # the root of 120; this encoder knows no meaning
    assert {"seconds", "join_seconds"} <= found.keys()
    assert found["peak_mb"] > 0.0
    assert main([*words, "--many", "0"]) == 2
    assert "0 texts form no group." in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main([*words, "--many", "10", "--hide", "1"])
