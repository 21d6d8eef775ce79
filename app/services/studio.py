"""`Studio`: one open home, the first argument of every service."""

from dataclasses import dataclass, field

from app.home import Places
from app.jobs.local import LocalExecutor
from app.services.cache import Cache
from app.settings import Settings
from core.encoders.shared_bases import SharedBases
from storage.artifacts import ArtifactStore
from storage.database import Database


@dataclass(frozen=True, slots=True)
class Studio:
    """An open studio, made by `app.bootstrap.open_studio`."""

    settings: Settings
    places: Places
    database: Database
    artifacts: ArtifactStore
    executor: LocalExecutor
    cache: Cache = field(default_factory=Cache)
    bases: SharedBases = field(default_factory=SharedBases)
