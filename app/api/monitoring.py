"""The route that programs ask for measures of the running server."""

from fastapi import APIRouter, Request
from fastapi.responses import PlainTextResponse

from app.api.http.exposition import exposition
from app.api.http.requests import RequestCounts
from app.api.http.server_state import Live
from app.prometheus import MEDIA_TYPE
from app.services.measures import measure

router = APIRouter()


@router.get("/metrics", include_in_schema=False)
def metrics(request: Request, live_studio: Live) -> PlainTextResponse:
    """Return all measures as Prometheus reads them; the launch token lets a program in."""
    counts: RequestCounts = request.app.state.request_counts
    words = exposition(counts.snapshot(), live_studio.traffic, measure(live_studio.studio))
    return PlainTextResponse(words, media_type=MEDIA_TYPE)
