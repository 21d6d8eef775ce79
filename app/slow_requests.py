"""Limits on what a sender may take of the server: bytes of a body, and time."""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from typing import Any

from starlette.exceptions import HTTPException
from uvicorn.protocols.http.h11_impl import H11Protocol

from core.text import size_words

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]

_LATE = (
    b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\n"
    b"content-type: application/json\r\n\r\n"
    b'{"message": "The request did not arrive in time.", "hint": "Send it again."}'
)


@dataclass(frozen=True, slots=True)
class Patience:
    """How long the server waits for a sender.

    Attributes:
        header: Seconds from the connection, or the last answer, to the end of a request's header.
        body: Seconds that a body may take in any case.
        pace: Bytes each second that a longer body must have brought on average.
    """

    header: float = 20.0
    body: float = 30.0
    pace: int = 1_024


def too_large(most: int) -> str:
    """Say what to do about a body of more than `most` bytes."""
    return f"That is more than {size_words(most)}. Split the file, and import its parts."


@dataclass(slots=True)
class LimitedBody:
    """Receives a request's body, of at most `most` bytes, from a sender who does not dawdle.

    A body without a content-length tells its size only while it is read. `told` says what is wrong
    with a body of more than so many bytes.
    """

    receive: Receive
    most: int
    patience: Patience
    told: Callable[[int], str] = too_large
    _bytes: int = 0
    _whole: bool = False
    _began: float = field(default_factory=lambda: asyncio.get_running_loop().time())

    async def __call__(self) -> Message:
        """Return the next message.

        Raises:
            HTTPException: 413, the body is too large; 408, it comes too slowly.
        """
        if self._whole:
            return await self.receive()  # waits for the sender to leave
        until = self._began + self.patience.body + self._bytes / self.patience.pace
        try:
            async with asyncio.timeout_at(until):
                message = await self.receive()
        except TimeoutError:
            late = "The request's body did not arrive in time. Send it again."
            raise HTTPException(408, late, {"Connection": "close"}) from None
        self._bytes += len(message.get("body", b""))
        self._whole = not message.get("more_body", False)
        if self._bytes > self.most:
            raise HTTPException(413, self.told(self.most), {"Connection": "close"})
        return message


class PunctualProtocol(H11Protocol):
    """uvicorn's HTTP, which ends connections whose next header is not whole in time.

    Without it, connections that send a byte now and then are held for ever.
    """

    seconds = Patience().header
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for the first header."""
        super().connection_made(transport)
        self._await_header()

    def on_response_complete(self) -> None:
        """Begin to wait for the next header."""
        super().on_response_complete()
        self._await_header()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        super().connection_lost(exc)
        self._forget()

    def _await_header(self) -> None:
        self._forget()
        self._deadline = self.loop.call_later(self.seconds, self._leave_if_none)

    def _forget(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()

    def _leave_if_none(self) -> None:
        answers = self.cycle is not None and not self.cycle.response_complete
        if not answers and not self.transport.is_closing():
            self.transport.write(_LATE)
            self.transport.close()
