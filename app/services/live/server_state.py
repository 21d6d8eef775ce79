"""What a server keeps between requests: the studio and what it has loaded. None of it is data."""

from dataclasses import dataclass

from app.services.labelling.queue import Queues
from app.services.live.models import LiveModel, LiveModels
from app.services.live.pool import Pools
from app.services.live.traffic import Traffic
from app.services.studio import Studio
from app.services.what_if.watched_texts import Watchings
from core.errors import NotFound
from storage.records import ProjectRecord


@dataclass(frozen=True, slots=True)
class Workbench:
    """An open studio with its live models; made by `open_workbench`."""

    studio: Studio
    models: LiveModels
    pools: Pools
    queues: Queues
    traffic: Traffic
    watchings: Watchings


def open_workbench(studio: Studio) -> Workbench:
    """Put a studio on the bench; nothing is loaded before it is asked for."""
    traffic = Traffic()
    models = LiveModels(studio, traffic)
    pools = Pools(studio, models, traffic)
    queues, watchings = Queues(studio, models, pools), Watchings(studio, models, traffic)
    return Workbench(studio, models, pools, queues, traffic, watchings)


def require_live(bench: Workbench, project: ProjectRecord) -> LiveModel:
    """Return the model that answers in a project.

    Raises:
        NotFound: It has none.
    """
    live = bench.models.get(project.id)
    if live is None:
        raise NotFound(
            f"'{project.name}' has no trained model yet.", "Press Train on the Train page first."
        )
    return live
