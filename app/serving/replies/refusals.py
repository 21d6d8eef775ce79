"""What a refused request gets: the error in the shape that its client reads."""

import re
from http import HTTPStatus
from typing import Any

DIALOGFLOW = ("/v2/projects/", "/v3/projects/")
CLU = "/language/"

_GOOGLE = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    404: "NOT_FOUND",
    413: "INVALID_ARGUMENT",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
}
_AZURE = {
    400: "InvalidArgument",
    401: "Unauthorized",
    404: "NotFound",
    413: "InvalidRequest",
    429: "TooManyRequests",
    500: "InternalServerError",
}

_MODEL = re.compile(r"^/models/[^/]+(?=/)")


def without_model(path: str) -> str:
    """Return a path as the clients of a platform know it, without `/models/NAME` before it."""
    return _MODEL.sub("", path)


def refusal(path: str, status: int, message: str, hint: str | None = None) -> dict[str, Any]:
    """Write an error as the client of a path expects it."""
    path = without_model(path)
    if path.startswith(DIALOGFLOW):
        words = _GOOGLE.get(status, HTTPStatus(status).name)
        return {"error": {"code": status, "message": message, "status": words}}
    if path.startswith(CLU):
        words = _AZURE.get(status, HTTPStatus(status).phrase.replace(" ", ""))
        return {"error": {"code": words, "message": message}}
    return {"error": message} | ({} if hint is None else {"hint": hint})
