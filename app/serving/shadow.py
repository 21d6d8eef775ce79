"""A second model that answers the same texts unseen, and how its answers differ."""

import asyncio
import json
import logging
import os
import threading
from collections import Counter, deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from app.log_lines import places_of
from app.serving.model import ServedModel
from app.serving.replacing import Reloads
from core.deciding import Decided
from core.types import Prediction

_LOG = logging.getLogger("app.serving")

_BATCH = 64
_MOST_WAITING = 512
_MOST_BYTES = 64 << 20
_NICE = 10
NOTHING = "(none)"
"""Stands for an answer without an intent."""
_MOST_PAIRS = 200
_OTHERS = ("(other)", "(other)")
"""Counts the texts of all further pairs: each one is a series that Prometheus keeps."""


@dataclass(slots=True, eq=False)
class Shadow:
    """Answers texts after their clients have been answered, with what time is left.

    Used by one event loop. It computes in a thread of low priority. Texts for which there is no
    room are left out, so that it never keeps a client waiting.

    Attributes:
        file: Gets a line for each differing answer, up to 64 MiB; None for none.
        keeps_texts: Whether such a line has the text.
        texts: Texts answered, and those `left_out`.
        differing: Texts by the intents of both answers, of 200 such pairs and of all others.
        reloads: Bundles in the place of its own.
    """

    model: ServedModel
    file: Path | None = None
    keeps_texts: bool = False
    texts: int = 0
    left_out: int = 0
    differing: Counter[tuple[str, str]] = field(default_factory=Counter)
    reloads: Reloads = field(default_factory=Reloads)
    _queue: deque[Prediction] = field(default_factory=deque)
    _wake: asyncio.Event = field(default_factory=asyncio.Event)
    _thread: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(1, "shadow", initializer=yield_to_others)
    )

    def offer(self, answers: Sequence[Prediction]) -> None:
        """Take texts with the answers that their clients got; never waits."""
        room = max(0, _MOST_WAITING - len(self._queue))
        self._queue.extend(answers[:room])
        self.left_out += len(answers[room:])
        self._wake.set()

    async def work(self) -> None:
        """Answer what was offered, until cancelled."""
        try:
            while True:
                await self._wake.wait()
                self._wake.clear()
                while self._queue:
                    count = min(_BATCH, len(self._queue))
                    await self._answer([self._queue.popleft() for _ in range(count)])
        finally:
            self._thread.shutdown(wait=False, cancel_futures=True)

    async def _answer(self, batch: list[Prediction]) -> None:
        """Answer a batch and compare; one that breaks is left out, and the next goes on."""
        loop, model = asyncio.get_running_loop(), self.model
        try:
            found = await loop.run_in_executor(self._thread, _decided, model, batch)
        except Exception as error:  # noqa: BLE001 - a shadow harms nobody
            self.left_out += len(batch)
            _LOG.error("the shadow broke\n    %s", "\n    ".join(places_of(error)))
            return
        self._compare(model, batch, found)

    def _compare(
        self, model: ServedModel, answers: Sequence[Prediction], found: Sequence[Decided]
    ) -> None:
        self.texts += len(answers)
        pairs = [
            (one, other)
            for one, other in zip(answers, found, strict=True)
            if set(one.decision.intents) != set(other.decision.intents)
        ]
        for one, other in pairs:
            self._count(_words(one.decision.intents), _words(other.decision.intents))
        if self.file is not None and pairs:
            _append(self.file, [self._line(model, *pair) for pair in pairs])

    def _count(self, mine: str, its: str) -> None:
        is_known = (mine, its) in self.differing
        pair = (mine, its) if is_known or len(self.differing) < _MOST_PAIRS else _OTHERS
        self.differing[pair] += 1

    def _line(self, model: ServedModel, answer: Prediction, other: Decided) -> dict[str, Any]:
        shares = {one.intent: one.probability for one in answer.ranked}
        intents = answer.decision.intents
        return {
            "time": datetime.now(UTC).isoformat(timespec="seconds"),
            **({"text": answer.text} if self.keeps_texts else {}),
            "model_version": answer.model_version,
            "intents": list(intents),
            "probabilities": [round(shares[name], 4) for name in intents if name in shares],
            "shadow_version": model.model_version,
            "shadow_intents": list(other.decision.intents),
            "shadow_probabilities": [round(share, 4) for share in other.probabilities],
        }


def _decided(model: ServedModel, answers: Sequence[Prediction]) -> list[Decided]:
    return model.engine.decide([one.text for one in answers])


def _words(intents: Sequence[str]) -> str:
    return "+".join(sorted(intents)) or NOTHING


def _append(file: Path, lines: Sequence[dict[str, Any]]) -> None:
    """Add lines in one write, so that those of several processes do not mix."""
    content = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines).encode()
    with suppress(OSError):  # a full disk must not end the comparison; the counts go on
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            if os.fstat(descriptor).st_size + len(content) <= _MOST_BYTES:
                os.write(descriptor, content)
        finally:
            os.close(descriptor)


def yield_to_others() -> None:
    """Let the thread that calls this wait for those that answer clients; Linux alone can."""
    with suppress(OSError, AttributeError):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICE)
