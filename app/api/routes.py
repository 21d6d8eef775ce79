"""All routes of the REST interface."""

from fastapi import FastAPI, HTTPException, Request
from fastapi.routing import APIRoute
from starlette.routing import BaseRoute, Match

from app.api import (
    conversations,
    data,
    discover,
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

_METHODS = ["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"]
_ANY = "/api/{rest:path}"


def all_routes() -> list[BaseRoute]:
    """Return the routes of all pages; the last answers every path under /api that is not there."""
    answering = (trying, review, training, maps, versions, explaining)
    rooms = (projects, data, discover, conversations, labelling, slots, *answering)
    unknown = rest_router()
    # Pages are mounted after the routes, and would answer unknown paths in another format.
    unknown.add_api_route(
        _ANY.removeprefix("/api"), _nothing, methods=_METHODS, include_in_schema=False
    )
    return [route for room in rooms for route in room.router.routes] + unknown.routes


def _nothing(request: Request) -> None:
    path, method = request.url.path[:200], request.method
    allowed = sorted(_methods_at(request) - {method})
    if allowed:
        raise HTTPException(
            405, f"{path} is there, but not for {method}.", {"Allow": ", ".join(allowed)}
        )
    raise NotFound(f"There is no {method} {path}.", "/api/schema lists what there is.")


def _methods_at(request: Request) -> set[str]:
    """Return the methods for which a path is there."""
    app: FastAPI = request.app
    return {
        method
        for route in app.router.routes
        if isinstance(route, APIRoute) and route.path != _ANY
        if route.matches(request.scope)[0] is not Match.NONE
        for method in route.methods or ()
    }
