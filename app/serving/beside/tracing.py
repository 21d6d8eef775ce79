"""Spans of requests and batches for OpenTelemetry, where its variables ask for them.

Nothing of OpenTelemetry is imported before one of them does. No span has a text, an address or a
key; an error stands there by its type.
"""

import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

if TYPE_CHECKING:
    from opentelemetry.trace import Span, Tracer

_LOG = logging.getLogger("app.serving")

_ADDRESSES = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
_SPOKEN = "http/protobuf"
_SERVICE = "intent-studio-model-server"
_UNNAMED = "unknown_service"


@dataclass(frozen=True, slots=True, eq=False)
class Tracing:
    """Makes the spans of one server.

    Attributes:
        tracer: Of OpenTelemetry.
        provider: What sends spans; it is ended with the server.
    """

    tracer: "Tracer"
    provider: Any

    def mark(self) -> "Span":
        """Return the span of the request that is being answered."""
        from opentelemetry.trace import get_current_span

        return get_current_span()

    @contextmanager
    def batch(self, marks: Sequence[Any], texts: int) -> Iterator[None]:
        """Give a batch a span: below its first request, with links to the others."""
        from opentelemetry.trace import Link, set_span_in_context

        first, *others = marks
        links = [Link(one.get_span_context()) for one in others]
        counts = {"intent_studio.texts": texts, "intent_studio.requests": len(marks)}
        above = set_span_in_context(first)
        span = self.tracer.start_span("batch", above, attributes=counts, links=links)
        try:
            yield
        except Exception as error:
            _tell(span, type(error).__name__)
            raise
        finally:
            span.end()

    def end(self) -> None:
        """Send what is left, for as long as the variables say."""
        self.provider.shutdown()


@dataclass(frozen=True, slots=True)
class TracedRequests:
    """Gives each request a span below that of its sender (`traceparent`)."""

    app: ASGIApp
    tracing: Tracing

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        from opentelemetry.propagate import extract
        from opentelemetry.trace import SpanKind, use_span

        said = {key.decode("latin-1"): value.decode("latin-1") for key, value in scope["headers"]}
        span = self.tracing.tracer.start_span(scope["method"], extract(said), SpanKind.SERVER)
        span.set_attribute("http.request.method", scope["method"])
        try:
            with use_span(span, record_exception=False, set_status_on_exception=False):
                await self.app(scope, receive, _noting(send, span))
        finally:
            _name(span, scope)
            span.end()


def opened_tracing() -> Tracing | None:
    """Return what makes spans; None where no variable asks for it, or its packages are missing."""
    wanted = any(os.environ.get(name) for name in _ADDRESSES)
    off = os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"
    if not wanted or off or os.environ.get("OTEL_TRACES_EXPORTER", "otlp").strip() == "none":
        return None
    protocol = next((os.environ[name] for name in _PROTOCOLS if os.environ.get(name)), _SPOKEN)
    if protocol != _SPOKEN:
        _LOG.warning("spans are not sent: the server speaks %s, not %s", _SPOKEN, protocol)
        return None
    try:
        return _opened()
    except ImportError as error:
        _LOG.warning(
            "spans are not sent: %s is not installed: pip install 'intent-studio[serve,trace]'",
            error.name,
        )
        return None


def _opened() -> Tracing:
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import SERVICE_NAME, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    about = Resource.create()  # as OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES say
    if str(about.attributes[SERVICE_NAME]).startswith(_UNNAMED):
        about = about.merge(Resource({SERVICE_NAME: _SERVICE}))
    provider = TracerProvider(resource=about, shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return Tracing(provider.get_tracer("intent_studio"), provider)


def _noting(send: Send, span: "Span") -> Send:
    """Note the status of an answer."""

    async def pass_on(message: Message) -> None:
        if message["type"] == "http.response.start":
            span.set_attribute("http.response.status_code", message["status"])
            if message["status"] >= 500:
                _fail(span)
        await send(message)

    return pass_on


def _name(span: "Span", scope: Scope) -> None:
    """Name a request by the pattern of its route, the model that answered, and what broke."""
    route = getattr(scope.get("route"), "path", "")
    if route:
        span.update_name(f"{scope['method']} {route}")
        span.set_attribute("http.route", route)
    state = scope.get("state", {})
    if state.get("model"):
        span.set_attribute("intent_studio.model", state["model"])
    if state.get("error"):
        _tell(span, state["error"])


def _tell(span: "Span", kind: str) -> None:
    """Say by its type what broke: an error's message may quote a text."""
    span.set_attribute("error.type", kind)
    _fail(span)


def _fail(span: "Span") -> None:
    from opentelemetry.trace import Status, StatusCode

    span.set_status(Status(StatusCode.ERROR))
