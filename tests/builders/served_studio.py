"""The studio as a person starts it: a process of its own, on a free port of this machine."""

import json
import os
import re
import shutil
import subprocess
import sys
import threading
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_PATIENCE = 90.0
_BROWSER = Path(__file__).parents[1] / "browser"


@dataclass
class Served:
    """A running `intent-studio serve`.

    Attributes:
        home: Where its data lies.
        sample: Whether it begins with the sample project.
        asks_token: Whether it lets in only those who have the launch token.
        watched: Whether its sockets are; that costs a little of its time.
        port: Where it listens; 0 until it has found a free one.
        address: What it printed, with the launch token.
        process: Its process while it runs.
    """

    home: Path
    sample: bool = False
    asks_token: bool = True
    watched: bool = True
    port: int = 0
    address: str = ""
    process: subprocess.Popen[str] | None = field(default=None, repr=False)

    @property
    def base(self) -> str:
        """The address without path and token."""
        return self.address.partition("/?")[0].rstrip("/")

    @property
    def token(self) -> str:
        """The launch token."""
        return self.address.partition("token=")[2]

    def start(self) -> "Served":
        """Start it and wait for the line that names the address."""
        more = ["--sample"] * self.sample + ["--no-token"] * (not self.asks_token)
        command = [*_studio(self.home), "serve", "--no-browser", "--port", str(self.port), *more]
        self.process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            env=environment(self.home, watched=self.watched),
        )
        assert self.process.stdout is not None
        said = []
        for line in self.process.stdout:
            said.append(line)
            found = re.search(r"http://\S+", line)
            if found:
                self.address = found.group()
                self.port = int(self.base.rpartition(":")[2])
                # Somebody has to read on, or a talkative studio waits for ever.
                threading.Thread(target=self._read_on, args=(self.process,), daemon=True).start()
                return self
        raise AssertionError("the studio did not start:\n" + "".join(said))

    def _read_on(self, process: subprocess.Popen[str]) -> None:
        if process.stdout is not None:
            with process.stdout as output:
                for _ in output:
                    pass

    def stop(self) -> None:
        """Stop it as Ctrl-C does, and as a lost power plug does when it does not listen."""
        if self.process is None:
            return
        self.process.terminate()
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process = None

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


def run(home: Path, *arguments: str) -> str:
    """Run one command of the studio and return what it printed; it must succeed."""
    done = subprocess.run(
        [*_studio(home), *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=300,
        check=False,
        env=environment(home),
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


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


def probe(name: str) -> str:
    """Return a script that looks at a page from within; see `probes`."""
    return (_BROWSER / "probes" / f"{name}.js").read_text(encoding="utf-8")


def environment(home: Path, *, watched: bool = True) -> dict[str, str]:
    """The environment of a studio under test: this checkout, the CPU, its sockets watched."""
    here = Path(__file__).parent
    found = {**os.environ, "PYTHONPATH": str(here.parents[1]), "STUDIO_DEVICE": "cpu"}
    if watched:
        found["PYTHONPATH"] = os.pathsep.join([str(_BROWSER / "watch"), found["PYTHONPATH"]])
        found["STRANGERS"] = str(home.with_suffix(".strangers"))
    return found


def _studio(home: Path) -> list[str]:
    return [sys.executable, "-m", "app.cli", "--home", str(home)]
