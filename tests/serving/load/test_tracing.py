"""Spans tell of requests and batches where OpenTelemetry's variables ask, and of no text."""

import logging
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from app.serving.beside.tracing import opened_tracing
from app.serving.limits import Serving
from app.serving.server import make_application
from tests.serving.refusing_imports import run_without
from tests.serving.test_command import ROOT
from tests.serving.test_replies import KNOWN

AT = "OTEL_EXPORTER_OTLP_ENDPOINT"
TRACE, CALLER = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (AT, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_SERVICE_NAME"):
        monkeypatch.delenv(name, raising=False)


def test_without_a_variable_nothing_of_it_is_imported(graph: Path) -> None:
    code = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
from app.serving.limits import Serving
from app.serving.server import make_application
make_application(Serving({str(graph)!r}, threads=1))
print([name for name in sys.modules if name.startswith("opentelemetry")])
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout == "[]\n"
    assert run_without(("opentelemetry",), code, ROOT) == "[]\n"


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("OTEL_SDK_DISABLED", "true", ""),
        ("OTEL_TRACES_EXPORTER", "none", ""),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc", "speaks http/protobuf, not grpc"),
    ],
)
def test_other_variables_switch_it_off(
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    name: str,
    value: str,
    words: str,
) -> None:
    monkeypatch.setenv(AT, "http://127.0.0.1:1")
    monkeypatch.setenv(name, value)
    assert opened_tracing() is None
    assert (words in caplog.text) if words else not caplog.text


def test_a_package_that_is_missing_is_named_and_the_server_goes_on(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, graph: Path
) -> None:
    monkeypatch.setenv(AT, "http://127.0.0.1:1")
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter", None)
    with TestClient(make_application(Serving(str(graph), threads=1))) as client:
        assert client.post("/predict", json={"text": KNOWN}).status_code == 200
    assert "pip install 'intent-studio[serve,trace]'" in caplog.text


class Collector(ThreadingHTTPServer):
    """Keeps what is sent to it."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Keeping)
        self.bodies: list[bytes] = []
        self.paths: set[str] = set()

    @property
    def spans(self) -> list[tuple[str, Any]]:
        """All spans, each with the name of the service that made it."""
        from opentelemetry.proto.collector.trace.v1 import trace_service_pb2

        read = trace_service_pb2.ExportTraceServiceRequest.FromString
        return [
            (attributes_of(found.resource)["service.name"], span)
            for body in self.bodies
            for found in read(body).resource_spans
            for scope in found.scope_spans
            for span in scope.spans
        ]


class Keeping(BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self) -> None:
        self.server.bodies.append(self.rfile.read(int(self.headers["content-length"])))
        self.server.paths.add(self.path)
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_words: object) -> None:
        """Say nothing."""


def attributes_of(thing: Any) -> dict[str, Any]:
    kinds = ("string_value", "int_value")
    return {
        one.key: next(getattr(one.value, kind) for kind in kinds if one.value.HasField(kind))
        for one in thing.attributes
        if any(one.value.HasField(kind) for kind in kinds)
    }


@pytest.fixture
def collector(monkeypatch: pytest.MonkeyPatch) -> Iterator[Collector]:
    pytest.importorskip("opentelemetry.sdk", reason="pip install 'intent-studio[trace]'")
    with Collector() as found:
        thread = threading.Thread(target=found.serve_forever, daemon=True)
        thread.start()
        monkeypatch.setenv(AT, f"http://127.0.0.1:{found.server_address[1]}")
        yield found
        found.shutdown()
        thread.join()


def test_a_request_has_a_span_below_its_sender_s_and_its_batch_one_below_it(
    graph: Path, collector: Collector
) -> None:
    with TestClient(make_application(Serving(str(graph), threads=1))) as client:
        sent = {"traceparent": f"00-{TRACE}-{CALLER}-01"}
        client.post("/predict", json={"texts": [KNOWN, "my secret parcel"]}, headers=sent)
    assert collector.paths == {"/v1/traces"}
    found = {span.name: span for _, span in collector.spans}
    assert {service for service, _ in collector.spans} == {"intent-studio-model-server"}
    asked, batch = found["POST /predict"], found["batch"]
    assert asked.trace_id.hex() == batch.trace_id.hex() == TRACE
    assert asked.parent_span_id.hex() == CALLER
    assert batch.parent_span_id == asked.span_id
    assert attributes_of(asked) == {
        "http.request.method": "POST",
        "http.response.status_code": 200,
        "http.route": "/predict",
        "intent_studio.model": "p",
    }
    assert attributes_of(batch) == {"intent_studio.texts": 2, "intent_studio.requests": 1}
    assert asked.start_time_unix_nano < batch.start_time_unix_nano
    assert batch.end_time_unix_nano < asked.end_time_unix_nano
    assert not any(b"secret" in body for body in collector.bodies)


def test_what_breaks_is_told_by_its_type_and_the_service_by_its_variable(
    graph: Path,
    collector: Collector,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.CRITICAL)
    monkeypatch.setenv("OTEL_SERVICE_NAME", "shop")
    application = make_application(Serving(str(graph), threads=1))
    with TestClient(application, raise_server_exceptions=False) as client:

        def broken(texts: list[str]) -> None:
            raise RuntimeError(texts[0])

        application.routes[0].endpoint.__self__.current.batcher.predict = broken
        client.post("/predict", json={"text": "my secret"})
        client.get("/nothing")
    found = {span.name: span for _, span in collector.spans}
    assert {service for service, _ in collector.spans} == {"shop"}
    for name in ("POST /predict", "batch"):
        assert attributes_of(found[name])["error.type"] == "RuntimeError"
        assert found[name].status.code == 2
        assert list(found[name].events) == []
    assert attributes_of(found["POST /predict"])["http.response.status_code"] == 500
    assert attributes_of(found["GET"])["http.response.status_code"] == 404
    assert found["GET"].status.code == 0
    assert not any(b"secret" in body for body in collector.bodies)
