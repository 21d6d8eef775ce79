"""A studio that listens on a free port of this machine, in a process of its own."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit
from uuid import uuid4

import uvicorn
from starlette.types import ASGIApp

from app.jobs.process_names import JOB, SUPERVISOR
from app.slow_requests import PunctualProtocol
from tests.builders.forked_command import start_fork
from tests.faults.processes import serving

_PATIENCE = 90.0
_BROWSER = Path(__file__).parents[1] / "browser"


class Running(Protocol):
    """A process, forked or with an interpreter of its own."""

    def terminate(self) -> None: ...

    def kill(self) -> None: ...


@dataclass
class Served:
    """A running `intent-studio serve`.

    Attributes:
        home: Where its data lies.
        sample: Whether it begins with the sample project.
        asks_token: Whether it lets in only those who have the launch token.
        watched: Whether its sockets are; that costs a little of its time.
        forked: Whether it is a fork that has its libraries loaded; else it starts as a user's does.
        more: Further options of the command, such as `--log`.
        port: Where it listens; 0 until it has found a free one.
        address: What it printed, with the launch token.
        process: Its process while it runs.
    """

    home: Path
    sample: bool = False
    asks_token: bool = True
    watched: bool = True
    forked: bool = False
    more: tuple[str, ...] = ()
    port: int = 0
    address: str = ""
    process: Running | None = field(default=None, repr=False)

    @property
    def base(self) -> str:
        """The address without path and token."""
        return self.address.partition("/?")[0].rstrip("/")

    @property
    def output(self) -> Path:
        """The file with what it prints."""
        return self.home.with_suffix(".output")

    @property
    def token(self) -> str:
        """The launch token."""
        return self.address.partition("token=")[2]

    def start(self) -> "Served":
        """Start it and wait for the line that names the address."""
        more = ["--sample"] * self.sample + ["--no-token"] * (not self.asks_token) + [*self.more]
        port = [] if "--socket" in self.more else ["--port", str(self.port)]
        arguments = ["serve", "--no-browser", *port, *more]
        output = self.output
        output.unlink(missing_ok=True)
        self.process = _start(self.home, arguments, self, output)
        limit = time.monotonic() + _PATIENCE
        while time.monotonic() < limit and not has_ended(self.process):
            printed = output.read_text(encoding="utf-8") if output.exists() else ""
            address = re.search(r"(http://\S+|/\S+\.sock)\n", printed)
            if address:
                self.address = address[1]
                self.port = urlsplit(self.base).port or 0
                return self
            time.sleep(0.02)
        raise AssertionError("the studio did not start:\n" + output.read_text(encoding="utf-8"))

    def stop(self) -> None:
        """Stop it as Ctrl-C does, and as a lost power plug does when it does not listen."""
        if self.process is None:
            return
        self.process.terminate()
        if not has_ended(self.process, 15):
            self.kill()
        self.process = None

    def kill(self) -> None:
        """End it at once, as a lost power plug does."""
        if self.process is not None:
            self.process.kill()
            assert has_ended(self.process, 15)

    def strangers(self) -> list[str]:
        """Whom any process of it tried to reach outside this machine."""
        file = self.home.with_suffix(".strangers")
        return file.read_text(encoding="utf-8").splitlines() if file.exists() else []

    def ask(self, path: str, body: Any = None) -> Any:
        """Ask a REST route, and return what it answered."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        request = urllib.request.Request(f"{self.base}/api{path}", data, headers)
        with urllib.request.urlopen(request, timeout=_PATIENCE) as answer:
            return json.load(answer)


@dataclass
class StudioPool:
    """Starts studios one after the other on the same ports.

    Chromium keeps the scripts that it has loaded and compiled by their address: a page of another
    studio at the same port opens three seconds sooner.

    Attributes:
        ports: Those that were used before and are free again.
    """

    ports: list[int] = field(default_factory=list)

    @contextmanager
    def serving(self, home: Path, *, sample: bool = False) -> Iterator[Served]:
        """Serve a home; only one that begins with the sample starts as a user starts it."""
        served = Served(home, sample, forked=not sample)
        served.port = self.ports.pop() if self.ports else 0
        try:
            yield served.start()
        finally:
            served.stop()
            _end_jobs(home)
            self.ports.append(served.port)
        assert served.strangers() == []


@contextmanager
def listening(guard: ASGIApp) -> Iterator[int]:
    """Serve behind a guard in a thread of the test, on a free port, which is yielded."""
    server = uvicorn.Server(uvicorn.Config(guard, http=PunctualProtocol, log_level="error"))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield int(listener.getsockname()[1])
        finally:
            server.should_exit = True
            thread.join()


def _end_jobs(home: Path) -> None:
    """End jobs that nobody waits for any more; a map of UMAP computes for half a minute."""
    for name in (SUPERVISOR, JOB):
        for number in serving(home, name):
            with suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)


def run(home: Path, *arguments: str) -> str:
    """Run one command of the studio in a fork and return what it printed; it must succeed."""
    output = home.with_suffix(f".{arguments[0]}.output")
    output.unlink(missing_ok=True)
    process = start_fork(["--home", str(home), *arguments], environment(home), output)
    if not has_ended(process, 300):
        process.kill()
        process.join()
    printed = output.read_text(encoding="utf-8")
    assert process.exitcode == 0, printed
    return printed


def copy_home(source: Path, target: Path) -> Path:
    """Copy a studio that nobody has open; large files are shared, for nothing changes them."""
    linked = source / "artifacts"

    def copy(one: str, other: str) -> str:
        if Path(one).is_relative_to(linked):
            os.link(one, other)
            return other
        return str(shutil.copy2(one, other))

    shutil.copytree(source, target, copy_function=copy)
    return target


def add_intent_elsewhere(studio: Served) -> str:
    """Change the sample as somebody else does: add an intent; return its id."""
    return str(studio.ask("/projects/sample/intents", {"name": f"new {uuid4().hex}"})["id"])


def probe(name: str) -> str:
    """Return a script that looks at a page from within; see `probes`."""
    return (_BROWSER / "probes" / f"{name}.js").read_text(encoding="utf-8")


def environment(home: Path, *, watched: bool = True) -> dict[str, str]:
    """The environment of a studio under test: this checkout, the CPU, its sockets watched."""
    here = Path(__file__).parent
    found = {**os.environ, "PYTHONPATH": str(here.parents[1]), "STUDIO_DEVICE": "cpu"}
    found.pop("PYTHONDONTWRITEBYTECODE", None)  # a user's second start finds compiled modules
    if watched:
        found["PYTHONPATH"] = os.pathsep.join([str(_BROWSER / "watch"), found["PYTHONPATH"]])
        found["STRANGERS"] = str(home.with_suffix(".strangers"))
    return found


def has_ended(process: Running, seconds: float = 0.0) -> bool:
    """Wait up to some seconds for the end of a process, and return whether it came."""
    if isinstance(process, subprocess.Popen):
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True
    process.join(seconds)
    return process.exitcode is not None


def _start(home: Path, arguments: list[str], served: Served, output: Path) -> Running:
    words, variables = ["--home", str(home), *arguments], environment(home, watched=served.watched)
    if served.forked:
        return start_fork(words, variables, output)
    with output.open("wb") as file:
        command = [sys.executable, "-m", "intent_studio", *words]
        return subprocess.Popen(command, stdout=file, stderr=file, env=variables)
