"""Texts that wait together are answered together, and too many are refused with a time."""

import asyncio
import threading
from collections.abc import Coroutine, Sequence
from typing import Any

import pytest

from app.serving.batching import BatchCounts, Batcher, TooManyWaitingError


class Gate:
    """Answers texts by themselves, once it is opened; keeps the batches it got."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.opened = threading.Event()

    def predict(self, texts: Sequence[str]) -> list[Any]:
        self.batches.append(list(texts))
        assert self.opened.wait(10)
        if "bad" in texts:
            raise ValueError("bad")
        return list(texts)


def run(story: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(story, 20))


async def until(condition: Any) -> None:
    while not condition():
        await asyncio.sleep(0.001)


def test_what_comes_during_a_batch_is_the_next_one() -> None:
    async def story() -> None:
        gate = Gate()
        batcher = Batcher(gate.predict, 512)
        batcher.start()
        first = asyncio.ensure_future(batcher.answer(["a"]))
        await until(lambda: gate.batches)
        others = [asyncio.ensure_future(batcher.answer([f"b{n}", "c"])) for n in range(20)]
        large = asyncio.ensure_future(batcher.answer([f"d{n}" for n in range(100)]))
        await until(lambda: batcher.waiting == 141)
        gate.opened.set()
        assert await first == ["a"]
        assert await asyncio.gather(*others) == [[f"b{n}", "c"] for n in range(20)]
        assert await large == [f"d{n}" for n in range(100)]
        assert [len(batch) for batch in gate.batches] == [1, 40, 64, 36]
        assert (batcher.waiting, batcher.done) == (0, BatchCounts(4, 141))
        await batcher.stop()

    run(story())


def test_too_many_waiting_texts_are_refused_and_room_comes_back() -> None:
    async def story() -> None:
        gate = Gate()
        batcher = Batcher(gate.predict, 250)
        batcher.start()
        waiting = asyncio.ensure_future(batcher.answer(["a"] * 250))
        await until(lambda: gate.batches)
        with pytest.raises(TooManyWaitingError) as caught:
            await batcher.answer(["b"])
        assert caught.value.seconds == 3  # 250 texts at the 100 a second of a start
        gate.opened.set()
        await waiting
        assert await batcher.answer(["b"]) == ["b"]
        assert batcher.seconds_to_wait == 1
        await batcher.stop()

    run(story())


def test_a_batch_that_fails_and_a_client_that_leaves_cost_nobody_else_an_answer() -> None:
    async def story() -> None:
        gate = Gate()
        batcher = Batcher(gate.predict, 512)
        batcher.start()
        broken = asyncio.ensure_future(batcher.answer(["bad"]))
        await until(lambda: gate.batches)
        gone, stays = (asyncio.ensure_future(batcher.answer([name])) for name in ("x", "y"))
        await until(lambda: batcher.waiting == 3)
        gone.cancel()
        gate.opened.set()
        with pytest.raises(ValueError, match="bad"):
            await broken
        assert await stays == ["y"]
        assert gate.batches == [["bad"], ["y"]]
        assert batcher.waiting == 0
        await batcher.stop()

    run(story())


def test_a_request_that_is_larger_than_the_queue_is_answered_when_nothing_waits() -> None:
    """It was refused for ever with “ask again in 1 s”, though nothing waited."""

    async def story() -> None:
        gate = Gate()
        gate.opened.set()
        batcher = Batcher(gate.predict, 100)
        batcher.start()
        assert await batcher.answer(["a"] * 200) == ["a"] * 200
        await batcher.stop()

    run(story())
