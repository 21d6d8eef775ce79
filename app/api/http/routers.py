"""Routers that carry all that the REST routes have in common."""

from typing import Any

from fastapi import APIRouter
from fastapi.routing import APIRoute

from app.api.http.schemas import Problem

_PROBLEMS: dict[int | str, dict[str, Any]] = {
    404: {"model": Problem, "description": "What was named does not exist"},
    409: {"model": Problem, "description": "Somebody else changed it first, or it is in use"},
    422: {"model": Problem, "description": "What was sent cannot be used as it is"},
    500: {"model": Problem, "description": "Something broke; the message has an incident's number"},
    507: {"model": Problem, "description": "The disk is full"},
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
