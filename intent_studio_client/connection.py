"""Send requests to a server; every one of them may be sent again, and is if the network fails."""

import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote, urlencode, urlsplit

_TRIES = 3
_PAUSE_SECONDS = 0.5
_BUSY = (429, 503)
_BLOCK = 1 << 20
"""Bytes of a file that are read at once."""

_Found = TypeVar("_Found")


class StudioFault(Exception):
    """A server's refusal: what failed, the next step, and the HTTP status; 0 without an answer.

    `retry_after` is in how many seconds to try again, where the server says it.
    """

    def __init__(
        self, message: str, hint: str = "", status: int = 0, retry_after: float | None = None
    ) -> None:
        """Store all; `str(fault)` has message and hint."""
        super().__init__(f"{message} {hint}".strip())
        self.message, self.hint = message, hint
        self.status, self.retry_after = status, retry_after


@dataclass(frozen=True)
class Request:
    """A request; `path` has places such as `{project}`, which `places` fill."""

    method: str
    path: str
    places: Mapping[str, str | int] | None = None
    query: Mapping[str, str | int] | None = None
    body: Mapping[str, Any] | None = None
    key: str = ""

    @property
    def target(self) -> str:
        """The path with its places filled, and the query."""
        filled = {name: quote(str(value), safe="") for name, value in (self.places or {}).items()}
        asked = f"?{urlencode(self.query)}" if self.query else ""
        return self.path.format(**filled) + asked


def _opener() -> urllib.request.OpenerDirector:
    """Return what opens addresses; it follows no redirection, which would take the token along."""
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(),
        urllib.request.HTTPHandler(),
        urllib.request.HTTPSHandler(),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPErrorProcessor(),
    ):
        opener.add_handler(handler)
    return opener


_OPENER = _opener()


@dataclass(frozen=True)
class Connection:
    """A server's address and the token to it.

    Attributes:
        timeout: Seconds without a byte after which a request has failed.
        patience: Seconds for which a request is sent again while the server is busy (429, 503).
        tries: Times that a request is sent while no answer comes at all.
    """

    address: str
    token: str
    timeout: float = 60.0
    patience: float = 0.0
    tries: int = _TRIES

    def __post_init__(self) -> None:
        """Refuse an address of another kind."""
        if urlsplit(self.address).scheme not in ("http", "https"):
            raise StudioFault(f"'{self.address}' is no address.", "It begins with http://.")

    def ask(self, request: Request) -> Any:
        """Return the JSON that a request is answered with; None for an empty answer.

        Raises:
            StudioFault: The server refuses, does not answer, or answers no JSON.
        """
        content = self._tried(lambda: self._content(request))
        try:
            return json.loads(content) if content else None
        except ValueError as error:
            raise StudioFault(f"{request.path} answered no JSON.") from error

    def save(self, request: Request, out: Path) -> None:
        """Write the file that a request is answered with, whole or not at all.

        Raises:
            StudioFault: The server refuses, does not answer, or sends a part of the file only.
        """
        part = out.with_name(out.name + ".part")
        try:
            with self._tried(lambda: self._open(request)) as answer, part.open("wb") as file:
                for block in _blocks(answer):
                    file.write(block)
            part.replace(out)
        finally:
            part.unlink(missing_ok=True)

    def _open(self, request: Request) -> Any:
        return _OPENER.open(self._prepared(request), timeout=self.timeout)

    def _content(self, request: Request) -> bytes:
        with self._open(request) as answer:
            content: bytes = answer.read()
        return content

    def _tried(self, send: Callable[[], _Found]) -> _Found:
        """Send a request until an answer comes, or it has been tried often enough."""
        until = time.monotonic() + self.patience
        for number in range(1, 1_000_000):
            try:
                return send()
            except urllib.error.HTTPError as error:
                fault = _fault(error)
                wait = 1.0 if fault.retry_after is None else fault.retry_after
                if fault.status not in _BUSY or time.monotonic() + wait > until:
                    raise fault from None
            except (OSError, HTTPException) as error:
                if number >= self.tries:
                    raise StudioFault(f"{self.address} does not answer: {error}.") from error
                wait = _PAUSE_SECONDS * number
            time.sleep(wait)
        raise StudioFault(f"{self.address} does not answer.")

    def _prepared(self, request: Request) -> urllib.request.Request:
        headers = {"Accept": "application/json"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        if request.key:
            headers["Idempotency-Key"] = request.key
        data = None
        if request.body is not None:
            data = json.dumps(request.body).encode()
            headers["Content-Type"] = "application/json"
        address = self.address.rstrip("/") + request.target
        return urllib.request.Request(address, data, headers, method=request.method)


def _blocks(answer: Any) -> Iterator[bytes]:
    """Read a file to its end.

    Raises:
        StudioFault: It is cut off. Reading in blocks does not tell: the file just seems to end.
    """
    announced, came = answer.headers.get("Content-Length", ""), 0
    try:
        while block := answer.read(_BLOCK):
            yield block
            came += len(block)
    except (OSError, HTTPException) as error:
        raise StudioFault(f"The file was cut off: {error}.", "Ask for it again.") from error
    if announced.isdecimal() and came < int(announced):
        told = f"{came:,} of {int(announced):,} bytes came"
        raise StudioFault(f"The file was cut off: {told}.", "Ask for it again.")


def _fault(error: urllib.error.HTTPError) -> StudioFault:
    """Read the refusal of a studio, {"message", "hint"}, or of a model server, {"error"}."""
    try:
        with error:
            told = json.loads(error.read())
    except (ValueError, OSError, HTTPException):  # no JSON, or cut off
        told = {}
    told = told if isinstance(told, dict) else {}
    message = told.get("message") or told.get("error") or f"The server answers {error.code}."
    seconds = error.headers.get("Retry-After", "")
    again = float(seconds) if seconds.isdecimal() else None
    return StudioFault(str(message), str(told.get("hint", "")), error.code, again)
