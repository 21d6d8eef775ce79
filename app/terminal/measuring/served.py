"""Time a model server from outside, as a client would, in a process of its own."""

import http.client
import json
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from core.errors import RunFailed

BATCH = 64
_ENTRY = Path(__file__).parents[3] / "intent_studio.py"
_WARM, _ASKED, _SECONDS = 30, 1_000, 10.0
_LONGEST_START = 60.0
_PEAK = re.compile(r"^intent_studio_model_peak_bytes (\S+)$", re.M)


@dataclass(frozen=True, slots=True)
class ServedFigures:
    """What a client measured of one server.

    Attributes:
        p50_ms: Median milliseconds of a request with one text, with votes; `p99_ms` likewise.
        texts_per_second: In requests of 64 texts, one after the other, with votes.
        ready_seconds: From the start of the process to its being ready.
        peak_mb: Largest memory, in MB of 1,000,000 bytes.
        intents: The highest ranked intent of each text.
    """

    p50_ms: float
    p99_ms: float
    texts_per_second: float
    ready_seconds: float
    peak_mb: float
    intents: tuple[str, ...]


def measure_server(bundle: Path, texts: Sequence[str]) -> ServedFigures:
    """Start a server of a graph and let it answer texts, alone and in batches; then end it.

    Raises:
        RunFailed: It does not start, or a request fails.
    """
    with started(bundle) as (port, ready_seconds):
        client = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        repeated = [texts[at % len(texts)] for at in range(_WARM + _ASKED)]
        spent = [_timed(client, {"text": text}) for text in repeated][_WARM:]
        intents = _in_batches(client, texts)
        speed = _speed(client, texts)
        peak = _PEAK.search(_get(client, "/metrics"))
        client.close()
    return ServedFigures(
        round(float(np.percentile(spent, 50)) * 1e3, 2),
        round(float(np.percentile(spent, 99)) * 1e3, 2),
        round(speed, 1),
        round(ready_seconds, 2),
        round(float(peak[1]) / 1e6, 1) if peak else 0.0,
        intents,
    )


@contextmanager
def started(bundle: Path, *options: str) -> Iterator[tuple[int, float]]:
    """Start a server at a free port; yield the port and the seconds until it was ready.

    Raises:
        RunFailed: It does not start.
    """
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = int(found.getsockname()[1])
    command = [sys.executable, str(_ENTRY), "serve-model", str(bundle), *options]
    command += ["--port", str(port)]
    with tempfile.TemporaryFile() as said:
        began = time.perf_counter()
        server = subprocess.Popen(command, stdout=said, stderr=said)
        try:
            while not _is_ready(port):
                if server.poll() is not None or time.perf_counter() - began > _LONGEST_START:
                    said.seek(0)
                    words = said.read().decode(errors="replace").strip()
                    raise RunFailed(f"The server did not start: {words[-300:]}")
                time.sleep(0.01)
            yield port, time.perf_counter() - began
        finally:
            server.terminate()
            server.wait(30)


def _is_ready(port: int) -> bool:
    client = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        client.request("GET", "/health/ready")
        return client.getresponse().status == 200
    except OSError:
        return False
    finally:
        client.close()


def _timed(client: http.client.HTTPConnection, body: dict[str, Any]) -> float:
    began = time.perf_counter()
    _ask(client, body)
    return time.perf_counter() - began


def _ask(client: http.client.HTTPConnection, body: dict[str, Any]) -> dict[str, Any]:
    client.request("POST", "/predict", json.dumps(body))
    reply = client.getresponse()
    content = reply.read()
    if reply.status != 200:
        raise RunFailed(f"The server replied {reply.status}: {content[:200].decode()}")
    answer: dict[str, Any] = json.loads(content)
    return answer


def _get(client: http.client.HTTPConnection, path: str) -> str:
    client.request("GET", path)
    return client.getresponse().read().decode()


def _in_batches(client: http.client.HTTPConnection, texts: Sequence[str]) -> tuple[str, ...]:
    return tuple(
        one["intent"]
        for at in range(0, len(texts), BATCH)
        for one in _ask(client, {"texts": texts[at : at + BATCH]})["predictions"]
    )


def _speed(client: http.client.HTTPConnection, texts: Sequence[str]) -> float:
    """Return texts a second in requests of 64, for ten seconds."""
    began, at, n = time.perf_counter(), 0, 0
    while time.perf_counter() - began < _SECONDS:
        batch = [texts[(at + k) % len(texts)] for k in range(BATCH)]
        n += len(_ask(client, {"texts": batch})["predictions"])
        at += BATCH
    return n / (time.perf_counter() - began)
