import threading
import time

import pytest

from app.services.cache import Cache


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
