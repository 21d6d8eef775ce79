"""Convert errors to REST answers with status, message and hint; unexpected ones get a number."""

import logging

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse

from app.api.http.requests import route_of
from core.errors import (
    ArtifactDamaged,
    Conflict,
    DatabaseBusy,
    DiskFull,
    InvalidInput,
    NotFound,
    RunFailed,
    StudioError,
)
from core.files import disk_error

_LOG = logging.getLogger("app.api")
_STATUS: dict[type[StudioError], int] = {
    InvalidInput: 422,
    NotFound: 404,
    Conflict: 409,
    RunFailed: 500,
    ArtifactDamaged: 500,
    DatabaseBusy: 503,
    DiskFull: 507,
}

_RETRY_SECONDS = "15"


def answer_errors(app: FastAPI) -> None:
    """Register a handler for each kind of error."""
    app.add_exception_handler(StudioError, _known)
    app.add_exception_handler(RequestValidationError, _misshapen)
    app.add_exception_handler(Exception, _unforeseen)


async def _known(request: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, StudioError):
        raise error
    status = next((s for kind, s in _STATUS.items() if isinstance(error, kind)), 500)
    if status >= 500:
        _tell(request, error.message)
    again = {"Retry-After": _RETRY_SECONDS} if isinstance(error, DatabaseBusy) else None
    return JSONResponse({"message": error.message, "hint": error.hint}, status, again)


async def _misshapen(_request: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, RequestValidationError):
        raise error
    found = [f"{'.'.join(map(str, e['loc'][1:]))}: {e['msg']}" for e in error.errors()]
    body = {
        "message": f"The request cannot be read: {'; '.join(found)}.",
        "hint": "See /api/schema.",
    }
    return JSONResponse(body, 422)


async def _unforeseen(request: Request, error: Exception) -> JSONResponse:
    full = disk_error(error)
    if full is not None:
        return await _known(request, full)
    incident = request.state.request_id
    _tell(request, f"incident {incident}", error)
    body = {"message": f"Something broke (incident {incident}).", "hint": "The log tells more."}
    return JSONResponse(body, 500)


def _tell(request: Request, words: str, error: Exception | None = None) -> None:
    _LOG.error("%s at %s", words, route_of(request.scope), exc_info=error)
    request.state.told = True
