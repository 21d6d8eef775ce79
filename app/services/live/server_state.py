"""What a server keeps in memory between requests: the open studio and its loaded models."""

from dataclasses import dataclass

from app.services.live.models import LiveModel, LiveModels
from app.services.live.pool import Pools
from app.services.live.traffic import Traffic
from app.services.studio import Studio
from core.errors import NotFound
from storage.records import ProjectRecord


@dataclass(frozen=True, slots=True)
class LiveStudio:
    """An open studio with its live models; made by `open_live_studio`."""

    studio: Studio
    models: LiveModels
    pools: Pools
    traffic: Traffic


def open_live_studio(studio: Studio) -> LiveStudio:
    """Surround a studio with empty caches; each loads what it holds when first asked."""
    traffic = Traffic()
    models = LiveModels(studio, traffic)
    return LiveStudio(studio, models, Pools(studio, models, traffic), traffic)


def require_live(live_studio: LiveStudio, project: ProjectRecord) -> LiveModel:
    """Return the model that answers in a project.

    Raises:
        NotFound: It has none.
    """
    live = live_studio.models.get(project.id)
    if live is None:
        raise NotFound(
            f"'{project.name}' has no trained model yet.", "Press Train on the Train page first."
        )
    return live
