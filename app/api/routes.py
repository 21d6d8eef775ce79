"""All routes of the REST interface."""

from typing import Any

from fastapi import APIRouter, Request
from fastapi.routing import APIRoute

from app.api import (
    conversations,
    data,
    explaining,
    labelling,
    maps,
    projects,
    review,
    slots,
    training,
    trying,
    versions,
)
from app.api.http.schemas import Problem
from core.errors import NotFound

_PROBLEMS: dict[int | str, dict[str, Any]] = {
    404: {"model": Problem, "description": "What was named does not exist"},
    409: {"model": Problem, "description": "Somebody else changed it first, or it is in use"},
    422: {"model": Problem, "description": "What was sent cannot be used as it is"},
    500: {"model": Problem, "description": "Something broke; the message has an incident's number"},
    507: {"model": Problem, "description": "The disk is full"},
}
_METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"]


def all_routes() -> APIRouter:
    """Return one router with the routes of all pages."""
    router = APIRouter(responses=_PROBLEMS, generate_unique_id_function=_called)
    answering = (trying, review, training, maps, versions, explaining)
    for room in (projects, data, conversations, labelling, slots, *answering):
        router.include_router(room.router)
    # Pages are mounted after the routes, and would answer unknown paths in another format.
    router.add_api_route("/{rest:path}", _nothing, methods=_METHODS, include_in_schema=False)
    return router


def _called(route: APIRoute) -> str:
    """Return the operation name for clients generated from the schema: tag and function."""
    return "_".join([*(str(tag) for tag in route.tags), route.name])


def _nothing(request: Request) -> None:
    raise NotFound(
        f"There is no {request.method} {request.url.path[:200]}.",
        "/api/schema lists what there is.",
    )
