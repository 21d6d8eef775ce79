"""An open studio with its live models, for a server or for one command."""

from dataclasses import dataclass

from app.services.answering.stored import no_model_yet
from app.services.live.accuracy import Accuracies
from app.services.live.live_model import LiveModel
from app.services.live.models import LiveModels
from app.services.live.pool import Pools
from app.services.live.said.answers import SaidAnswers
from app.services.live.traffic import Traffic
from app.services.soundness import Soundness
from app.services.studio import Studio
from storage.records import ProjectRecord


@dataclass(frozen=True, slots=True)
class LiveStudio:
    """An open studio with its live models, made by `open_live_studio`."""

    studio: Studio
    models: LiveModels
    pools: Pools
    traffic: Traffic
    accuracies: Accuracies
    said: SaidAnswers
    soundness: Soundness

    def forget_texts(self) -> None:
        """Drop all that holds texts in memory; it is made anew when somebody asks for it."""
        self.models.forget_all()
        self.pools.forget_all()
        self.accuracies.forget_all()
        self.studio.cache.clear()


def open_live_studio(studio: Studio) -> LiveStudio:
    """Add empty caches to a studio; each loads its values on first use."""
    traffic = Traffic()
    models = LiveModels(studio, traffic)
    pools, accuracies = Pools(studio, models, traffic), Accuracies(studio, models, traffic)
    said = SaidAnswers(studio, models, traffic)
    return LiveStudio(studio, models, pools, traffic, accuracies, said, Soundness(studio))


def open_live(live_studio: LiveStudio, name: str) -> tuple[ProjectRecord, LiveModel]:
    """Return a project and its live model, with all labels up to now.

    Raises:
        NotFound: There is no such project, or it has no trained model yet.
    """
    now, live = live_studio.models.open(name)
    if live is None:
        raise no_model_yet(name)
    return now.project, live
