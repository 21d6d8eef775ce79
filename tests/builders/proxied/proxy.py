"""A small reverse proxy on loopback, as an administrator puts one before the studio."""

import http.client
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

_OWN = frozenset({"connection", "keep-alive", "transfer-encoding", "date", "server"})
_PIECE = 1 << 16


@dataclass
class Proxy:
    """What a proxy does with requests.

    Attributes:
        prefix: What it has before every path, such as `/intents`.
        strips: Whether it takes the prefix away before it asks the studio.
        passes_host: Whether the studio sees the name that the browser used; nginx passes none.
        upstream: Port or file of the socket of the studio.
        outside: Paths that were asked for and do not begin with the prefix.
        port: Where it listens.
    """

    prefix: str
    strips: bool = True
    passes_host: bool = True
    upstream: int | Path = 0
    outside: list[str] = field(default_factory=list)
    port: int = 0

    @property
    def url(self) -> str:
        """Its address with the prefix."""
        return f"http://127.0.0.1:{self.port}{self.prefix}"

    def connect(self) -> http.client.HTTPConnection:
        """Return a connection to the studio."""
        if isinstance(self.upstream, int):
            return http.client.HTTPConnection("127.0.0.1", self.upstream, timeout=60)
        return SocketConnection(self.upstream)

    def target_of(self, path: str) -> str | None:
        """Return what the studio is asked for; None where the path is not the studio's."""
        rest = path.removeprefix(self.prefix)
        if not path.startswith(self.prefix) or rest[:1] not in ("", "/", "?"):
            self.outside.append(path)
            return None
        return rest if self.strips else path


class SocketConnection(http.client.HTTPConnection):
    """A connection to a Unix socket."""

    def __init__(self, file: Path) -> None:
        super().__init__("localhost", timeout=60)
        self.file = file

    def connect(self) -> None:
        """Connect to the file."""
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(60)
        self.sock.connect(str(self.file))


class _Listening(ThreadingHTTPServer):
    """A server whose requests a proxy passes on."""

    daemon_threads, block_on_close = True, False

    def __init__(self, proxy: Proxy) -> None:
        super().__init__(("127.0.0.1", 0), _Passing)
        self.proxy = proxy
        proxy.port = int(self.server_address[1])


class _Passing(BaseHTTPRequestHandler):
    """Asks the studio, and gives its answer back as it comes."""

    server: _Listening

    def __getattr__(self, name: str) -> Callable[[], None]:
        """Answer all methods alike: `http.server` asks for `do_GET`, `do_POST` and so on."""
        if name.startswith("do_"):
            return self._pass_on
        raise AttributeError(name)

    def _pass_on(self) -> None:
        proxy = self.server.proxy
        target = proxy.target_of(self.path)
        if target is None:
            self.send_error(404)
            return
        if not target.startswith("/"):  # as nginx does where its location ends with a slash
            self.send_response(301)
            self.send_header("Location", f"{proxy.prefix}/{target}")
            self.end_headers()
            return
        length = int(self.headers.get("content-length") or 0)
        said = self.headers.items()
        headers = {name: value for name, value in said if name.lower() not in _OWN}
        if not proxy.passes_host:
            headers["Host"] = "localhost"
        asked = proxy.connect()
        try:
            asked.request(self.command, target, self.rfile.read(length) or None, headers)
            self._give_back(asked.getresponse())
        except OSError:  # the browser or the studio has gone
            self.close_connection = True
        finally:
            asked.close()

    def _give_back(self, answer: http.client.HTTPResponse) -> None:
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in _OWN:
                self.send_header(name, value)
        self.end_headers()
        while piece := answer.read1(_PIECE):
            self.wfile.write(piece)

    def log_message(self, *_words: object) -> None:
        """Say nothing."""


@contextmanager
def proxy_at(proxy: Proxy) -> Iterator[Proxy]:
    """Let a proxy listen on a free port until the block ends."""
    with _Listening(proxy) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield proxy
        finally:
            server.shutdown()
            thread.join()
