"""Send requests to a server at a pace of its client's choice, over connections that stay open."""

import asyncio
import json
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

LONGEST_WAIT = 10.0
"""Seconds after which a client gives a request up."""
_MOST_CONNECTIONS = 900
"""Usual systems let a process have 1,024 files open."""
_TIMED_OUT, _BROKEN = 0, -1


class _NothingReadError(EOFError):
    """A connection was closed before a byte of the reply came."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """What came of one request.

    Attributes:
        due: Seconds from the beginning to when the request was to be sent.
        seconds: From then to the end of the reply, so that waiting for a turn counts.
        status: Of the reply; 0 without one in time, -1 where the connection broke.
        names_time: Whether the reply says after how long to ask again.
    """

    due: float
    seconds: float
    status: int
    names_time: bool = False

    @property
    def timed_out(self) -> bool:
        """Whether the client gave it up."""
        return self.status == _TIMED_OUT


@dataclass(slots=True, eq=False)
class Sender:
    """A client with many connections to one server; each request asks for one text, with votes."""

    port: int
    texts: Sequence[str]
    _free: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = field(default_factory=list)
    _bodies: list[bytes] = field(default_factory=list)
    _asked: int = 0
    _turns: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_MOST_CONNECTIONS))

    def __post_init__(self) -> None:
        for text in self.texts:
            body = json.dumps({"text": text}).encode()
            head = (
                f"POST /predict HTTP/1.1\r\nhost: localhost\r\ncontent-length: {len(body)}\r\n\r\n"
            )
            self._bodies.append(head.encode() + body)

    async def at_rate(self, per_second: float, seconds: float) -> list[Exchange]:
        """Send requests evenly, whether earlier ones are answered or not; return them as due."""
        began = time.perf_counter()
        sent: list[Exchange] = []

        async def send(due: float) -> None:
            sent.append(await self._send(began, due))

        # The group holds the tasks under way alone. With all of them kept, the garbage collector
        # stopped this client ever longer, and its pauses were counted as the server's.
        async with asyncio.TaskGroup() as under_way:
            for number in range(max(1, round(per_second * seconds))):
                due = number / per_second
                ahead = due - (time.perf_counter() - began)
                if ahead > 0:
                    await asyncio.sleep(ahead)
                under_way.create_task(send(due))
        return sorted(sent, key=lambda one: one.due)

    async def as_fast_as_answered(self, at_once: int, seconds: float) -> float:
        """Keep so many requests under way; return the answers a second."""
        began = time.perf_counter()

        async def one_after_another() -> int:
            answered = 0
            while (due := time.perf_counter() - began) < seconds:
                answered += (await self._send(began, due)).status == 200
            return answered

        counts = await asyncio.gather(*(one_after_another() for _ in range(at_once)))
        return sum(counts) / (time.perf_counter() - began)

    def close(self) -> None:
        """Close all connections."""
        for _, writer in self._free:
            writer.close()
        self._free.clear()

    async def _send(self, began: float, due: float) -> Exchange:
        self._asked += 1
        body = self._bodies[self._asked % len(self._bodies)]
        left = LONGEST_WAIT - (time.perf_counter() - began - due)
        try:
            async with asyncio.timeout(max(left, 0)), self._turns:
                status, names_time = await self._exchanged(body)
        except TimeoutError:
            status, names_time = _TIMED_OUT, False
        except (OSError, EOFError, ValueError):
            status, names_time = _BROKEN, False
        return Exchange(due, time.perf_counter() - began - due, status, names_time)

    async def _exchanged(self, body: bytes) -> tuple[int, bool]:
        """Send a request; return the status, and whether the reply names a time.

        A server closes connections that were not used for a while. What such a one does not answer
        at all is sent again over a new one, as HTTP clients do.
        """
        while self._free:
            with suppress(ConnectionError, _NothingReadError):
                return await self._over(*self._free.pop(), body)
        return await self._over(*await asyncio.open_connection("127.0.0.1", self.port), body)

    async def _over(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, body: bytes
    ) -> tuple[int, bool]:
        """Send a request over a connection, which is kept if all of the reply was read."""
        try:
            writer.write(body)
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            length = int(head.partition(b"content-length:")[2].split(None, 1)[0])
            await reader.readexactly(length)
        except asyncio.IncompleteReadError as error:
            writer.close()
            raise (error if error.partial else _NothingReadError()) from error
        except BaseException:
            writer.close()
            raise
        if b"connection: close" in head:
            writer.close()
        else:
            self._free.append((reader, writer))
        return int(head[9:12]), b"retry-after:" in head
