import threading
import time

import pytest

from app.services.cache import Belongs, Cache


def test_a_value_is_made_once_however_many_threads_ask() -> None:
    cache, made, found = Cache(), [], []

    def make() -> str:
        time.sleep(0.05)
        made.append(1)
        return "value"

    def ask() -> None:
        found.append(cache.get("key", make, len))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == ["value"] * 8
    assert made == [1]


def test_what_was_used_last_stays_when_room_is_short() -> None:
    cache, made = Cache(limit_bytes=25), []

    def ask(key: str) -> None:
        cache.get(key, lambda: made.append(key) or key, lambda _: 10)

    for key in ("a", "b", "a", "c", "a", "b"):
        ask(key)
    assert made == ["a", "b", "c", "b"]


def test_of_a_series_the_newest_values_stay() -> None:
    """Votes of every revision filled 384 MB within two minutes of labelling."""
    cache = Cache()
    for revision in range(10):
        cache.get_newest(("votes", 1), revision, lambda at=revision: at, lambda _: 10)
    cache.get_newest(("votes", 2), 0, lambda: "another version", lambda _: 10)
    assert cache.held_bytes() == 30
    assert [cache.peek(("votes", 1, revision)) for revision in (7, 8, 9)] == [None, 8, 9]
    assert cache.peek(("votes", 2, 0)) == "another version"


class _Versions:
    """A cache that holds what is made of versions, and a clock to set."""

    def __init__(self) -> None:
        self.now = 0.0
        self.cache = Cache(clock=lambda: self.now)
        self.made = list[int]()

    def ask(self, number: int, project: int = 1) -> None:
        key = ("votes", Belongs(("version", project), number), "revision")
        self.cache.get(key, lambda: self.made.append(number), lambda _: 10)

    @property
    def held(self) -> int:
        return self.cache.held_bytes() // 10


def test_values_of_versions_trained_over_go() -> None:
    """Values of versions that no longer answered stayed until 512 MiB were full."""
    versions = _Versions()
    versions.ask(1, project=2)
    versions.cache.get("of no version", lambda: "value", lambda _: 10)
    held = list[int]()
    for number in range(1, 9):
        versions.ask(number)
        versions.now += 100
        held.append(versions.held - 2)
    assert held == [1, 2, 3, 3, 3, 3, 3, 3]
    versions.made.clear()
    for number in (6, 7, 8):
        versions.ask(number)
    assert versions.made == []
    assert versions.cache.peek("of no version") == "value"


def test_two_versions_that_are_compared_stay_beside_the_one_in_use() -> None:
    versions = _Versions()
    for _ in range(5):
        versions.now += 3_600
        for number in (9, 1, 2, 1, 2):
            versions.ask(number)
    assert versions.made == [9, 1, 2]
    versions.now += 3_600
    for number in (10, 1, 2, 10, 1, 2):  # a newer one is in use
        versions.ask(number)
    assert versions.made == [9, 1, 2, 10]
    assert versions.held == 3


def test_versions_that_are_asked_in_turn_stay_however_many() -> None:
    versions = _Versions()
    for _ in range(10):
        for number in range(8):
            versions.now += 5
            versions.ask(number)
    assert versions.made == list(range(8))
    versions.now += 60
    versions.ask(8)
    assert versions.held == 3


def test_a_look_without_computing_keeps_a_version() -> None:
    versions = _Versions()
    for number in range(6):
        versions.now += 100
        versions.ask(number)
        key = ("votes", Belongs(("version", 1), 0), "revision")
        assert key in versions.cache._entries
        versions.cache.peek(key)
    assert versions.held == 3


def test_a_value_larger_than_the_room_is_still_returned() -> None:
    cache = Cache(limit_bytes=5)
    assert cache.get("key", lambda: "x" * 50, len) == "x" * 50


def test_a_failure_is_told_and_tried_again() -> None:
    cache, tries = Cache(), []

    def make() -> int:
        tries.append(1)
        if len(tries) == 1:
            raise OSError("first")
        return 7

    with pytest.raises(OSError, match="first"):
        cache.get("key", make, lambda _: 1)
    assert cache.get("key", make, lambda _: 1) == 7
    cache.forget("key")
    cache.get("key", make, lambda _: 1)
    assert len(tries) == 3
