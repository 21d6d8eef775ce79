"""Batches of the texts that wait, one after the other, and refusal where too many wait."""

import asyncio
import math
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Protocol

from core.types import Prediction

Predict = Callable[[Sequence[str]], list[Prediction]]

_BATCH = 64
_LOOK = 0.01
"""Seconds between two looks whether all is answered."""
_MEMORY = 0.8
"""Weight of the earlier rate of texts when a batch is done."""


class TooManyWaitingError(Exception):
    """More texts would wait than may; `seconds` is after how long to ask again, at least 1."""

    def __init__(self, seconds: int) -> None:
        super().__init__(f"ask again in {seconds} s")
        self.seconds = seconds


class BatchSpans(Protocol):
    """What traces batches."""

    def mark(self) -> object:
        """Return what stands for the request that is being answered."""

    def batch(self, marks: Sequence[object], texts: int) -> AbstractContextManager[None]:
        """Surround the answering of some texts for these requests."""


@dataclass(slots=True, eq=False)
class _Asked:
    texts: Sequence[str]
    done: "asyncio.Future[list[Prediction]]"
    mark: object


@dataclass(slots=True)
class BatchCounts:
    """Batches answered, and the texts in them; those of the next model go on from here."""

    batches: int = 0
    texts: int = 0


@dataclass(slots=True, eq=False)
class Batcher:
    """Answers texts of many requests together; used by one event loop.

    While one batch is computed in the one computing thread, requests wait and become the next one.

    Attributes:
        predict: Answers texts; called by one thread at a time.
        most_waiting: Texts that may wait, with those that are being answered.
        spans: Traces the batches; None where nobody asked for it.
        done: What was answered.
        waiting: Texts that wait or are being answered.
    """

    predict: Predict
    most_waiting: int
    spans: BatchSpans | None = None
    done: BatchCounts = field(default_factory=BatchCounts)
    waiting: int = 0
    _rate: float = 100.0
    _queue: deque[_Asked] = field(default_factory=deque)
    _wake: asyncio.Event = field(default_factory=asyncio.Event)
    _thread: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(1, thread_name_prefix="answers")
    )
    _loop: "asyncio.Task[None] | None" = None

    async def answer(self, texts: Sequence[str]) -> list[Prediction]:
        """Answer texts in their order, together with those of other requests.

        Raises:
            TooManyWaitingError: Others wait, and they do not fit beside these.
        """
        # One request alone is bounded by the server: refused once, it would be refused for ever.
        if self.waiting and self.waiting + len(texts) > self.most_waiting:
            raise TooManyWaitingError(self.seconds_to_wait)
        loop = asyncio.get_running_loop()
        parts = [texts[at : at + _BATCH] for at in range(0, len(texts), _BATCH)]
        mark = None if self.spans is None else self.spans.mark()
        queued = [_Asked(part, loop.create_future(), mark) for part in parts]
        self._queue.extend(queued)
        self.waiting += len(texts)
        self._wake.set()
        answers = await asyncio.gather(*(one.done for one in queued))
        return [answer for part in answers for answer in part]

    @property
    def seconds_to_wait(self) -> int:
        """After how many seconds those that wait now are answered, at least 1."""
        return max(1, math.ceil(self.waiting / self._rate))

    def start(self) -> None:
        """Begin to answer."""
        self._loop = asyncio.get_running_loop().create_task(self._work())

    async def finish(self) -> None:
        """Answer all that still waits, then end; nothing new may come."""
        while self.waiting:
            await asyncio.sleep(_LOOK)
        await self.stop()

    async def stop(self) -> None:
        """End, and refuse what still waits."""
        if self._loop is not None:
            self._loop.cancel()
            await asyncio.gather(self._loop, return_exceptions=True)
        for one in self._queue:
            one.done.cancel()
        self._thread.shutdown(wait=True)

    async def _work(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            while self._queue:
                await self._answer(self._next())

    def _next(self) -> list[_Asked]:
        """Take what fits into a batch, the first to come first; at least one."""
        taken = [self._queue.popleft()]
        size = len(taken[0].texts)
        while self._queue and size + len(self._queue[0].texts) <= _BATCH:
            taken.append(self._queue.popleft())
            size += len(taken[-1].texts)
        return taken

    async def _answer(self, batch: list[_Asked]) -> None:
        wanted = [one for one in batch if not one.done.done()]  # whoever has gone needs no answer
        texts = [text for one in wanted for text in one.texts]
        began = time.perf_counter()
        try:
            with self._span(wanted, len(texts)):
                found = iter(await self._computed(texts) if texts else [])
            for one in wanted:
                part = [next(found) for _ in one.texts]
                if not one.done.done():
                    one.done.set_result(part)
        except Exception as error:  # noqa: BLE001 - each request gets it; the next batch goes on
            for one in wanted:
                if not one.done.done():
                    one.done.set_exception(error)
        finally:
            self.waiting -= sum(len(one.texts) for one in batch)
        self.done.batches += 1
        self.done.texts += len(texts)
        rate = len(texts) / max(time.perf_counter() - began, 1e-6)
        self._rate = _MEMORY * self._rate + (1 - _MEMORY) * rate

    def _span(self, wanted: Sequence[_Asked], texts: int) -> AbstractContextManager[None]:
        if self.spans is None or not texts:
            return nullcontext()
        return self.spans.batch([one.mark for one in wanted], texts)

    async def _computed(self, texts: Sequence[str]) -> list[Prediction]:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, self.predict, texts)
