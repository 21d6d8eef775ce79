"""Where the studio listens, and how people reach it behind a proxy."""

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from core.errors import InvalidInput

TOKEN = "STUDIO_TOKEN"
"""Name of the variable that holds the token, where no file does."""
_TOKEN = re.compile(r"[A-Za-z0-9_-]{20,200}")
_FILES = "/studio"
"""Where the files of pages lie: the one own path that may be a proxy's, too."""
_FILE = re.compile(r"/studio/([0-9a-f]{12}/|(css|fonts|icons|js)/|icon\.svg$)")
_PREFIX = re.compile(r"(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+")
_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\]")


@dataclass(frozen=True, slots=True)
class PublicAddress:
    """How browsers reach the studio.

    Attributes:
        origin: Scheme, host and port, such as `https://nlu.example.com`; "" where each request
            names its own.
        prefix: What stands before every path of the studio, such as `/intents`; "" for nothing.
    """

    origin: str = ""
    prefix: str = ""

    @property
    def root(self) -> str:
        """What every address of the studio begins with; without an origin, the prefix alone."""
        return self.origin + self.prefix

    @property
    def host(self) -> str:
        """The name by which requests call the server, without a port; "" for none in particular."""
        return name_of(self.origin.partition("://")[2])

    @property
    def is_secure(self) -> bool:
        """Whether browsers reach it by https alone."""
        return self.origin.startswith("https://")


DIRECT = PublicAddress()
"""Without a proxy."""


@dataclass(frozen=True, slots=True)
class Doorway:
    """Where the server listens and who may enter.

    Attributes:
        host: An address that only this machine can reach.
        port: None for the home's last one if it is free, else the first free one from 7860.
        token: Whether one must be shown.
        browser: Whether the first page is opened.
        secret: The token; None for a new one, which is printed.
        socket: File of the Unix socket to listen on in place of host and port.
        group: Whose programs may open the socket, too; "" for this user's alone.
        public: The address behind a proxy.
        trusted: Further names by which requests may call the server.
    """

    host: str = "127.0.0.1"
    port: int | None = None
    token: bool = True
    browser: bool = True
    secret: str | None = field(default=None, repr=False)
    socket: Path | None = None
    group: str = ""
    public: PublicAddress = DIRECT
    trusted: frozenset[str] = frozenset()

    @property
    def hosts(self) -> frozenset[str]:
        """Every name by which requests may call the server."""
        own = frozenset({"127.0.0.1", "localhost", "[::1]", self.host, self.public.host})
        return (own | self.trusted) - {""}


def name_of(host: str) -> str:
    """Return the name in a `Host` header, without the port, in small letters."""
    if host.startswith("["):
        return host[: host.find("]") + 1].lower()
    return host.partition(":")[0].lower()


def read_public(url: str, prefix: str) -> PublicAddress:
    """Read `--public-url` and `--root-path`; either may be "", and the URL may name the prefix.

    Raises:
        InvalidInput: The URL or the prefix cannot be used, or they contradict each other.
    """
    origin, own = _parts(url) if url else ("", "")
    named = "/" + prefix.strip("/") if prefix.strip("/") else ""
    if url and prefix and own and own != named:
        raise InvalidInput(
            f"--public-url names the path {own}, and --root-path {named or '/'}.",
            "Leave --root-path out: the path of the URL is enough.",
        )
    found = named or own
    if found and not _PREFIX.fullmatch(found):
        raise InvalidInput(
            f"{found[:80]} cannot stand before the paths of the studio.",
            "Use a path of letters, digits, '-', '_' and '.', such as /intents.",
        )
    return PublicAddress(origin, found)


def read_token(file: Path | None) -> str | None:
    """Return the token in a file or, without one, in the environment; None for none.

    Raises:
        InvalidInput: The file cannot be read, or what it holds is no token.
    """
    where, said = TOKEN, os.environ.get(TOKEN, "").strip()
    if file is not None:
        where = str(file)
        try:
            said = file.read_text(encoding="utf-8-sig").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidInput(f"{file} cannot be read: {error}.", "Check the path.") from error
    elif not said:
        return None
    if not _TOKEN.fullmatch(said):
        raise InvalidInput(
            f"{where} holds no token.",
            "Write 20 to 200 letters, digits, '-' and '_' that nobody guesses, on one line.",
        )
    return said


def check_hosts(names: Iterable[str]) -> frozenset[str]:
    """Return names by which requests may call the server.

    Raises:
        InvalidInput: One is no name of a host, or has a port.
    """
    found = frozenset(names)
    for name in found:
        if not _HOST.fullmatch(name):
            raise InvalidInput(
                f"'{name[:80]}' is no name of a host.",
                "Write the name alone, such as nlu.example.com: no scheme, no port, no '*'.",
            )
    return frozenset(name.lower() for name in found)


def check_prefix(prefix: str, paths: Iterable[str]) -> None:
    """Refuse a prefix that begins like a path of the studio's own: the two could not be told apart.

    Raises:
        InvalidInput: It does.
    """
    taken = {path.split("/")[1] for path in paths if "/" in path} - {_FILES[1:]}
    first = prefix.split("/")[1] if prefix else ""
    if first and first in taken:
        raise InvalidInput(
            f"The studio has addresses of its own that begin with /{first}.",
            f"Let the proxy put another path before it, such as /nlu{prefix}.",
        )


def _parts(url: str) -> tuple[str, str]:
    """Return origin and path of a URL."""
    try:
        read = urlsplit(url.strip())
        port, name = read.port, read.hostname or ""
    except ValueError:
        read, port, name = urlsplit(""), None, ""
    host = f"[{name}]" if ":" in name else name
    said = read.username or read.query or read.fragment
    if read.scheme not in ("http", "https") or not _HOST.fullmatch(host) or said:
        raise InvalidInput(
            f"--public-url {url[:80]} is no address of a studio.",
            "Write scheme, name and perhaps a path: https://nlu.example.com/intents.",
        )
    usual = {"http": 80, "https": 443}[read.scheme]
    shown = host if port in (None, usual) else f"{host}:{port}"
    return f"{read.scheme}://{shown}", read.path.rstrip("/")


@dataclass(frozen=True, slots=True)
class BehindProxy:
    """Takes the prefix from paths, where the proxy has not, and puts it into redirections."""

    app: ASGIApp
    public: PublicAddress

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        prefix = self.public.prefix
        if scope["type"] != "http" or not self.public.root:
            await self.app(scope, receive, send)
            return
        if prefix and scope["path"] == prefix:  # pages name their files from where they lie
            await _redirect(scope, send, f"{prefix}/")
            return
        if prefix and scope["path"].startswith(f"{prefix}/") and not self._is_file(scope["path"]):
            scope["path"] = scope["path"].removeprefix(prefix)
            raw: bytes = scope.get("raw_path") or b""
            scope["raw_path"] = raw.removeprefix(prefix.encode())
        await self.app(scope, receive, _prefixed(send, self.public, _origin_of(scope)))

    def _is_file(self, path: str) -> bool:
        """Whether a path is that of a file, from which a proxy at /studio took the prefix."""
        return self.public.prefix == _FILES and _FILE.match(path) is not None


def _prefixed(send: Send, public: PublicAddress, asked: str) -> Send:
    """Let redirections lead to addresses behind the proxy."""

    async def pass_on(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = [
                (name, _moved(value, public, asked) if name.lower() == b"location" else value)
                for name, value in message.get("headers", [])
            ]
            message = {**message, "headers": headers}
        await send(message)

    return pass_on


def _moved(location: bytes, public: PublicAddress, asked: str) -> bytes:
    """Return where a redirection leads; one to another server stays as it is."""
    target = location.decode("latin-1")
    if target.startswith(f"{asked}/"):
        return (public.origin or asked).encode("latin-1") + _behind(target, asked, public.prefix)
    if target.startswith("/") and not target.startswith("//"):
        return _behind(target, "", public.prefix)
    return location


def _behind(target: str, start: str, prefix: str) -> bytes:
    return (prefix + target.removeprefix(start)).encode("latin-1")


def _origin_of(scope: Scope) -> str:
    """Return scheme and host as the request names them."""
    host = next((value for name, value in scope["headers"] if name == b"host"), b"")
    return f"{scope['scheme']}://{host.decode('latin-1')}"


async def _redirect(scope: Scope, send: Send, target: str) -> None:
    query = scope["query_string"].decode("latin-1")
    location = f"{target}?{query}" if query else target
    headers = [(b"location", location.encode("latin-1")), (b"cache-control", b"no-store")]
    await send({"type": "http.response.start", "status": 307, "headers": headers})
    await send({"type": "http.response.body", "body": b""})
