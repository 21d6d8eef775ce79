"""Routers that carry all that the REST routes have in common."""

import json
from collections.abc import Callable, Coroutine
from functools import wraps
from inspect import iscoroutinefunction
from typing import Any

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.exceptions import ResponseValidationError
from fastapi.routing import APIRoute

from app.api.http.schemas import Problem

_TOLD = {
    400: "What was sent is no JSON, or names another server",
    401: "The token is missing or wrong",
    403: "A page of another site asked, or a viewer who may only read",
    404: "What was named does not exist",
    405: "The path is there for other methods",
    408: "The request did not arrive in time",
    409: "Somebody else changed it first, it is in use, or the key belongs to another request",
    413: "The body is too large",
    415: "The body is of another kind than the route reads",
    422: "What was sent cannot be used as it is",
    429: "Too many jobs wait; Retry-After says for how many seconds to wait",
    500: "Something broke; the message has an incident's number",
    503: "The database is damaged or held by another program, or other PDFs are being printed; "
    "Retry-After says for how many seconds to wait",
    507: "The disk is full",
}
_HALF = (
    "A text of the request has half of a character in it, such as \\ud83d without \\ude00. "
    "Send whole characters."
)
_PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": Problem, "description": words} for status, words in _TOLD.items()
}


def rest_router(*tags: str) -> APIRouter:
    """Return a router whose routes are complete, under /api, and may be taken over as they are.

    FastAPI analyses the routes of an included router a second time with the first request, which
    took a third of a second of the first page.
    """
    return APIRouter(
        prefix="/api",
        route_class=_RestRoute,
        tags=list(tags),
        responses=_PROBLEMS,
        generate_unique_id_function=_called,
    )


class _WholeRequest(Request):
    """A request whose JSON has whole characters alone."""

    async def json(self) -> Any:
        """Return what the body holds.

        Raises:
            HTTPException: A text in it has half of a character, which nothing can store or send.
        """
        if not hasattr(self, "_json"):
            self._json = _read(await self.body())
        return self._json


def _read(body: bytes) -> Any:
    """Read JSON; bytes that are no text, such as half of a character's, are a UnicodeError."""
    text = body.decode(json.detect_encoding(body))
    found = json.loads(text)
    if "\\ud" in text or "\\uD" in text:  # mostly pairs, which are whole
        try:
            json.dumps(found, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise HTTPException(422, _HALF) from None
    return found


class _RestRoute(APIRoute):
    """A route that takes whole characters, and answers by the thread that computed the answer.

    FastAPI hands the answer to a second thread to be checked, and writes it where all requests are
    received. Each of these steps waits for its turn while others compute.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return what answers a request."""
        self._answer_in_one_thread()
        handle = super().get_route_handler()

        async def handle_whole(request: Request) -> Response:
            return await handle(_WholeRequest(request.scope, request.receive))

        return handle_whole

    def _answer_in_one_thread(self) -> None:
        compute, field = self.dependant.call, self.response_field
        if compute is None or field is None or iscoroutinefunction(compute):
            return

        @wraps(compute)
        def answer(**arguments: Any) -> Response:
            found = compute(**arguments)
            if isinstance(found, Response):
                return found
            checked, errors = field.validate(found, {}, loc=("response",))
            if errors:
                raise ResponseValidationError(errors=errors, body=found)
            written = field.serialize_json(checked, by_alias=self.response_model_by_alias)
            status = self.status_code or 200
            return Response(written, status_code=status, media_type="application/json")

        self.dependant.call = answer


def _called(route: APIRoute) -> str:
    """Return the operation name for clients generated from the schema: tag and function."""
    return "_".join([*(str(tag) for tag in route.tags), route.name])
