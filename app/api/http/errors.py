"""Convert errors to REST answers with status, message and hint; unexpected ones get a number."""

import errno
import logging
import uuid

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse

from core.errors import ArtifactDamaged, Conflict, InvalidInput, NotFound, RunFailed, StudioError

_LOG = logging.getLogger("app.api")
_STATUS: dict[type[StudioError], int] = {
    InvalidInput: 422,
    NotFound: 404,
    Conflict: 409,
    RunFailed: 500,
    ArtifactDamaged: 500,
}


def answer_errors(app: FastAPI) -> None:
    """Register a handler for each kind of error."""
    app.add_exception_handler(StudioError, _known)
    app.add_exception_handler(RequestValidationError, _misshapen)
    app.add_exception_handler(Exception, _unforeseen)


async def _known(_request: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, StudioError):
        raise error
    status = next((s for kind, s in _STATUS.items() if isinstance(error, kind)), 500)
    return JSONResponse({"message": error.message, "hint": error.hint}, status)


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
    if _disk_is_full(error):
        _LOG.error("the disk is full at %s", request.url.path)
        body = {
            "message": "The disk is full, so nothing was saved.",
            "hint": "Make room on it, then try again.",
        }
        return JSONResponse(body, 507)
    incident = uuid.uuid4().hex[:8]
    _LOG.error("incident %s at %s", incident, request.url.path, exc_info=error)
    body = {"message": f"Something broke (incident {incident}).", "hint": "The log tells more."}
    return JSONResponse(body, 500)


def _disk_is_full(error: Exception) -> bool:
    full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
    return full or "database or disk is full" in str(error)
