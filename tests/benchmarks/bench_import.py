"""How long a label waits while a large file is imported, against an idle studio; one run."""

import argparse
import csv
import http.client
import json
import os
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from app.bootstrap import open_studio
from app.services.data.importing import ImportRequest, import_file
from app.services.data.projects import create_project
from app.services.data.utterances import load_page
from app.settings import Settings
from storage.queries.utterances import Filter, Page
from tests.benchmarks.browser_homes import generated
from tests.builders.served_studio import Served

PROJECT = "bench"
_WAITING = 2_000
"""Texts to label meanwhile."""

_PAUSE = 0.1
"""Seconds between two labels: ten times as fast as a person."""

_IDLE_SECONDS = 6.0


def run(arguments: Sequence[str] | None = None) -> int:
    """Print latencies in ms, their ratio, the import's seconds and MB of the write-ahead log."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    rows = parser.parse_args(arguments).rows
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        ids, file = _prepare(home, Path(folder), rows)
        server = Served(home, asks_token=False, watched=False).start()
        try:
            figures = _measure(server, ids, file)
        finally:
            server.stop()
    sys.stdout.write(json.dumps({"rows": rows, **figures}) + "\n")
    return 0


def _prepare(home: Path, folder: Path, rows: int) -> tuple[list[str], Path]:
    """Make a home with texts that wait for a label, and a file of other texts, half labelled."""
    texts = list(generated(rows + _WAITING))
    waiting, file = folder / "waiting.txt", folder / "large.csv"
    waiting.write_text("\n".join(text for text, _ in texts[:_WAITING]), encoding="utf-8")
    with file.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(("text", "intent"))
        writer.writerows(
            (text, intent if place % 2 else "")
            for place, (text, intent) in enumerate(texts[_WAITING:])
        )
    studio = open_studio(Settings(home=home))
    create_project(studio, PROJECT)
    import_file(studio, ImportRequest(PROJECT, waiting))
    page = load_page(studio, PROJECT, Filter(), "oldest", Page(0, _WAITING))
    studio.database.close()
    return [row.id for row in page.rows], file


def _measure(server: Served, ids: list[str], file: Path) -> dict[str, Any]:
    labeller = _Labeller(server, iter(ids))
    labeller.run(lambda: time.sleep(_IDLE_SECONDS))
    idle, labeller.waits = labeller.waits, []
    log = server.home / "studio.db-wal"
    largest, over = [0], threading.Event()

    def watch() -> None:
        while not over.wait(0.02):
            largest.append(log.stat().st_size)

    watcher = threading.Thread(target=watch)
    watcher.start()
    began = time.monotonic()
    labeller.run(lambda: _import(server, file))
    seconds = time.monotonic() - began
    over.set()
    watcher.join()
    return {
        "seconds": round(seconds, 1),
        "idle_ms": _percentiles(idle),
        "importing_ms": _percentiles(labeller.waits),
        "ratio_p95": round(_p(labeller.waits, 95) / _p(idle, 95), 1),
        "labels": len(labeller.waits),
        "log_mb_largest": round(max(largest) / 1e6, 1),
        "log_mb_after": round(log.stat().st_size / 1e6, 1),
        "load": round(os.getloadavg()[0], 1),
    }


def _import(server: Served, file: Path) -> None:
    edge, content = uuid.uuid4().hex, file.read_bytes()
    head = f'--{edge}\r\nContent-Disposition: form-data; name="file"; filename="{file.name}"\r\n'
    body = head.encode() + b"Content-Type: text/csv\r\n\r\n" + content + f"\r\n--{edge}--".encode()
    kind = f"multipart/form-data; boundary={edge}"
    upload = _send(server, f"/api/projects/{PROJECT}/uploads", body, kind)
    path = f"/api/projects/{PROJECT}/uploads/{upload['key']}/import"
    report = _send(server, path, b"{}", "application/json")
    if not report["added"]:
        raise AssertionError(report)


def _send(server: Served, path: str, body: bytes, kind: str) -> Any:
    connection = http.client.HTTPConnection(urlsplit(server.base).netloc, timeout=600)
    connection.request("POST", path, body, {"Content-Type": kind})
    answer = connection.getresponse()
    content = answer.read()
    if answer.status >= 400:
        raise AssertionError(content)
    return json.loads(content)


@dataclass
class _Labeller:
    """One person who decides on one text after the other, over one connection."""

    server: Served
    ids: Any
    waits: list[float] = field(default_factory=list)

    def run(self, work: Any) -> None:
        """Label until `work` has ended in another thread."""
        worker = threading.Thread(target=work)
        worker.start()
        connection = http.client.HTTPConnection(urlsplit(self.server.base).netloc, timeout=600)
        while worker.is_alive():
            began = time.perf_counter()
            self._decide(connection, next(self.ids))
            self.waits.append((time.perf_counter() - began) * 1000)
            time.sleep(_PAUSE)
        worker.join()
        connection.close()

    def _decide(self, connection: http.client.HTTPConnection, key: str) -> None:
        operation = {"key": uuid.uuid4().hex, "kind": "label", "id": key, "create": ["mine"]}
        body = json.dumps([operation]).encode()
        connection.request(
            "POST", f"/api/projects/{PROJECT}/ops", body, {"Content-Type": "application/json"}
        )
        outcome = json.loads(connection.getresponse().read())[0]
        if outcome["state"] != "saved":
            raise AssertionError(outcome)


def _p(samples: list[float], percentile: float) -> float:
    return float(np.percentile(np.asarray(samples), percentile))


def _percentiles(samples: list[float]) -> dict[str, float]:
    return {f"p{p}": round(_p(samples, p), 1) for p in (50, 95, 100)}


if __name__ == "__main__":
    sys.exit(run())
