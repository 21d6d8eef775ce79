"""Put load on a model server: its capacity, a long time below it, a short one at twice of it."""

import asyncio
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np

from app.terminal.measuring.sending import Exchange, Sender
from core.errors import RunFailed

SHARE = 0.8
_AT_ONCE = 256
"""Requests under way while the capacity is measured: several full batches, as when many wait."""
_TOO_MUCH = 2.0
_SPREAD = 5.0
"""Times the median up to which the 99th of 100 requests is in order."""
_STEP = 0.1
"""Seconds to which it is told when a server is back to normal."""
_AFTER = 10.0
_RESIDENT = re.compile(rb"^intent_studio_model_resident_bytes (\S+)$", re.M)


@dataclass(frozen=True, slots=True)
class Steady:
    """What a server did at 80 % of its capacity.

    Attributes:
        errors: Requests without an answer: refused, given up or broken.
        p50_ms: Median milliseconds of a request from when it was due; `p99_ms` likewise.
        first_mb: Mean memory of the server in the first tenth of the time, in MB; `last_mb`
            likewise in the last tenth.
    """

    requests: int
    errors: int
    p50_ms: float
    p99_ms: float
    first_mb: float
    last_mb: float


@dataclass(frozen=True, slots=True)
class Overload:
    """What a server did at twice its capacity.

    Attributes:
        refused: Share of the requests that got 429; of these `without_time` named no time.
        timed_out: Requests given up after ten seconds; `broken` ones got another error.
        p99_ms: Of the requests that were answered.
        back_seconds: From its end, at 80 % again, until 99 of 100 requests of one second take at
            most five times the usual median; None where that did not come.
    """

    requests: int
    refused: float
    without_time: int
    timed_out: int
    broken: int
    p99_ms: float
    back_seconds: float | None


@dataclass(frozen=True, slots=True)
class LoadFigures:
    """What a server bore; requests have one text each, and are answered with votes.

    Attributes:
        capacity: Answers a second, with so many requests under way that each batch is large.
    """

    capacity: float
    steady: Steady
    overload: Overload


@dataclass(slots=True)
class _Memory:
    """Memory of a server over time, as it tells it, in MB of 1,000,000 bytes."""

    port: int
    every: float
    seen: list[float] = field(default_factory=list)

    async def watch(self) -> None:
        while True:
            self.seen.append(await self._now())
            await asyncio.sleep(self.every)

    async def _now(self) -> float:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(b"GET /metrics HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
        found = _RESIDENT.search(await reader.read())
        writer.close()
        if found is None:
            raise RunFailed("The server tells no memory.")
        return float(found[1]) / 1e6


def measure_load(
    port: int, texts: Sequence[str], seconds: float, most_waiting: int = 512
) -> LoadFigures:
    """Load the server at a port of this machine; `seconds` is the time at 80 % of its capacity.

    `most_waiting` texts may wait there: twice the capacity is asked for until they do, and then as
    long again, at least a tenth of `seconds`.
    """
    return asyncio.run(_measure(port, texts, seconds, most_waiting))


async def _measure(
    port: int, texts: Sequence[str], seconds: float, most_waiting: int
) -> LoadFigures:
    sender, at_once = Sender(port, texts), min(_AT_ONCE, most_waiting)
    short = min(max(seconds / 10, 1.0), 20.0)
    await sender.as_fast_as_answered(at_once, short / 2)  # until it is warm
    capacity = await sender.as_fast_as_answered(at_once, short)
    if not capacity:
        raise RunFailed("The server answered nothing.")
    steady = await _steady(sender, capacity * SHARE, seconds)
    filled = most_waiting / capacity / (_TOO_MUCH - 1.0)
    over = await sender.at_rate(capacity * _TOO_MUCH, max(short, 2 * filled))
    after = await sender.at_rate(capacity * SHARE, min(_AFTER, max(seconds, 2.0)))
    sender.close()
    return LoadFigures(round(capacity, 1), steady, _overload(over, after, steady.p50_ms))


async def _steady(sender: Sender, rate: float, seconds: float) -> Steady:
    memory = _Memory(sender.port, max(seconds / 100, 0.05))
    watching = asyncio.create_task(memory.watch())
    sent = await sender.at_rate(rate, seconds)
    watching.cancel()
    with suppress(asyncio.CancelledError):
        await watching
    tenth = max(1, len(memory.seen) // 10)
    p50, p99 = _percentiles(sent)
    return Steady(
        len(sent),
        sum(one.status != 200 for one in sent),
        p50,
        p99,
        round(float(np.mean(memory.seen[:tenth])), 1),
        round(float(np.mean(memory.seen[-tenth:])), 1),
    )


def _overload(over: Sequence[Exchange], after: Sequence[Exchange], usual_ms: float) -> Overload:
    refused = [one for one in over if one.status == 429]
    known = sum(one.status in (200, 429) or one.timed_out for one in over)
    return Overload(
        len(over),
        round(len(refused) / len(over), 4),
        sum(not one.names_time for one in refused),
        sum(one.timed_out for one in (*over, *after)),
        len(over) - known,
        _percentiles([one for one in over if one.status == 200])[1],
        back_after(after, _SPREAD * usual_ms),
    )


def back_after(sent: Sequence[Exchange], most_ms: float) -> float | None:
    """Return from when on, in seconds, 99 of 100 requests of one second are answered in time.

    A request that is refused is not. None if that never comes.
    """
    due = np.array([one.due for one in sent])
    in_time = np.array([one.status == 200 and one.seconds * 1e3 <= most_ms for one in sent])
    for start in np.arange(0.0, max(due.max() - 1.0, 0.0) + _STEP, _STEP):
        of_second = in_time[(due >= start) & (due < start + 1.0)]
        if len(of_second) and of_second.mean() >= 0.99:
            return float(start)
    return None


def _percentiles(sent: Sequence[Exchange]) -> tuple[float, float]:
    """Return the median and the 99th percentile of answered requests, in milliseconds."""
    spent = [one.seconds * 1e3 for one in sent if one.status == 200] or [0.0]
    p50, p99 = np.percentile(spent, (50, 99))
    return round(float(p50), 2), round(float(p99), 2)
