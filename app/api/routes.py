"""All routes of the REST interface."""

from fastapi import APIRouter

from app.api import labels, maps, models, predict, projects, training, utterances


def all_routes() -> APIRouter:
    """Return one router of all rooms."""
    router = APIRouter()
    for room in (projects, utterances, labels, predict, training, maps, models):
        router.include_router(room.router)
    return router
