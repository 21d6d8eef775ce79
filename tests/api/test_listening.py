"""The socket that the server listens on."""

import asyncio
import socket

from app.server import Doorway, _listen


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
