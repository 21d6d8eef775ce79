"""What pushing, logs and spans cost an answer: servers of one bundle, asked in turns.

python -m tests.benchmarks.beside.bench_beside BUNDLE [TEXTS.csv]

The first column of the file is asked. `spans` needs the packages of the extra `trace`.
"""

import csv
import json
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np

from app.terminal.measuring.served import started

_ASKED, _WARM = 1_500, 50
_SAID = ("where is my parcel", "I want my money back", "reset my password, please")
_AT = "OTEL_EXPORTER_OTLP_ENDPOINT"


class _Taking(BaseHTTPRequestHandler):
    """Takes whatever is sent, as a studio and a collector do."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_words: object) -> None:
        """Say nothing."""


@contextmanager
def taking() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Taking) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


def ask(client: HTTPConnection, text: str) -> float:
    began = time.perf_counter()
    client.request("POST", "/predict", json.dumps({"text": text}))
    assert client.getresponse().read()
    return 1e3 * (time.perf_counter() - began)


def measure(bundle: Path, texts: list[str]) -> dict[str, dict[str, float]]:
    """Return milliseconds of a request with one text, and their ratio to those of the plain one."""
    with ExitStack() as open_now:
        address = open_now.enter_context(taking())
        push = ("--push-to", address, "--push-project", "p")
        nowhere = ("--push-to", "http://127.0.0.1:9", "--push-project", "p")
        kinds = {"plain": (), "pushing": push, "studio is away": nowhere, "log": ("--log", "json")}
        kinds |= {"spans": ()}
        clients = {}
        for name, options in kinds.items():
            if name == "spans":
                os.environ[_AT] = address
            port, _ = open_now.enter_context(started(bundle, *options))
            os.environ.pop(_AT, None)
            clients[name] = HTTPConnection("127.0.0.1", port, timeout=60)
        spent: dict[str, list[float]] = {name: [] for name in clients}
        for number in range(_ASKED + _WARM):
            for name, client in clients.items():
                spent[name].append(ask(client, texts[number % len(texts)]))
    found = {name: np.percentile(one[_WARM:], [50, 99]) for name, one in spent.items()}
    return {
        name: {
            "p50_ms": round(float(one[0]), 2),
            "p99_ms": round(float(one[1]), 2),
            "ratio": round(float(one[0] / found["plain"][0]), 3),
        }
        for name, one in found.items()
    }


def _texts(path: Path) -> list[str]:
    with path.open(encoding="utf-8", newline="") as lines:
        return [row[0] for row in csv.reader(lines)][1:]


if __name__ == "__main__":
    said = _texts(Path(sys.argv[2])) if len(sys.argv) > 2 else list(_SAID)
    sys.stdout.write(json.dumps(measure(Path(sys.argv[1]), said), indent=1) + "\n")
