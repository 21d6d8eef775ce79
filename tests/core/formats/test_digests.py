"""Millions of texts are known again in eight bytes for each."""

import random
import tracemalloc

import numpy as np

from core.formats import digests
from core.formats.digests import Seen, digest


def test_it_answers_as_a_set_does(monkeypatch) -> None:
    monkeypatch.setattr(digests, "_RECENT", 7)
    chance = random.Random(0)
    numbers = [chance.choice((0, 5, 2**63, 2**64 - 1, chance.randrange(60))) for _ in range(500)]
    known = np.array([3, 2**63, 9], np.uint64)
    met, expected = Seen([known]), {3, 2**63, 9}
    for number in numbers:
        assert met.add(number) is (number not in expected)
        expected.add(number)
    assert met.added().tolist() == sorted(expected - {3, 2**63, 9})
    assert met.added().dtype == np.uint64


def test_many_texts_take_little_memory() -> None:
    tracemalloc.start()
    met = Seen()
    assert all(met.add(digest(f"text {n}")) for n in range(70_000))
    held = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert not met.add(digest("text 7"))
    assert held < 70_000 * 8 + 1e6
