"""Send texts on to a studio's traffic, after their clients were answered."""

import asyncio
import logging
import uuid
from collections import Counter, deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.client import HTTPException
from itertools import islice
from typing import Literal, get_args

from app.log_lines import places_of
from app.serving.shadow import yield_to_others
from core.formats.masking import mask_personal
from core.text import normalise
from intent_studio_client.connection import Connection, Request, StudioFault

_LOG = logging.getLogger("app.serving")

_PATH = "/api/v1/projects/{project}/traffic"
_MOST_TEXTS = 10_000
_MOST_SIGNS = 4_000_000
"""Characters of all texts that wait."""
_AT_ONCE = 500
"""Texts of one request, as many as the studio stores in one transaction."""
_GATHER = 1.0
"""Seconds for which texts gather before they are sent together."""
_FIRST_WAIT, _LONGEST_WAIT = 1.0, 60.0
_LAST = 3.0
"""Seconds for which what waits is still sent when the server ends."""
PUSH_SECONDS = 5.0
"""Seconds without a byte after which a request to the studio has failed."""
_USELESS = (400, 409, 413, 422)
"""Statuses with which the studio refuses the texts themselves: another try gets the same."""

DropReason = Literal["full", "refused", "ended"]
DROP_REASONS: tuple[DropReason, ...] = get_args(DropReason)


@dataclass(frozen=True, slots=True)
class _Unsent:
    text: str
    time: str
    key: str


@dataclass(slots=True, eq=False)
class Pusher:
    """Sends texts to one project of a studio; used by one event loop.

    A text waits in memory until the studio has taken it. Each has a key, so that a text that is
    sent again is stored once. Where too many wait, new ones are dropped and counted: nobody waits
    for this. Personal data is masked before it leaves, by the studio's own rules.

    Attributes:
        connection: To the studio.
        project: Its project.
        source: What the studio shows as the channel of these texts.
        pushed: Texts that the studio has taken.
        dropped: Texts that it never gets, by reason.
        failures: Requests that it did not answer or refused.
    """

    connection: Connection
    project: str
    source: str
    pushed: int = 0
    dropped: Counter[DropReason] = field(default_factory=Counter)
    failures: int = 0
    _queue: deque[_Unsent] = field(default_factory=deque)
    _signs: int = 0
    _at_once: int = _AT_ONCE
    _pause: float = 0.0
    _wake: asyncio.Event = field(default_factory=asyncio.Event)
    _thread: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(1, "pushing", initializer=yield_to_others)
    )

    @property
    def waiting(self) -> int:
        """How many texts wait."""
        return len(self._queue)

    def offer(self, texts: Sequence[str]) -> None:
        """Take texts that were answered just now; never waits."""
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        for text in texts:
            if len(self._queue) >= _MOST_TEXTS or self._signs + len(text) > _MOST_SIGNS:
                self.dropped["full"] += 1
                continue
            self._queue.append(_Unsent(text, now, uuid.uuid4().hex))
            self._signs += len(text)
        self._wake.set()

    async def work(self) -> None:
        """Send what was offered, until cancelled."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            while self._queue:
                await asyncio.sleep(self._pause or _GATHER)
                await self._send_next()

    async def finish(self) -> None:
        """Send what waits for some seconds more, and count the rest as dropped."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_LAST):
                while self._queue and await self._send_next():
                    pass
        self.dropped["ended"] += len(self._queue)
        if self._queue:
            _LOG.warning("%d texts were not pushed before the end", len(self._queue))
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def _send_next(self) -> bool:
        """Send the texts that have waited longest; return whether the studio decided about them."""
        batch = list(islice(self._queue, self._at_once))
        try:
            await asyncio.get_running_loop().run_in_executor(self._thread, self._post, batch)
        except StudioFault as fault:
            return self._refused(batch, fault)
        except (OSError, HTTPException) as error:
            return self._refused(batch, StudioFault(str(error)))
        except Exception as error:  # noqa: BLE001 - the next texts go on
            _LOG.error("pushing broke\n    %s", "\n    ".join(places_of(error)))
            self._take(batch)
            self.dropped["refused"] += len(batch)
            return True
        if self._pause:
            _LOG.info("texts of %s are taken again", self.project)
        self._take(batch)
        self.pushed += len(batch)
        self._pause, self._at_once = 0.0, min(_AT_ONCE, 2 * self._at_once)
        return True

    def _refused(self, batch: Sequence[_Unsent], fault: StudioFault) -> bool:
        """Decide what becomes of texts that were not taken."""
        self.failures += 1
        if fault.status not in _USELESS:
            if not self._pause:
                _LOG.warning("texts of %s wait: the studio replied %d", self.project, fault.status)
            longer = min(_LONGEST_WAIT, max(_FIRST_WAIT, 2 * self._pause))
            self._pause = min(_LONGEST_WAIT, max(longer, fault.retry_after or 0.0))
            return False
        if len(batch) > 1:  # one of them is at fault; the others are sent without it
            self._at_once = len(batch) // 2
            return True
        _LOG.warning("a text of %s was refused: %d", self.project, fault.status)
        self._take(batch)
        self.dropped["refused"] += 1
        return True

    def _take(self, batch: Sequence[_Unsent]) -> None:
        """Take texts that wait no longer from the front."""
        for one in batch:
            self._queue.popleft()
            self._signs -= len(one.text)

    def _post(self, batch: Sequence[_Unsent]) -> None:
        """Send texts, masked; raises StudioFault where they were not taken."""
        texts = [
            {
                "text": mask_personal(normalise(one.text)),
                "time": one.time,
                "source": self.source,
                "key": one.key,
            }
            for one in batch
        ]
        body = {"texts": texts, "mask": True}
        self.connection.ask(Request("POST", _PATH, {"project": self.project}, body=body))
