"""The socket that the server listens on."""

import asyncio
import socket
from typing import Any

import pytest

from app import server
from app.last_port import keep_port, last_port
from app.server import Doorway, _listen, _only_server, _private_places
from app.server import serve as serve_studio
from app.services.studio import Studio
from core.errors import InvalidInput


def test_an_answer_leaves_at_once() -> None:
    """With Nagle on, the body of every answer waited 40 ms for the header to be acknowledged."""
    listener = _listen(Doorway(port=0))

    async def ask() -> int:
        told: asyncio.Future[int] = asyncio.get_running_loop().create_future()

        def meet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            mine = writer.get_extra_info("socket")
            told.set_result(mine.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            writer.close()

        async with await asyncio.start_server(meet, sock=listener):
            _, writer = await asyncio.open_connection(*listener.getsockname())
            found = await told
            writer.close()
            return found

    assert asyncio.run(ask()) == 1


def test_a_second_server_of_a_home_is_refused_with_the_address_of_the_first(studio: Studio) -> None:
    """Two servers handed one text to two people."""
    with (
        _only_server(studio.places, "http://127.0.0.1:7860/"),
        pytest.raises(InvalidInput, match="open already at http://127"),
    ):
        serve_studio(studio, Doorway(port=0, browser=False))
    with _only_server(studio.places, "http://127.0.0.1:1/"):  # a longer address stood there
        assert studio.places.server_lock.read_text(encoding="utf-8") == "http://127.0.0.1:1/"


def test_folders_of_killed_servers_are_swept(
    studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = studio.places.scratch / "serve-killed" / "tmp"
    left.mkdir(parents=True)
    for name in ("TMPDIR", "GRADIO_TEMP_DIR"):
        monkeypatch.setenv(name, "restored afterwards")
    with _private_places(studio.places.home):
        assert not left.exists()
        assert len(list(studio.places.scratch.iterdir())) == 1
    assert list(studio.places.scratch.iterdir()) == []


def test_the_port_of_the_last_server_is_taken_again(studio: Studio) -> None:
    """An open tab, and the decisions that it keeps, belonged to an address of nobody."""
    assert last_port(studio.places) is None
    with _only_server(studio.places, ""), _listen(Doorway(port=0)) as first:
        keep_port(studio.places, first)
        port = first.getsockname()[1]
    last = last_port(studio.places)
    assert last == port
    with _listen(Doorway(), last) as second:
        assert second.getsockname()[1] == port
        second.listen()
        with _listen(Doorway(), last) as other:  # it is taken
            assert other.getsockname()[1] != port
    with _listen(Doorway(port=0), last) as named:
        assert named.getsockname()[1] > 0


def test_a_server_remembers_its_port(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    def note(_studio: Any, _door: Any, entrance: Any, _prepare: Any) -> None:
        seen.append(entrance.address)

    monkeypatch.setattr(server, "_serve_at", note)
    for door in (Doorway(port=0), Doorway(), Doorway()):
        serve_studio(studio, door)
    assert len(set(seen)) == 1


@pytest.mark.parametrize("content", ["", "x", "70000", "-1", "0"])
def test_a_port_that_is_none_is_not_taken(studio: Studio, content: str) -> None:
    with _only_server(studio.places, ""):
        studio.places.last_port.write_text(content, encoding="utf-8")
    assert last_port(studio.places) is None
