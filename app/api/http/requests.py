"""Every request's number, line in the log, and count; the outermost layer of the server."""

import json
import logging
import threading
import time
import uuid
from bisect import bisect_left
from collections import Counter, defaultdict
from dataclasses import asdict, dataclass, field

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.log_lines import note

_LOG = logging.getLogger("app.requests")
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_LEFT = 499
"""Status of a request whose client left before the answer, as other servers log it."""

BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Upper ends of the histogram's buckets, in seconds."""


@dataclass(frozen=True, slots=True)
class RequestKind:
    """What requests are counted by; `route` is the pattern of its route."""

    method: str
    route: str
    status: int


@dataclass(slots=True)
class RequestCounts:
    """Requests since the start of the server.

    Attributes:
        by_status: Number of requests by method, route and status.
        by_bucket: Number of requests by route and bucket, the last of which has no upper end.
        seconds: Duration of all requests of a route together.
    """

    by_status: Counter[tuple[str, str, int]] = field(default_factory=Counter)
    by_bucket: Counter[tuple[str, int]] = field(default_factory=Counter)
    seconds: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    guard: threading.Lock = field(default_factory=threading.Lock)

    def add(self, kind: RequestKind, seconds: float) -> None:
        """Count a request that took some seconds."""
        with self.guard:
            self.by_status[kind.method, kind.route, kind.status] += 1
            self.by_bucket[kind.route, bisect_left(BOUNDS, seconds)] += 1
            self.seconds[kind.route] += seconds

    def snapshot(self) -> "RequestCounts":
        """Return a copy that no request changes."""
        with self.guard:
            seconds = defaultdict(float, self.seconds)
            return RequestCounts(Counter(self.by_status), Counter(self.by_bucket), seconds)


@dataclass(slots=True)
class _SentAnswer:
    """What was sent as a request's answer; status 0 until it begins."""

    status: int = 0


@dataclass(frozen=True, slots=True)
class RequestWatch:
    """Numbers, counts and logs every request; neither its text nor its address stands in the log.

    The number is in the header `X-Request-Id`, in the log, and is that of an incident.
    """

    app: ASGIApp
    counts: RequestCounts
    actor: str

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        number, answered, began = uuid.uuid4().hex[:12], _SentAnswer(), time.perf_counter()
        scope.setdefault("state", {})["request_id"] = number
        try:
            await self.app(scope, receive, _numbered(send, number, answered))
        except Exception as error:  # noqa: BLE001 - whatever it was, the user gets a number
            await _answer_broken(scope, send, answered, error)
        finally:
            self._tell(scope, answered.status or _LEFT, time.perf_counter() - began)

    def _tell(self, scope: Scope, status: int, seconds: float) -> None:
        method = scope["method"] if scope["method"] in _METHODS else "OTHER"
        kind, state = RequestKind(method, route_of(scope), status), scope["state"]
        self.counts.add(kind, seconds)
        person = {"owner": self.actor, "viewer": "viewer"}.get(state.get("entrant", ""), "-")
        facts = {"id": state["request_id"], **asdict(kind), "ms": round(seconds * 1_000, 1)}
        note(_LOG, "request", {**facts, "person": person})


def route_of(scope: Scope) -> str:
    """Return the pattern of a request's route; its address would hold names and share links."""
    path = getattr(scope.get("route"), "path", None)
    if path is not None:
        return str(path)
    return "/studio/{file}" if str(scope["path"]).startswith("/studio/") else "-"


def _numbered(send: Send, number: str, answered: _SentAnswer) -> Send:
    async def pass_on(message: Message) -> None:
        if message["type"] == "http.response.start":
            answered.status = message["status"]
            headers = [*message.get("headers", []), (b"x-request-id", number.encode())]
            message = {**message, "headers": headers}
        await send(message)

    return pass_on


def broken(number: str) -> dict[str, str]:
    """Return the body of an answer to a request that broke; the log tells why by its number."""
    where = "If it happens again, look for this number where the studio was started: it says why."
    return {"message": f"Something broke (incident {number}).", "hint": f"Try again. {where}"}


async def _answer_broken(scope: Scope, send: Send, answered: _SentAnswer, error: Exception) -> None:
    """Log an error that no handler took, and answer it where no answer has begun."""
    number = scope["state"]["request_id"]
    if not scope["state"].get("told"):
        _LOG.error("incident %s at %s", number, route_of(scope), exc_info=error)
    if answered.status:
        return
    answered.status = 500
    headers = [(b"content-type", b"application/json"), (b"x-request-id", number.encode())]
    await send({"type": "http.response.start", "status": 500, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps(broken(number)).encode()})
