"""Convert errors to REST answers with status, message and hint; unexpected ones get a number."""

import logging
from collections.abc import Mapping

from fastapi import FastAPI, Request
from fastapi.exception_handlers import http_exception_handler
from fastapi.exceptions import RequestValidationError
from fastapi.params import Form
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException

from app.api.http.requests import broken, route_of
from app.failures import failure_in_words
from core.characters import storable
from core.errors import (
    ArtifactDamaged,
    Conflict,
    DatabaseBusy,
    DatabaseDamaged,
    DiskFull,
    InvalidInput,
    NotFound,
    OutOfMemory,
    OutOfThreads,
    RunFailed,
    StudioError,
    TooManyJobs,
)

_LOG = logging.getLogger("app.api")
_STATUS: dict[type[StudioError], int] = {
    InvalidInput: 422,
    NotFound: 404,
    Conflict: 409,
    RunFailed: 500,
    ArtifactDamaged: 500,
    DatabaseBusy: 503,
    DatabaseDamaged: 503,
    DiskFull: 507,
    OutOfMemory: 503,
    OutOfThreads: 503,
    TooManyJobs: 429,
}

_WAIT_SECONDS: dict[type[StudioError], str] = {
    DatabaseBusy: "15",
    DatabaseDamaged: "60",
    OutOfMemory: "15",
    OutOfThreads: "15",
    TooManyJobs: "60",
}
_SCHEMA = "See /api/schema."
_UNREADABLE = "There was an error parsing the body"
"""What the framework says of a body that is cut off, or nested too deeply."""


def answer_errors(app: FastAPI) -> None:
    """Register a handler for each kind of error."""
    app.add_exception_handler(StudioError, _known)
    app.add_exception_handler(RequestValidationError, _misshapen)
    app.add_exception_handler(HTTPException, _refused)
    app.add_exception_handler(Exception, _unforeseen)


async def _known(request: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, StudioError):
        raise error
    status = next((s for kind, s in _STATUS.items() if isinstance(error, kind)), 500)
    if status >= 500:
        _tell(request, error.message)
    if isinstance(error, DatabaseDamaged):
        request.app.state.live_studio.soundness.note()
    wait = _WAIT_SECONDS.get(type(error))
    again = None if wait is None else {"Retry-After": wait}
    return _problem(status, error.message, error.hint, again)


def _problem(
    status: int, message: str, hint: str, headers: Mapping[str, str] | None = None
) -> JSONResponse:
    """Return the answer of every error; what it quotes may have half of a character in it."""
    told = {"message": storable(message), "hint": storable(hint)}
    return JSONResponse(told, status, headers)


async def _refused(request: Request, error: Exception) -> Response:
    """Give what the framework refuses the shape of every error; pages keep its own."""
    if not isinstance(error, HTTPException):
        raise error
    if not request.url.path.startswith("/api/"):
        return await http_exception_handler(request, error)
    message, hint = error.detail, ""
    if message == _UNREADABLE:
        message, hint = "The request's body cannot be read.", _SCHEMA
    elif error.status_code in (404, 405):
        hint = _SCHEMA
    return _problem(error.status_code, message, hint, error.headers)


async def _misshapen(request: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, RequestValidationError):
        raise error
    faults = error.errors()
    kind = _other_kind(request)
    if kind and any(fault["loc"][:1] == ("body",) for fault in faults):
        return _problem(415, kind, _SCHEMA)
    if faults[0]["type"] == "json_invalid":
        where, why = faults[0]["loc"][1], faults[0].get("ctx", {}).get("error", "")
        message = f"The request's body is no JSON, from character {where} on: {why}."
        return _problem(400, message, _SCHEMA)
    words = [f"{'.'.join(map(str, fault['loc'][1:]))}: {fault['msg']}" for fault in faults]
    message = f"The request cannot be read: {'; '.join(words)}."
    return _problem(422, message, _SCHEMA)


def _other_kind(request: Request) -> str:
    """Say that a body is of another kind than its route reads; "" if it is not."""
    field = getattr(request.scope.get("route"), "body_field", None)
    sent = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if field is None or not (sent or int(request.headers.get("content-length", 0))):
        return ""
    if isinstance(field.field_info, Form):
        wanted, fits = "multipart/form-data", sent == "multipart/form-data"
    else:
        wanted, fits = "application/json", sent == "application/json" or sent.endswith("+json")
    return "" if fits else f"The body is {sent or 'of no named kind'}; send {wanted}."


async def _unforeseen(request: Request, error: Exception) -> JSONResponse:
    told = failure_in_words(error)
    if told is not None:
        return await _known(request, told)
    incident = request.state.request_id
    _tell(request, f"incident {incident}", error)
    return JSONResponse(broken(incident), 500)


def _tell(request: Request, words: str, error: Exception | None = None) -> None:
    _LOG.error("%s at %s", words, route_of(request.scope), exc_info=error)
    request.state.told = True
