"""What runs beside the routes of a model server: batches, the shadow, and new bundles."""

import asyncio
import logging
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from app.serving.limits import Serving
from app.serving.model import ServedModel, open_model
from app.serving.models import NamedModel, in_use
from app.serving.replacing import Reloads, watch
from app.serving.routes import Service
from app.serving.shadow import Shadow
from core.runtime.engine import Device

_LOG = logging.getLogger("app.serving")


def opened_shadow(serving: Serving) -> Shadow | None:
    """Open the shadow model, which computes by one thread; None where none is asked for.

    Raises:
        InvalidInput: There is no such bundle, or it holds no graph.
        ArtifactDamaged: The bundle is not what was written.
    """
    if not serving.shadow:
        return None
    file = Path(serving.shadow_file) if serving.shadow_file else None
    model = open_model(serving.shadow, threads=1)
    return Shadow(model, file, serving.shadow_texts)


@asynccontextmanager
async def running(service: Service) -> AsyncIterator[None]:
    """Answer texts and watch the bundles until the block ends."""
    tasks = []
    for one in service.models.all:
        one.current.batcher.start()
        tasks += [asyncio.create_task(work) for work in _beside(one, service.serving)]
    service.ready = True
    try:
        yield
    finally:
        service.ready = False
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for one in service.models.all:
            await one.current.batcher.stop()
        await asyncio.gather(*(one.pusher.finish() for one in service.models.all if one.pusher))
        if service.tracing is not None:
            await asyncio.to_thread(service.tracing.end)


def _beside(one: NamedModel, serving: Serving) -> list[Coroutine[Any, Any, None]]:
    """Return what runs beside a model."""
    shadow = one.shadow

    async def take() -> None:
        await _take(one, serving)

    seconds = serving.look_seconds
    found = [watch(Path(one.bundle), one.current.model.stamp, seconds, take)]
    if shadow is not None:

        async def take_shadow() -> None:
            await _take_shadow(shadow, serving.shadow)

        found.append(watch(Path(serving.shadow), shadow.model.stamp, seconds, take_shadow))
        found.append(shadow.work())
    if one.pusher is not None:
        found.append(one.pusher.work())
    return found


async def _take(one: NamedModel, serving: Serving) -> None:
    """Let the model of a replaced bundle answer; requests that wait get their answers by the old.

    The name in addresses stays.
    """
    old = one.current
    how = serving.threads, serving.device
    model = await _opened(one.counts.reloads, one.bundle, old.model.name, *how)
    one.current = in_use(model, serving, old.batcher.spans, old.batcher.done)
    one.current.batcher.start()
    _LOG.info("%s answers by version %s from now on", model.name, model.model_version)
    await old.batcher.finish()


async def _take_shadow(shadow: Shadow, bundle: str) -> None:
    """Let the model of a replaced bundle be the shadow."""
    shadow.model = await _opened(shadow.reloads, bundle, "", 1, "cpu")
    _LOG.info("the shadow answers by version %s from now on", shadow.model.model_version)


async def _opened(
    reloads: Reloads, bundle: str, name: str, threads: int, device: Device
) -> ServedModel:
    """Open a bundle while texts are answered, and count it."""
    try:
        model = await asyncio.to_thread(open_model, bundle, name, threads, device)
    except Exception:
        reloads.refused += 1
        raise
    reloads.taken += 1
    return model
