"""A model server as a process of its own, whose words and end a test looks at."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.serving.test_command import ROOT, free_port, is_ready


@dataclass
class ServerProcess:
    """A server that was started by its command.

    Attributes:
        port: Of this machine, at which it answers.
        said: File that gets what it prints.
    """

    process: "subprocess.Popen[bytes]"
    port: int
    said: Path

    @property
    def words(self) -> str:
        return self.said.read_text("utf-8")

    def ask_to_end(self) -> None:
        self.process.send_signal(signal.SIGTERM)

    def await_end(self) -> str:
        """Wait until it has ended, and return all that it printed."""
        self.process.wait(30)
        return self.words

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=30)

    def hold(self, path: str, *lines: str) -> socket.socket:
        """Begin a request of 100 bytes; return once the server waits for its body."""
        connection = self.connect()
        head = [f"POST {path} HTTP/1.1", "Host: 127.0.0.1", "Content-Length: 100"]
        words = "\r\n".join([*head, "Expect: 100-continue", *lines, "", ""])
        connection.sendall(words.encode())
        assert connection.recv(65_536).startswith(b"HTTP/1.1 100")
        return connection


@contextmanager
def server_process(
    graph: Path, folder: Path, *options: str, before: str = ""
) -> Iterator[ServerProcess]:
    """Run `serve-model` until the block ends; the program `before` runs in its process first."""
    port, said = free_port(), folder / "said"
    begin = f"import sys; sys.path.insert(0, {str(ROOT)!r})"
    program = "\n".join([begin, before, "import intent_studio", "sys.exit(intent_studio.main())"])
    words = ["serve-model", str(graph), "--port", str(port), *options]
    with said.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-c", program, *words],
            stdout=output,
            stderr=output,
            cwd=ROOT,
            start_new_session=True,
        )
    found = ServerProcess(process, port, said)
    try:
        until = time.monotonic() + 60
        while not is_ready(port):
            assert process.poll() is None, found.words
            assert time.monotonic() < until
            time.sleep(0.05)
        yield found
    finally:
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)  # its workers, too
                process.wait()
                raise


def received(connection: socket.socket) -> bytes:
    """Return all that comes until the other side hangs up."""
    found = b""
    while piece := connection.recv(65_536):
        found += piece
    return found
