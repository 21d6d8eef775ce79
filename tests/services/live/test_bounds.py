"""What the server keeps in memory has a bound, however many projects and versions there are."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.services.cache import Belongs
from app.services.live.live_studio import open_live_studio
from app.services.live.models import MOST_PROJECTS
from app.services.live.pool import Pool, ProjectPool
from app.services.review import review
from app.services.studio import Studio
from core import intent_names
from core.intent_names import NameCache
from core.types import FloatArray
from tests.builders.trained_home import train


def test_models_and_pools_of_projects_asked_about_long_ago_are_dropped(home: Studio) -> None:
    """The model and the pool of every project that was ever opened stayed for ever."""
    live_studio = open_live_studio(home)
    models, pools = live_studio.models, live_studio.pools
    model = models.get(1)
    pool = pools.wait(1)
    assert isinstance(pool, Pool)
    for other in range(2, MOST_PROJECTS + 1):
        models._kept(other)
        pools.kept[other] = ProjectPool(pool=pool)
    assert models.get(1) is model  # asked about again, so others are older
    assert pools.get(1) is pool
    for other in range(100, 102):
        models._kept(other)
        pools.kept[other] = ProjectPool(pool=pool)
    pools.get(1)
    assert list(models.kept) == [*range(4, MOST_PROJECTS + 1), 1, 100, 101]
    assert list(pools.kept) == [*range(4, MOST_PROJECTS + 1), 100, 101, 1]


def test_versions_that_answer_no_more_leave_nothing_in_memory(
    home: Studio, tiny_path: Path
) -> None:
    """Each version left its votes and findings behind, until 512 MiB were full."""
    live_studio, now = open_live_studio(home), 0.0
    home.cache.clock = lambda: now
    known, held = list[set[Any]](), list[int]()
    for _ in range(5):
        review.review(live_studio, "p")
        now += 100
        kinds = [part for key in home.cache._entries for part in key if isinstance(part, Belongs)]
        known.append({one.to for one in kinds if one.among == ("version", 1)})
        held.append(home.cache.held_bytes())
        train(home, tiny_path, {"kind": "instant"})
    assert known == [{2}, {2, 3}, {2, 3, 4}, {3, 4, 5}, {4, 5, 6}]
    assert held[4] < 1.05 * held[2]


class _Letters:
    """An encoder whose embedding of a name is its length."""

    dim = 1

    def __init__(self, fingerprint: str) -> None:
        self.fingerprint = fingerprint

    def encode(self, texts: list[str]) -> FloatArray:
        return np.array([[len(text)] for text in texts], np.float32)


def test_names_of_encoders_that_answer_no_more_are_dropped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each tuned version left the embeddings of all names behind."""
    monkeypatch.setattr(intent_names, "_MOST_NAMES", 4)
    monkeypatch.setattr(intent_names, "names_side", lambda encoder: encoder)
    cache, first, second = NameCache(), _Letters("first"), _Letters("second")
    asked: list[tuple[Any, list[str]]] = [(first, ["a", "bb", "ccc"]), (second, ["a", "bb"])]
    for encoder, names in [*asked, (second, ["dddd"])]:
        rows = cache.embed(encoder, names)
        assert rows[:, 0].tolist() == [len(name) for name in names]
    assert {fingerprint for fingerprint, _ in cache._rows} == {"second"}
    assert len(cache._rows) == 3
