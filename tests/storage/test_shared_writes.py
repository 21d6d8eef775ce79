"""Small requests that wait at the same time are written together, and fail each for itself."""

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

import pytest
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from core.errors import DiskFull
from storage import projects
from storage.database import Database
from storage.write_queue import SharedWrites, Take

N = 8


class Refused(Exception):
    """What a request may raise."""


@pytest.fixture
def commits(database: Database) -> list[Connection]:
    seen: list[Connection] = []
    sa.event.listen(database.engine, "commit", seen.append)
    return seen


def creating(database: Database) -> Callable[[Take[str]], list[str]]:
    """Create a project of each name; one that is called "bad" fails after it was written."""

    def save(take: Take[str]) -> list[str]:
        with database.write() as connection:
            made = [projects.create(connection, name).name for name in take()]
            if "bad" in made:
                raise Refused
            return made

    return save


def hand_in_together(
    writes: SharedWrites[str, str], database: Database, wanted: Sequence[str]
) -> list[Future[str]]:
    """Hand in requests by threads of their own, all of them before the first is written."""
    save = creating(database)
    with ThreadPoolExecutor(len(wanted)) as pool, database.write():
        done = [pool.submit(writes.write, name, save) for name in wanted]
        limit = time.monotonic() + 60
        while len(writes._waiting) < len(wanted):
            assert time.monotonic() < limit
            time.sleep(0.001)
    return done


def names(database: Database) -> list[str]:
    with database.read() as connection:
        return sorted(record.name for record in projects.list_all(connection))


def test_requests_that_wait_are_written_in_one_commit(
    database: Database, commits: list[Connection]
) -> None:
    """Twelve people's decisions were written one by one, and waited a quarter of a second."""
    wanted = [f"p{at}" for at in range(N)]
    done = hand_in_together(SharedWrites(), database, wanted)
    assert [one.result() for one in done] == wanted
    assert len(commits) == 2  # that for which they waited, and their own
    assert names(database) == wanted


def test_a_request_that_fails_fails_alone(database: Database) -> None:
    done = hand_in_together(SharedWrites(), database, ["a", "bad", "b"])
    assert [done[0].result(), done[2].result()] == ["a", "b"]
    with pytest.raises(Refused):
        done[1].result()
    assert names(database) == ["a", "b"]


def test_a_request_alone_that_fails_is_written_once(database: Database) -> None:
    writes, calls = SharedWrites[str, str](), list[str]()

    def save(take: Take[str]) -> list[str]:
        calls.extend(take())
        raise Refused

    with pytest.raises(Refused):
        writes.write("a", save)
    assert calls == ["a"]
    assert writes.write("p", creating(database)) == "p"


def test_each_is_told_that_no_transaction_can_begin() -> None:
    """A full disk refuses the transaction itself: nobody waits for ever."""
    writes, told = SharedWrites[str, str](), list[str]()
    is_tried, go_on = threading.Event(), threading.Event()

    def save(_: Take[str]) -> list[str]:
        is_tried.set()
        go_on.wait(60)
        raise DiskFull("The disk is full.", "Make room.")

    def hand_in(name: str) -> None:
        with pytest.raises(DiskFull):
            writes.write(name, save)
        told.append(name)

    threads = [threading.Thread(target=hand_in, args=(f"p{at}",)) for at in range(N)]
    for thread in threads:
        thread.start()
    assert is_tried.wait(60)
    go_on.set()
    for thread in threads:
        thread.join(60)
    assert sorted(told) == [f"p{at}" for at in range(N)]
    assert not writes._waiting


def test_an_interrupted_writer_leaves_no_other_waiting(database: Database) -> None:
    writes = SharedWrites[str, str]()

    def interrupted(take: Take[str]) -> list[str]:
        take()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        writes.write("a", interrupted)
    assert writes.write("p", creating(database)) == "p"
    assert names(database) == ["p"]


def test_no_request_is_lost_or_written_twice(database: Database) -> None:
    writes, save = SharedWrites[str, str](), creating(database)
    wanted = [f"p{at:03}" for at in range(120)]
    with ThreadPoolExecutor(12) as pool:
        found = list(pool.map(lambda name: writes.write(name, save), wanted))
    assert found == wanted
    assert names(database) == wanted


def test_a_write_within_a_write_of_the_same_thread_is_refused(database: Database) -> None:
    """It waited for itself, for ever: a run of all tests ended after ninety minutes by a limit."""
    with (
        database.write(),
        pytest.raises(RuntimeError, match="within another one of the same thread"),
        database.write(),
    ):
        pass
    with database.write() as connection:
        assert projects.create(connection, "after it").name == "after it"
