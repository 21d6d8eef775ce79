"""The watch over a studio's sockets sees what it is there to see."""

import subprocess
import sys
from pathlib import Path

from tests.builders.served_studio import Served, environment


def test_whom_a_studio_asks_is_written_down_and_not_reached(tmp_path: Path) -> None:
    script = "import socket; socket.create_connection(('192.0.2.1', 80), 1)"
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=environment(tmp_path / "home"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert "no test may reach '192.0.2.1'" in done.stderr
    [stranger] = Served(tmp_path / "home").strangers()
    assert stranger.startswith("socket.getaddrinfo '192.0.2.1'")
