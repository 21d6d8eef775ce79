"""Routers that carry all that the REST routes have in common."""

from typing import Any

from fastapi import APIRouter
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
    503: "The database is damaged or held by another program; Retry-After says how many seconds to "
    "wait",
    507: "The disk is full",
}
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
        tags=list(tags),
        responses=_PROBLEMS,
        generate_unique_id_function=_called,
    )


def _called(route: APIRoute) -> str:
    """Return the operation name for clients generated from the schema: tag and function."""
    return "_".join([*(str(tag) for tag in route.tags), route.name])
