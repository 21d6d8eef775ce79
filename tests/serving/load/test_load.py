"""A server under more load than it bears refuses with a time, lets nobody wait, and recovers."""

import asyncio

import pytest

from app.terminal.measuring.load import back_after, measure_load
from app.terminal.measuring.sending import LONGEST_WAIT, Exchange, Sender
from app.terminal.measuring.served import started
from tests.conftest import SENTENCES

TEXTS = [f"{text}, please {n}" for n in range(5) for texts in SENTENCES.values() for text in texts]


def test_what_is_too_much_is_refused_with_a_time_and_nobody_waits_in_vain(graph) -> None:
    with started(graph, "--most-waiting", "8") as (port, ready_seconds):
        burst = asyncio.run(_burst(port))
        found = measure_load(port, TEXTS, 2.0, most_waiting=8)
    assert {one.status for one in burst} == {200, 429}
    assert all(one.names_time is (one.status == 429) for one in burst)
    assert max(one.seconds for one in burst) < LONGEST_WAIT
    assert ready_seconds < 60
    assert found.capacity > 20
    assert found.steady.requests == pytest.approx(found.capacity * 0.8 * 2.0, abs=2)
    assert 0 < found.steady.p50_ms <= found.steady.p99_ms < LONGEST_WAIT * 1e3
    assert 50 < found.steady.first_mb < 1_000
    assert found.steady.last_mb == pytest.approx(found.steady.first_mb, rel=0.2)
    over = found.overload
    assert over.requests == pytest.approx(found.capacity * 2.0, abs=2)
    assert (over.without_time, over.timed_out, over.broken) == (0, 0, 0)


async def _burst(port: int) -> list[Exchange]:
    sender = Sender(port, TEXTS)
    found = await sender.at_rate(5_000.0, 0.1)
    sender.close()
    return found


def sent(due: float, seconds: float = 0.01, status: int = 200) -> Exchange:
    return Exchange(due, seconds, status)


def test_it_is_back_when_of_one_second_all_but_one_in_a_hundred_are_in_time() -> None:
    usual = [sent(n / 100) for n in range(400)]
    assert back_after(usual, 50.0) == 0.0
    slow = [sent(one.due, 0.2 if one.due < 0.75 else 0.01) for one in usual]
    assert back_after(slow, 50.0) == pytest.approx(0.8)
    refused = [sent(one.due, status=429 if one.due < 1.5 else 200) for one in usual]
    assert back_after(refused, 50.0) == pytest.approx(1.5)
    assert back_after([sent(one.due, 0.2) for one in usual], 50.0) is None


def test_a_connection_that_the_server_closed_meanwhile_costs_no_answer() -> None:
    closed = 0

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request, and close the connection before the next one."""
        nonlocal closed
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        await writer.drain()
        closed += 1
        writer.close()

    async def story() -> list[Exchange]:
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        sender = Sender(server.sockets[0].getsockname()[1], ["hello"])
        found = await sender.at_rate(50.0, 0.4)
        sender.close()
        server.close()
        return found

    assert {one.status for one in asyncio.run(story())} == {200}
    assert closed == 20
