"""All routes of the REST interface."""

from fastapi import Request
from starlette.routing import BaseRoute

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
from app.api.http.routers import rest_router
from core.errors import NotFound

_METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"]


def all_routes() -> list[BaseRoute]:
    """Return the routes of all pages; the last answers every path under /api that is not there."""
    answering = (trying, review, training, maps, versions, explaining)
    rooms = (projects, data, conversations, labelling, slots, *answering)
    unknown = rest_router()
    # Pages are mounted after the routes, and would answer unknown paths in another format.
    unknown.add_api_route("/{rest:path}", _nothing, methods=_METHODS, include_in_schema=False)
    return [route for room in rooms for route in room.router.routes] + unknown.routes


def _nothing(request: Request) -> None:
    raise NotFound(
        f"There is no {request.method} {request.url.path[:200]}.",
        "/api/schema lists what there is.",
    )
