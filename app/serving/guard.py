"""Keys, sizes and counts around every route of a model server."""

import hmac
import json
import logging
import time
import uuid
from asyncio import CancelledError
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from app.addresses import name_of
from app.log_lines import note, places_of
from app.serving.bodies import read_object
from app.serving.counts import ServingCounts
from app.serving.limits import Serving
from app.serving.replies.refusals import CLU, DIALOGFLOW, refusal, without_model
from app.slow_requests import LimitedBody, Patience
from core.errors import InvalidInput

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

_LOG = logging.getLogger("app.serving.requests")
_FAULTS = logging.getLogger("app.serving")
_WRONG_KEY = "The key is missing or wrong."
_OPEN = ("/health/", "/v2/health/")
"""Routes that orchestrators ask without a key; they tell nothing but whether texts are answered."""
_RASA = "/model/parse"
"""Start of the path whose own client, a bot of Rasa, sends its key in the body, as `token`."""
_KEYS = (
    ("/", b"x-api-key", ""),
    (_RASA, b"", "token"),
    (CLU, b"ocp-apim-subscription-key", ""),
    *((start, b"x-goog-api-key", "key") for start in DIALOGFLOW),
)
"""Start of a path, and the header and the parameter in which its clients send a key."""
_PATIENCE = Patience()
_LEFT = 499
"""Counted, as nginx does, for a client that left before its request was whole."""


class _NoKeyError(Exception):
    """The body of a client that sends its key there has none, or a wrong one."""


@dataclass(slots=True)
class _NumberedAnswer:
    """Sends an answer with its request's number; the status is 0 until it begins."""

    send: Send
    number: str = field(default_factory=lambda: uuid.uuid4().hex[:12])
    status: int = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = [*message.get("headers", []), (b"x-request-id", self.number.encode())]
            message = {**message, "headers": headers}
        await self.send(message)


class ServingGuard:
    """Refuses requests without the key, and bodies that are too large or too slow; counts all."""

    def __init__(self, app: App, serving: Serving, counts: ServingCounts) -> None:
        self.app, self.serving, self.counts = app, serving, counts
        self.keys, self.hosts = serving.keys, frozenset(serving.hosts.split())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began, answer = time.perf_counter(), _NumberedAnswer(send)
        scope.setdefault("state", {})["request_id"] = answer.number
        try:
            await self._passed(scope, receive, answer)
        except ClientDisconnect:
            answer.status = answer.status or _LEFT
        except CancelledError:  # the server ends: uvicorn would log this as a fault
            if not answer.status:
                await _refuse(scope, answer, 503, "This server ends.", {"Connection": "close"})
        except Exception as error:  # noqa: BLE001 - uvicorn would log its message
            await _break(scope, answer, error)
        finally:
            self._note(scope, answer, time.perf_counter() - began)

    def _note(self, scope: Scope, answer: _NumberedAnswer, seconds: float) -> None:
        """Count a request that has ended, and log it where somebody asks for that."""
        found = scope.get("path_params") is not None and "route" in scope
        route = getattr(scope.get("route"), "path", "other") if found else "other"
        status, model = answer.status or 500, scope["state"].get("model", "")
        self.counts.request(model, route, status, seconds)
        if self.serving.log:
            facts = {"id": answer.number, "method": scope["method"], "route": route}
            facts |= {"status": status, "ms": round(seconds * 1e3, 1), "model": model}
            note(_LOG, "request", facts | {"texts": scope["state"].get("texts", 0)})

    async def _passed(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = {name.lower(): value for name, value in scope["headers"]}
        host = headers.get(b"host", b"").decode("latin-1")
        if self.hosts and name_of(host) not in self.hosts:
            words = f"This server is not called '{host[:80]}': a key or --no-key lets it be."
            await _refuse(scope, send, 400, words)
            return
        is_known = self._asks_none(scope) or self._has_key(_given(scope, headers))
        if not is_known and not without_model(scope["path"]).startswith(_RASA):
            await _refuse(scope, send, 401, _WRONG_KEY)
            return
        most = self.serving.most_bytes
        length = headers.get(b"content-length", b"0")
        if not length.isdigit() or int(length) > most:
            await _refuse(scope, send, 413, _too_large(most))
            return
        body: Receive = LimitedBody(receive, most, _PATIENCE, _too_large)
        try:
            if not is_known:
                body = await self._with_key(body)
            await self.app(scope, body, send)
        except HTTPException as error:  # of a body with a key; routes answer theirs
            await _refuse(scope, send, error.status_code, error.detail, error.headers)
        except _NoKeyError:
            await _refuse(scope, send, 401, _WRONG_KEY)

    def _asks_none(self, scope: Scope) -> bool:
        return not self.keys or scope["path"].startswith(_OPEN)

    def _has_key(self, given: Iterable[bytes]) -> bool:
        return any(hmac.compare_digest(one, key) for one in given for key in self.keys)

    async def _with_key(self, receive: Receive) -> Receive:
        """Read a body with its key, and return what gives that body to the routes."""
        body = b""
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise ClientDisconnect
            body += message.get("body", b"")
            if not message.get("more_body", False):
                break
        if not self._has_key([_token_in(body)]):
            raise _NoKeyError
        messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def again() -> Message:
            return messages.pop() if messages else await receive()

        return again


def _too_large(most: int) -> str:
    return f"A request may have {most:,} bytes."


def _token_in(body: bytes) -> bytes:
    """Return the key in a body of Rasa's client; empty where there is none."""
    try:
        token = read_object(body).get("token")
    except InvalidInput:
        return b""
    return token.encode(errors="surrogatepass") if isinstance(token, str) else b""


def _given(scope: Scope, headers: dict[bytes, bytes]) -> Iterator[bytes]:
    """Yield what may be a key, from where clients of the route send theirs."""
    path = without_model(scope["path"])
    kind, _, word = headers.get(b"authorization", b"").partition(b" ")
    if kind.lower() == b"bearer":
        yield word.strip()
    query = parse_qs(scope.get("query_string", b"").decode("latin-1"))
    for start, header, parameter in _KEYS:
        if path.startswith(start):
            yield headers.get(header, b"")
            yield from (one.encode() for one in query.get(parameter, []))


async def _break(scope: Scope, answer: _NumberedAnswer, error: Exception) -> None:
    """Log by its places what broke, for its message may quote a text, and answer 500."""
    _FAULTS.error("incident %s\n    %s", answer.number, "\n    ".join(places_of(error)))
    scope["state"]["error"] = type(error).__name__  # for the span
    if not answer.status:
        await _refuse(scope, answer, 500, f"Something broke (incident {answer.number}).")


async def _refuse(
    scope: Scope, send: Send, status: int, words: str, more: Mapping[str, str] | None = None
) -> None:
    body = json.dumps(refusal(scope["path"], status, words)).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    headers += [(name.lower().encode(), value.encode()) for name, value in (more or {}).items()]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
