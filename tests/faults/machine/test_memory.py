"""A server whose memory has a limit: what does not fit is refused in words, and it goes on."""

import asyncio
import json
import os
import resource
import shutil
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from anyio._backends._asyncio import WorkerThread

from app.allocation import keep_threads
from tests.faults.kills.acts import events_of, texts_of
from tests.faults.kills.light_server import LightServer
from tests.faults.table import Fault

FAULTS = (
    Fault(
        13.5,
        "Out of memory in the server",
        "RLIMIT_AS of a running server 60, 24 and 12 MiB above what it has, while a file of 2 MB "
        "is uploaded and a label is given; then the limit is taken away",
        "The upload is read, or refused as 'not enough memory' while 32 MB are left, with a time "
        "to try again; the label is saved; without the limit the same upload is read. Where "
        "nothing at all finds room, the process ends as a killed one",
    ),
)
ROOMS_MIB = (60, 24, 12)
"""Above what the server has: too little for the file, and enough for a label."""

TEXT = "please label this"
FILE = "text\n" + "\n".join(f"where is parcel {n} of my long order" for n in range(60_000))
FORM = (
    '--cut\r\nContent-Disposition: form-data; name="file"; filename="more.csv"\r\n'
    f"Content-Type: text/csv\r\n\r\n{FILE}\r\n--cut--\r\n"
).encode()


@pytest.fixture
def server(template: Path, tmp_path: Path) -> Iterator[LightServer]:
    shutil.copytree(template, tmp_path / "home")
    server = LightServer(tmp_path / "home")
    server.start()
    yield server
    server.kill()
    server.kill_workers()


def limit(server: LightServer, more_mib: int | None) -> None:
    """Let a server have some memory above what it has; None takes the limit away."""
    most = resource.RLIM_INFINITY
    if more_mib is not None:
        pages = int(Path(f"/proc/{server.process}/statm").read_text().split()[0])
        most = pages * os.sysconf("SC_PAGE_SIZE") + (more_mib << 20)
    resource.prlimit(server.process, resource.RLIMIT_AS, (most, resource.RLIM_INFINITY))


def ask(server: LightServer, path: str, body: bytes, kind: str) -> tuple[int, Any]:
    """Return status and answer."""
    url = f"{server.address}/api/projects/p/{path}"
    request = urllib.request.Request(url, body, {"Content-Type": kind})
    try:
        with urllib.request.urlopen(request, timeout=180) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def upload(server: LightServer) -> tuple[int, Any]:
    return ask(server, "uploads", FORM, "multipart/form-data; boundary=cut")


def flag(server: LightServer, text: str, note: str) -> tuple[int, Any]:
    body = [{"key": note, "kind": "flag", "id": texts_of(server.home)[text].id, "note": note}]
    return ask(server, "ops", json.dumps(body).encode(), "application/json")


def test_a_server_without_memory_refuses_in_words_and_recovers(
    server: LightServer, measured: Callable[[str, str], None]
) -> None:
    """It was told as "Something broke (incident ...)", as if the studio were at fault."""
    refused = 0
    for room in ROOMS_MIB:
        limit(server, room)
        status, answer = upload(server)
        if status != 201:  # memory that the process has and does not use may be enough
            refused += 1
            assert (status, answer["message"]) == (503, "There was not enough memory."), room
            assert answer["hint"].startswith("Close other programs")
        assert flag(server, TEXT, f"beside {room} MiB")[0] == 200
        limit(server, None)
        assert events_of(server.home, f"beside {room} MiB") == 1
    assert upload(server)[0] == 201
    measured("server", f"{refused} uploads refused in words, each label beside them saved.")


def test_threads_that_answer_are_there_before_memory_is_short(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A thread begun without memory may never say so, and the server waited for it for ever."""
    monkeypatch.setattr(WorkerThread, "MAX_IDLE_TIME", WorkerThread.MAX_IDLE_TIME)  # set back after

    async def begun() -> int:
        await keep_threads()
        return sum(thread.name == "AnyIO worker thread" for thread in threading.enumerate())

    assert asyncio.run(begun()) >= 8
