"""What runs beside the routes of a model server: its batches, its shadow, and new bundles."""

import asyncio
import logging
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from app.serving.batching import Batcher
from app.serving.limits import Serving
from app.serving.model import ServedModel, open_model
from app.serving.replacing import watch
from app.serving.routes import InUse, Service
from app.serving.shadow import Shadow

_LOG = logging.getLogger("app.serving")


def in_use(model: ServedModel, serving: Serving) -> InUse:
    """Put the texts that wait beside a model."""
    return InUse(model, Batcher(model.engine.predict, serving.most_waiting))


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
    service.current.batcher.start()
    tasks = [asyncio.create_task(work) for work in _beside(service)]
    service.ready = True
    try:
        yield
    finally:
        service.ready = False
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await service.current.batcher.stop()


def _beside(service: Service) -> list[Coroutine[Any, Any, None]]:
    serving, shadow = service.serving, service.shadow

    async def take() -> None:
        await _take(service)

    seconds = serving.look_seconds
    found = [watch(Path(serving.bundle), service.current.model.stamp, seconds, take)]
    if shadow is not None:

        async def take_shadow() -> None:
            await _take_shadow(service, shadow)

        found.append(watch(Path(serving.shadow), shadow.model.stamp, seconds, take_shadow))
        found.append(shadow.work())
    return found


async def _take(service: Service) -> None:
    """Let the model of a replaced bundle answer; requests that wait get their answers by the old.

    The name in addresses stays.
    """
    serving, old = service.serving, service.current
    model = await _opened(service, serving.bundle, old.model.name, serving.threads)
    service.current = in_use(model, serving)
    service.current.batcher.start()
    service.counts.reloads += 1
    _LOG.info("%s answers by version %s from now on", model.name, model.model_version)
    await old.batcher.finish()


async def _take_shadow(service: Service, shadow: Shadow) -> None:
    """Let the model of a replaced bundle be the shadow."""
    shadow.model = await _opened(service, service.serving.shadow, "", 1)
    service.counts.reloads += 1
    _LOG.info("the shadow answers by version %s from now on", shadow.model.model_version)


async def _opened(service: Service, bundle: str, name: str, threads: int) -> ServedModel:
    """Open a bundle while texts are answered, and count it where it cannot be."""
    try:
        return await asyncio.to_thread(open_model, bundle, name, threads)
    except Exception:
        service.counts.failed_reloads += 1
        raise
