"""The studio's server in a fork of the test's process, without Gradio's pages: up in a moment."""

import json
import os
import re
import signal
import sys
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn  # noqa: F401 - loaded once, before the forks

from app import server
from app.cli import main
from app.jobs.process_names import JOB, SUPERVISOR
from app.services.training.jobs import list_jobs
from app.terminal import serve  # noqa: F401
from app.ui import navigation
from tests.faults.processes import serving

_PATIENCE = 60.0


@dataclass
class LightServer:
    """`intent-studio serve` of a home; it can be killed, with its supervisor and jobs."""

    home: Path
    process: int = 0
    address: str = ""

    def start(self) -> float:
        """Start it; return the seconds until it is ready."""
        began = time.monotonic()
        output = self.home.with_suffix(".output")
        output.unlink(missing_ok=True)
        sys.stdout.flush()
        self.process = os.fork()
        if self.process == 0:
            _serve(self.home, output)
        while time.monotonic() - began < _PATIENCE:
            told = output.read_text(encoding="utf-8") if output.exists() else ""
            address = re.search(r"(http://\S+)/\n", told)
            if address:
                self.address = address[1]
                return time.monotonic() - began
            time.sleep(0.005)
        raise AssertionError(told)

    def kill(self) -> None:
        """End it at once."""
        if self.process:
            os.kill(self.process, signal.SIGKILL)
            os.waitpid(self.process, 0)
            self.process = 0

    def kill_workers(self, *names: str) -> None:
        """End the processes of jobs at once, whoever their parent is."""
        for name in names or (SUPERVISOR, JOB):
            for number in serving(self.home, name):
                try:
                    os.kill(number, signal.SIGKILL)
                except ProcessLookupError:
                    continue

    def ask(self, path: str, body: Any = None) -> Any:
        """Ask a REST route; raises OSError where the server is gone."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            f"{self.address}/api{path}", data, {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=_PATIENCE) as answer:
            return json.load(answer)


def _serve(home: Path, output: Path) -> None:
    file = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for descriptor in (1, 2):
        os.dup2(file, descriptor)
    sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w")  # the test's own are captured
    try:
        # No model is asked for here; jobs that nobody works on are taken up as ever.
        server._warm_up = lambda live_studio: list_jobs(live_studio.studio)
        navigation.mount_pages = lambda *_: None
        words = ["serve", "--no-browser", "--no-token", "--port", "0"]
        os._exit(main(["--home", str(home), *words]))
    finally:
        os._exit(1)
