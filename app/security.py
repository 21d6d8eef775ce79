"""Access to the server: the right host name, the launch token, and no foreign page."""

import hashlib
import hmac
import json
import re
import secrets
import time
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any, Protocol
from urllib.parse import parse_qsl, quote, urlencode

from anyio import to_thread
from starlette.exceptions import HTTPException

from app.addresses import DIRECT, PublicAddress, name_of
from app.slow_requests import LimitedBody, Patience, too_large
from core.errors import InvalidInput
from storage.people.acts import VIA
from storage.people.shares import kept_for

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

COOKIE = "intent-studio"
_VIEWER_COOKIE = "intent-studio-viewer"
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_OPEN = frozenset(
    {
        *("/api/health", "/api/health/live", "/api/health/ready"),
        *("/manifest.json", "/pwa_icon", "/studio/icon.svg"),
    }
)
_VERSIONED = "/api/v1"
_REFUSED_SOCKET = 1008
"""The code by which a server says that it refuses a WebSocket; uvicorn answers 403."""
_CODE_SECONDS = 60.0
_MOST_BODY = 64_000_000
_MOST_FILE = 2_001_000_000
"""Bytes of a bundle with its encoder, with form overhead; a log of conversations has fewer."""
_LARGE = re.compile(r"/api/projects/[^/]+/(bundles|dialogues)")
_SHOWN = re.compile(
    r"/receipts/[0-9a-f]+|/api/receipts/[0-9a-f]+/receipt\.(html|pdf)"
    r"|/reports/[^/]+/\d+|/api/projects/[^/]+/models/\d+/report\.(html|pdf)"
)
"""Paths that may be shared: receipts and reports."""

# Gradio needs inline scripts and `eval`; all other sources and targets are forbidden.
_POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; "
    "connect-src 'self' blob:; worker-src 'self' blob:; object-src 'none'; base-uri 'self'; "
    "form-action 'self'; frame-ancestors 'none'"
)
_HEADERS = (
    (b"content-security-policy", _POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
)

_TOKEN = re.compile(r"[A-Za-z0-9_-]{1,200}")
_FORGOTTEN = ((b"cache-control", b"no-store"), (b"referrer-policy", b"no-referrer"))
"""Headers of an answer to an address that holds a token."""


class Links(Protocol):
    """What shared links open."""

    def opens(self, tokens: Sequence[str], path: str) -> bool | None:
        """Whether one of some tokens opens a path; None if they open nothing at all."""

    def path_now(self, token: str, path: str) -> str:
        """Return the path of today for that of a link, whose project may have been renamed."""


def new_token() -> str:
    """Return a launch token of 192 bits."""
    return secrets.token_urlsafe(24)


@dataclass(slots=True)
class LaunchCodes:
    """The code that `serve` hands to the browser: it stands for the token once, within a minute.

    The arguments of the browser's process can be read by all programs of this machine.
    """

    _code: str = ""
    _until: float = 0.0

    def new(self) -> str:
        """Return a code; an earlier one lets in no longer."""
        self._code, self._until = secrets.token_urlsafe(24), time.monotonic() + _CODE_SECONDS
        return self._code

    def use(self, given: str) -> bool:
        """Whether this is the code, in time and for the first time."""
        fits = bool(self._code) and _same(given, self._code)
        if not fits or time.monotonic() > self._until:
            return False
        self._code = ""
        return True


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    if host == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def check_binding(host: str, *, token: bool) -> None:
    """Refuse an address that other machines can reach.

    Raises:
        InvalidInput: The address is reachable from other machines.
    """
    if not is_loopback(host):
        what = "without a token " if not token else ""
        raise InvalidInput(
            f"The studio has no users yet, so it does not listen {what}on '{host}', "
            "where other machines could reach it.",
            "Use --host 127.0.0.1, and an SSH tunnel to reach it from elsewhere: "
            "ssh -L 7860:127.0.0.1:7860 THIS_MACHINE",
        )


@dataclass(frozen=True, slots=True)
class Guard:
    """Checks every request, and passes it on or refuses it; the outermost layer.

    Attributes:
        token: The launch token, or None where every user of this machine may enter.
        hosts: Host names that a request may use (against DNS rebinding).
        links: What shared links to receipts and reports open; None where nothing is shared.
        patience: How long a request may take to arrive.
        codes: Launch codes; `code=` in an address is exchanged for the cookie.
        public: The address behind a proxy; its pages count as the studio's own.
    """

    app: App
    token: str | None
    hosts: frozenset[str]
    links: Links | None = None
    patience: Patience = field(default_factory=Patience)
    codes: LaunchCodes = field(default_factory=LaunchCodes)
    public: PublicAddress = DIRECT

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] == "websocket":  # the studio speaks none
            await send({"type": "websocket.close", "code": _REFUSED_SOCKET})
            return
        self._take_code(scope)
        await self._take_new_name(scope)
        _drop_version(scope)
        refusal = await self._refusal(scope)
        if refusal is not None:
            if refusal[0] == 413 and "entrant" in scope["state"]:
                await _read_away(LimitedBody(receive, _MOST_FILE, self.patience))
            await _answer(send, scope["path"], *refusal)
            return
        if _bears_token(scope):
            await self._remember(scope, send)
            return
        VIA.set("page" if "sec-fetch-site" in _headers(scope) else "REST")  # browsers alone send it
        body = LimitedBody(receive, _most(scope), self.patience)
        await self.app(scope, body, _hardened(send))

    def _take_code(self, scope: Scope) -> None:
        """Exchange the launch code in an address for the token, if it still lets in."""
        if self.token is None or scope["method"] != "GET" or b"code=" not in scope["query_string"]:
            return
        query = dict(_query(scope))
        if self.codes.use(query.pop("code", "")):
            scope["query_string"] = urlencode({**query, "token": self.token}).encode("latin-1")

    async def _take_new_name(self, scope: Scope) -> None:
        """Read the address of a shared report by the name that its project has today."""
        if self.links and scope["path"].startswith("/reports/") and _bears_token(scope):
            given = dict(_query(scope))["token"], scope["path"]
            scope["path"] = await to_thread.run_sync(self.links.path_now, *given)

    async def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        headers = _headers(scope)
        host = headers.get("host", "")
        if name_of(host) not in self.hosts:
            return 400, f"This server is not called '{host[:80]}'."
        foreign = self._foreign(scope, headers)
        if foreign:
            return 403, foreign
        state = scope.setdefault("state", {})  # for the log of requests
        if self._may_enter(scope, headers):
            state["entrant"] = "owner"
            return _too_much(scope, headers)
        if scope["path"] in _OPEN:
            return _too_much(scope, headers)
        looks = await self._may_look(scope, headers)
        if looks is not None:
            state["entrant"] = "viewer"
            return None if looks else _beyond_looking(scope)
        if _SHOWN.fullmatch(scope["path"]):
            return 401, (
                "This link opens nothing: it has expired, is no longer shared, or is not whole. "
                "Ask whoever sent it for a new one."
            )
        return 401, (
            "Open the address that the studio printed when it started: it carries the token that "
            "lets you in. A code in an address lets in once, within a minute."
        )

    def _foreign(self, scope: Scope, headers: dict[str, str]) -> str:
        """Refuse what a page of another site asks for; "" for what it may, and for all others."""
        foreign = headers.get("sec-fetch-site") in ("cross-site", "same-site")
        if scope["method"] not in _SAFE:
            own = f"{scope['scheme']}://{headers['host']}"
            if foreign or headers.get("origin", own) not in {own, self.public.origin or own}:
                return "A page of another site may not change anything here."
        elif foreign and not _may_be_linked(scope["path"], headers):
            return "A page of another site may link to pages here, and ask for nothing itself."
        return ""

    def _may_enter(self, scope: Scope, headers: dict[str, str]) -> bool:
        if self.token is None:
            return True
        name, kept = _cookie_name(COOKIE, headers), kept_for(self.token)
        shows = any(_same(given, self.token) for given in _given(scope, headers))
        return shows or any(_same(v, kept) for one, v in _cookies(headers) if one == name)

    async def _may_look(self, scope: Scope, headers: dict[str, str]) -> bool | None:
        """Whether a shared link opens this page; None without one that opens anything."""
        prefix = f"{_cookie_name(_VIEWER_COOKIE, headers)}-"
        kept = [value for name, value in _cookies(headers) if name.startswith(prefix)]
        opens = await self._opened([*_given(scope, headers), *kept], scope["path"])
        return opens and scope["method"] in ("GET", "HEAD")

    async def _opened(self, tokens: list[str], path: str) -> bool | None:
        """Whether one of some links' tokens opens a path; None if they open nothing at all."""
        if self.links is None or not tokens:
            return None
        return await to_thread.run_sync(self.links.opens, tokens, path)

    async def _remember(self, scope: Scope, send: Send) -> None:
        """Exchange the token in the address for a cookie.

        A shared link's cookie has another name, so that opening it replaces neither the launch
        token nor another link's. It is `Lax`, so that it is sent when the link is opened from a
        mail. No page that follows knows the address with the token.
        """
        query = _query(scope)
        rest = urlencode([(name, value) for name, value in query if name != "token"])
        # Browsers take a second slash or a backslash for the beginning of a host's name.
        path = "/" + quote(scope["path"].lstrip("/"), safe="/:@!$&'()*+,;=")
        target = f"{path}?{rest}" if rest else path
        answer = [(b"location", target.encode()), *_FORGOTTEN]
        cookie = await self._cookie(dict(query)["token"], scope)
        if cookie is not None:
            where = f"Path={self.public.prefix or '/'}" + "; Secure" * self.public.is_secure
            answer.append((b"set-cookie", f"{cookie}; {where}; HttpOnly".encode("latin-1")))
        await send({"type": "http.response.start", "status": 303, "headers": answer})
        await send({"type": "http.response.body", "body": b""})

    async def _cookie(self, token: str, scope: Scope) -> str | None:
        """Return the cookie for a token; None where none is asked for, or it opens nothing."""
        headers = _headers(scope)
        if self.token is None or not _TOKEN.fullmatch(token):
            return None
        if _same(token, self.token):
            return f"{_cookie_name(COOKIE, headers)}={kept_for(token)}; SameSite=Strict"
        digest = hashlib.sha256(token.encode()).hexdigest()[:8]
        name = f"{_cookie_name(_VIEWER_COOKIE, headers)}-{digest}"
        for value in (kept_for(token), token):  # links of earlier releases know no other value
            if await self._opened([value], "") is not None:  # without a path, none is noted
                return f"{name}={value}; SameSite=Lax"
        return None  # pages of other sites may lead here with any number of them


def _same(given: str, wanted: str) -> bool:
    return hmac.compare_digest(given.encode(), wanted.encode())


def _given(scope: Scope, headers: dict[str, str]) -> list[str]:
    """Return the tokens that stand in a request's address and header."""
    given = (
        dict(_query(scope)).get("token", ""),
        headers.get("authorization", "").removeprefix("Bearer "),
    )
    return [token for token in given if token]


def _bears_token(scope: Scope) -> bool:
    """Whether a page is opened by an address with the token; a body is never sent elsewhere."""
    return scope["method"] in ("GET", "HEAD") and "token" in dict(_query(scope))


def _cookie_name(name: str, headers: dict[str, str]) -> str:
    """Add the port, which cookies ignore, so that two studios on one machine do not collide."""
    port = headers.get("host", "").rpartition(":")[2]
    return f"{name}-{port}" if port.isdecimal() else name


def _beyond_looking(scope: Scope) -> tuple[int, str]:
    """Refuse a viewer everything except reading what the link is for."""
    if scope["method"] not in ("GET", "HEAD"):
        return 403, "This link is for reading only: it changes nothing."
    return 403, "This link shows one receipt or report; for more, ask whoever sent it to you."


def _query(scope: Scope) -> list[tuple[str, str]]:
    return parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)


def _drop_version(scope: Scope) -> None:
    """Read `/api/v1/...`, the address that is promised to programs, as `/api/...`."""
    path: str = scope["path"]
    if path == _VERSIONED or path.startswith(f"{_VERSIONED}/"):
        scope["path"] = "/api" + path.removeprefix(_VERSIONED)
        scope["raw_path"] = (scope.get("raw_path") or b"").replace(b"/v1", b"", 1)


def _most(scope: Scope) -> int:
    return _MOST_FILE if _LARGE.fullmatch(scope["path"]) else _MOST_BODY


def _may_be_linked(path: str, headers: dict[str, str]) -> bool:
    """Whether a page of another site may lead here; to read may take texts or start a report."""
    if path in _OPEN or not path.startswith(("/api/", "/reports/", "/receipts/")):
        return True
    is_page = not path.startswith("/api/") or bool(_SHOWN.fullmatch(path))
    return is_page and headers.get("sec-fetch-dest") == "document"


def _too_much(scope: Scope, headers: dict[str, str]) -> tuple[int, str] | None:
    """Refuse by what the sender announces; LimitedBody counts what comes unannounced."""
    announced = headers.get("content-length", "")
    if announced.isdecimal() and int(announced) > _most(scope):
        return 413, too_large(_most(scope))
    return None


def _headers(scope: Scope) -> dict[str, str]:
    return {key.decode("latin-1"): value.decode("latin-1") for key, value in scope["headers"]}


def _cookies(headers: dict[str, str]) -> list[tuple[str, str]]:
    """Return names and values one by one: other programs of this host leave cookies there, too."""
    parts = (part.partition("=") for part in headers.get("cookie", "").split(";"))
    return [(name.strip(), value.strip()) for name, _, value in parts]


def _hardened(send: Send) -> Send:
    async def guarded(message: Message) -> None:
        if message["type"] == "http.response.start":
            # Gradio would allow foreign origins; the studio allows none.
            kept = [
                (key, value)
                for key, value in message.get("headers", [])
                if not key.lower().startswith(b"access-control-")
            ]
            message = {**message, "headers": [*kept, *_HEADERS]}
        await send(message)

    return guarded


async def _read_away(receive: Receive) -> None:
    """Read the rest of a refused body: a browser whose upload is cut off shows no answer."""
    more = True
    with suppress(HTTPException):  # it is too much even to be read, or comes too slowly
        while more:
            message = await receive()
            more = message["type"] == "http.request" and message.get("more_body", False)


async def _answer(send: Send, path: str, status: int, sentence: str) -> None:
    """Refuse in the shape of every REST error, or for a page in plain words."""
    kind, body = b"text/plain; charset=utf-8", sentence.encode() + b"\n"
    if path.startswith("/api/"):
        kind = b"application/json"
        body = json.dumps({"message": sentence, "hint": ""}, ensure_ascii=False).encode()
    headers = [(b"content-type", kind), *_HEADERS]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
