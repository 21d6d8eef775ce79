"""A round of labels is worth the answers that it puts right."""

import numpy as np
import pytest

from app.services.home.cards import load_cards
from app.services.live import pool as pools
from app.services.live.live_studio import open_live_studio
from app.services.live.pool import Pool, answered_badly
from app.services.studio import Studio
from tests.builders.trained_home import POOL, change


def test_a_text_counts_with_its_chance_of_a_wrong_answer_and_whole_without_one(
    home: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = open_live_studio(home).pools.wait(1)
    assert isinstance(pool, Pool)
    assert pool.worth is not None
    wrong = 1.0 - pool.probabilities.max(1)
    wrong[pool.outside] = 1.0
    assert pool.answered_badly == round(float(wrong.sum()))
    monkeypatch.setattr(pools, "NEXT", 1)
    assert answered_badly(pool, pool.worth) == round(float(wrong[np.argmax(pool.worth)]))


def test_the_start_page_tells_no_number_of_texts_that_are_labelled_by_now(home: Studio) -> None:
    """Home said that 15 of the next 3 texts are answered wrongly: it counted labelled ones."""
    live_studio = open_live_studio(home)
    pool = live_studio.pools.wait(1)
    assert pool is not None
    assert pool.answered_badly
    [card] = load_cards(live_studio)
    assert f"about {pool.answered_badly} of them wrongly" in card.next.reason
    change(home, POOL[0], "flagged", "odd")
    [card] = load_cards(live_studio)
    assert "of them wrongly" not in card.next.reason
