"""Texts that crowd beyond chance are a new subject; a rise of an old one is none."""

import numpy as np
import pytest

from core.discover import newness
from core.discover.newness import NONE, new_subjects
from core.nearby import search
from tests.builders.toy_embeddings import clusters


def test_two_new_subjects_are_told_apart_and_most_of_their_texts_found() -> None:
    toy = clusters(12, 80, 0.5, seed=1, dim=32)
    is_old = (toy.columns < 10) & (np.arange(960) % 4 > 0)
    added = np.flatnonzero(~is_old)
    of = new_subjects(toy.rows[added], toy.rows[is_old])
    columns = toy.columns[added]
    assert sorted(set(of.tolist())) == [NONE, 0, 1]
    ten, eleven = (set(of[(columns == c) & (of != NONE)].tolist()) for c in (10, 11))
    assert len(ten) == len(eleven) == 1
    assert ten != eleven
    assert (of[columns >= 10] != NONE).mean() > 0.9
    assert (of[columns < 10] != NONE).mean() < 0.02


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_without_news_none_is_found_in_most_draws(share: float) -> None:
    toy = clusters(8, 60, 0.5, seed=2, dim=24)
    alarms = 0
    for seed in range(20):
        is_added = np.random.default_rng(seed).random(480) < share
        of = new_subjects(toy.rows[is_added], toy.rows[~is_added])
        alarms += bool((of != NONE).any())
    assert alarms <= 1


def test_few_texts_are_no_subject() -> None:
    toy = clusters(4, 50, 0.3, seed=3)
    new = np.tile(-toy.rows.mean(0), (7, 1)).astype(np.float32)
    assert (new_subjects(new, toy.rows) == NONE).all()
    assert (new_subjects(np.repeat(new[:1], 8, 0), toy.rows) == 0).all()
    assert (new_subjects(toy.rows, toy.rows[:0]) == NONE).all()


def test_of_very_many_texts_a_sample_finds_the_subject_and_the_others_join(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    toy = clusters(6, 200, 0.4, seed=4, dim=24)
    is_old = (toy.columns < 5) & (np.arange(1_200) % 2 == 0)
    monkeypatch.setattr(newness, "_MOST", 300)
    monkeypatch.setattr(search, "_CELLS", 7_000)
    of = new_subjects(toy.rows[~is_old], toy.rows[is_old])
    is_new = toy.columns[~is_old] == 5
    assert set(of[is_new].tolist()) == {0}
    assert (of[~is_new] != NONE).mean() < 0.02
