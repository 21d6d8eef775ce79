"""Nobody holds a connection of a model server by sending slowly, least of all without its key."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.serving.command_process import ServerProcess, received, server_process

SHORT = """
from app import slow_requests
from app.serving import guard
slow_requests.PunctualProtocol.seconds = 0.8
guard._PATIENCE = slow_requests.Patience(body=2.0)
"""


@pytest.fixture(scope="module")
def server(graph: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server with a key, started by its command, which waits two seconds at most for a body."""
    folder = tmp_path_factory.mktemp("slow")
    (folder / "key").write_text("k1", encoding="utf-8")
    options = ("--api-key-file", str(folder / "key"))
    with server_process(graph, folder, *options, before=SHORT) as found:
        yield found


@pytest.mark.parametrize("begun", [b"", b"GET / HTTP/1.1\r\n"], ids=["nothing", "a line"])
def test_a_header_that_never_ends_is_hung_up_on(server: ServerProcess, begun: bytes) -> None:
    """A thousand such connections, and the server had no room for any other."""
    with server.connect() as connection:
        connection.sendall(begun)
        assert received(connection).startswith(b"HTTP/1.1 408")


@pytest.mark.parametrize(
    ("path", "lines"),
    [("/predict", ("X-API-Key: k1",)), ("/model/parse", ()), ("/models/p/model/parse", ())],
    ids=["with the key", "a bot of Rasa", "a bot of a named model"],
)
def test_a_body_that_never_ends_is_hung_up_on(
    server: ServerProcess, path: str, lines: tuple[str, ...]
) -> None:
    """A bot of Rasa sends the key in its body: who had none was waited for without a limit."""
    with server.hold(path, *lines) as connection:
        connection.sendall(b'{"t')
        head, _, body = received(connection).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 408")
    assert "did not arrive in time" in json.loads(body)["error"]
