"""Models behind HTTP; nothing here needs torch, a database or the studio's pages."""

import json
import logging
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from app.log_lines import set_up_logs
from app.serving.batching import TooManyWaitingError
from app.serving.beside.tracing import TracedRequests, opened_tracing
from app.serving.guard import ServingGuard
from app.serving.lifetime import opened_shadow, running
from app.serving.limits import Serving
from app.serving.models import opened_models
from app.serving.replies.refusals import refusal
from app.serving.routes import Service
from core.errors import InvalidInput, NotFound, StudioError

SETTINGS = "INTENT_STUDIO_SERVING"
"""Variable by which a command tells its server processes what to serve."""
CANNOT_START = 3
"""Exit code of a process after which uvicorn ends the others and starts no more."""

_LOG = logging.getLogger("app.serving")


def application() -> Starlette:
    """Open the models that the environment names; for uvicorn's processes.

    Where they cannot be opened, the process ends with the code that stops the server: the next
    process could not open them either.
    """
    serving = Serving(**json.loads(os.environ[SETTINGS]))
    log_as(serving.log)
    try:
        return make_application(serving)
    except StudioError as error:
        _LOG.error("the models cannot be served: %s %s", error.message, error.hint)
        raise SystemExit(CANNOT_START) from error
    except Exception as error:
        _LOG.exception("the models cannot be opened")
        raise SystemExit(CANNOT_START) from error


def log_as(form: str) -> None:
    """Write a line for each request of this process, as text or as JSON; "" leaves all as it is."""
    if form:
        set_up_logs("json" if form == "json" else "text")


def make_application(serving: Serving) -> Starlette:
    """Open the models and put routes around them.

    Raises:
        InvalidInput: There is no such bundle, it holds no graph, or two have one name.
        ArtifactDamaged: A bundle is not what was written.
    """
    tracing = opened_tracing()
    service = Service(serving, opened_models(serving, opened_shadow(serving), tracing), tracing)
    around = [Middleware(ServingGuard, serving=serving, counts=service.counts)]
    if tracing is not None:
        around.insert(0, Middleware(TracedRequests, tracing=tracing))

    @asynccontextmanager
    async def living(_app: Starlette) -> AsyncIterator[None]:
        async with running(service):
            yield

    return Starlette(
        routes=service.routes(),
        lifespan=living,
        middleware=around,
        exception_handlers={
            InvalidInput: _invalid,
            NotFound: _not_found,
            TooManyWaitingError: _busy,
            HTTPException: _as_told,
        },
    )


async def _invalid(request: Request, error: Any) -> Response:
    return _refused(request, 400, error.message, error.hint)


async def _not_found(request: Request, error: Any) -> Response:
    return _refused(request, 404, error.message)


async def _busy(request: Request, error: Any) -> Response:
    words = f"Too many texts wait. Ask again in {error.seconds} s."
    reply = _refused(request, 429, words)
    reply.headers["retry-after"] = str(error.seconds)
    return reply


async def _as_told(request: Request, error: Any) -> Response:
    reply = _refused(request, error.status_code, error.detail)
    reply.headers.update(error.headers or {})
    return reply


def _refused(request: Request, status: int, message: str, hint: str | None = None) -> Response:
    return JSONResponse(refusal(request.url.path, status, message, hint), status)
