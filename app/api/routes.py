"""All routes of the REST interface."""

from fastapi import APIRouter, Request

from app.api import labels, maps, models, predict, projects, training, utterances
from core.errors import NotFound

_METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"]


def all_routes() -> APIRouter:
    """Return one router of all rooms."""
    router = APIRouter()
    for room in (projects, utterances, labels, predict, training, maps, models):
        router.include_router(room.router)
    # Pages are mounted behind the routes, and would answer in another shape.
    router.add_api_route("/{rest:path}", _nothing, methods=_METHODS, include_in_schema=False)
    return router


def _nothing(request: Request) -> None:
    raise NotFound(
        f"There is no {request.method} {request.url.path[:200]}.",
        "/api/schema lists what there is.",
    )
