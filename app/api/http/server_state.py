"""The server's objects as route arguments: open studio, labelling queues, watched texts.

All that routes depend on is asynchronous: FastAPI hands a plain function to another thread, and
each request would wait twice more for its turn while others compute.
"""

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import Depends, Request
from starlette.exceptions import HTTPException

from app.services.labelling.queue import Queues
from app.services.live.live_studio import LiveStudio
from app.services.studio import Studio
from app.services.what_if.watched_texts import WatchedTextCache

_LONGEST_WAIT = 30.0
"""Seconds for which a PDF waits while others are printed; that of a shared link waits for none."""


async def _live_studio(request: Request) -> LiveStudio:
    live_studio: LiveStudio = request.app.state.live_studio
    return live_studio


async def _studio(request: Request) -> Studio:
    return (await _live_studio(request)).studio


async def _queues(request: Request) -> Queues:
    queues: Queues = request.app.state.queues
    return queues


async def _watched_texts(request: Request) -> WatchedTextCache:
    watched_texts: WatchedTextCache = request.app.state.watched_texts
    return watched_texts


async def _turn(request: Request) -> AsyncIterator[None]:
    async with (await _live_studio(request)).traffic.turn():
        yield


IN_TURN = Depends(_turn, scope="function")
"""Dependency of a route that computes for seconds: it waits some seconds while others compute.

It waits without a thread, and what the request sends has been read by then.
"""


async def _print_turn(request: Request) -> AsyncIterator[None]:
    if request.path_params["form"] != "pdf":
        yield
        return
    prints = (await _live_studio(request)).traffic.prints
    is_viewer = getattr(request.state, "entrant", "") == "viewer"
    try:
        async with asyncio.timeout(0.0 if is_viewer else _LONGEST_WAIT):
            await prints.acquire()
    except TimeoutError:
        told = "Other PDFs are being printed. Ask for this one again in half a minute."
        raise HTTPException(503, told, {"Retry-After": "30"}) from None
    try:
        yield
    finally:
        prints.release()


PRINTS_IN_TURN = Depends(_print_turn, scope="function")
"""Dependency of a route that may print a PDF, one at a time; it waits without a thread, too."""

Live = Annotated[LiveStudio, Depends(_live_studio)]
"""Route argument: the studio and its live models."""

OpenStudio = Annotated[Studio, Depends(_studio)]
"""Route argument: the studio."""

LabellingQueues = Annotated[Queues, Depends(_queues)]
"""Route argument: the labelling queues of all projects."""

WatchedTexts = Annotated[WatchedTextCache, Depends(_watched_texts)]
"""Route argument: the texts whose answers are compared before and after a change."""
