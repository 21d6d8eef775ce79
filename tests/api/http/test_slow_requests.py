"""A sender takes neither more bytes nor more time of the server than one request is worth."""

import asyncio
import json
import socket
from collections.abc import Iterator

import pytest
from fastapi import FastAPI, Request

from app import security
from app.api.http.errors import answer_errors
from app.security import Guard
from app.slow_requests import Patience, PunctualProtocol
from tests.builders.served_studio import listening

SHORT = Patience(header=0.8, body=0.4, pace=1 << 20)
LIMIT = 1_000


@pytest.fixture
def port(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    monkeypatch.setattr(security, "_MOST_BODY", LIMIT)
    monkeypatch.setattr(PunctualProtocol, "seconds", SHORT.header)
    app = FastAPI()
    answer_errors(app)

    @app.post("/api/echo")
    async def echo(request: Request) -> int:
        return len(await request.body())

    with listening(Guard(app, None, frozenset({"127.0.0.1"}), patience=SHORT)) as number:
        yield number


def answer_to(port: int, *pieces: bytes) -> tuple[int, bytes]:
    """Send pieces and return status and body of what comes until the server hangs up."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        for piece in pieces:
            connection.sendall(piece)
        received = b""
        while piece := connection.recv(65_536):
            received += piece
    head, _, body = received.partition(b"\r\n\r\n")
    return int(head.split(b" ")[1]), body


def header(*lines: str) -> bytes:
    return "\r\n".join(["POST /api/echo HTTP/1.1", "Host: 127.0.0.1", *lines, "", ""]).encode()


def chunks(*sizes: int) -> bytes:
    return b"".join(b"%x\r\n%s\r\n" % (size, b"x" * size) for size in (*sizes, 0))


def test_a_body_without_a_length_is_counted(port: int) -> None:
    """The limit trusted the content-length alone, which a chunked body does not have."""
    asked = header("Transfer-Encoding: chunked", "Connection: close")
    assert answer_to(port, asked, chunks(600, 400)) == (200, b"1000")
    status, body = answer_to(port, asked, chunks(600, 401))
    assert (status, "Split the file" in json.loads(body)["message"]) == (413, True)


def test_a_header_that_never_ends_is_hung_up_on(port: int) -> None:
    """Each such connection was held for ever."""
    for begun in (b"", header()[:-2]):
        status, body = answer_to(port, begun)
        assert (status, json.loads(body)["hint"]) == (408, "Send it again.")  # as of every error


def test_a_body_that_never_ends_is_hung_up_on(port: int) -> None:
    status, body = answer_to(port, header("Content-Length: 900", "Connection: close"), b"x" * 10)
    assert (status, "in time" in json.loads(body)["message"]) == (408, True)


def test_a_refused_body_that_never_ends_is_hung_up_on(port: int) -> None:
    """A body that announced too much was read to its end, however long that took."""
    status, body = answer_to(port, header(f"Content-Length: {1 << 30}", "Connection: close"), b"x")
    assert (status, b"Split the file" in body) == (413, True)


def test_the_body_of_who_has_not_entered_is_not_read() -> None:
    """Health is open to everybody, and a thousand such bodies held all connections."""
    sent = []

    async def receive():
        raise AssertionError("it was read")

    async def send(message):
        sent.append(message)

    guard = Guard(FastAPI(), "a-token", frozenset({"127.0.0.1"}))
    headers = [(b"host", b"127.0.0.1"), (b"content-length", b"99999999")]
    scope = {"type": "http", "method": "POST", "path": "/api/health", "query_string": b""}
    asyncio.run(guard({**scope, "scheme": "http", "headers": headers}, receive, send))
    assert sent[0]["status"] == 413


def test_a_connection_that_works_longer_than_the_time_for_a_header_is_kept(port: int) -> None:
    async def talk() -> list[bytes]:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        statuses = []
        for _ in range(7):
            writer.write(header("Content-Length: 1") + b"x")
            statuses.append(await reader.readuntil(b"\r\n"))
            await reader.readuntil(b"\r\n\r\n1")
            await asyncio.sleep(SHORT.header / 5)  # a busy machine makes more of it
        writer.close()
        return statuses

    assert asyncio.run(talk()) == [b"HTTP/1.1 200 OK\r\n"] * 7
