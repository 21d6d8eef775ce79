"""Create the studio and connect its parts."""

from functools import partial
from importlib import import_module

from app.home import Places
from app.jobs.context import Workplace
from app.jobs.local import LocalExecutor
from app.services.studio import Studio
from app.settings import Settings
from core.errors import InvalidInput
from storage.artifacts import ArtifactStore
from storage.database import open_database

_NEEDED_BY_TRAININGS = (
    "app.services.answering.judging",
    "app.services.live.models",
    "app.services.versions.comparison",
    "core.encoders.loading",
    "core.training.from_labels.runs",
    "scipy.optimize",
)


def open_studio(settings: Settings, executor: LocalExecutor | None = None) -> Studio:
    """Open a home, which is created if it does not exist.

    Without an executor, a process of its own supervises jobs.

    Raises:
        InvalidInput: The folder cannot be created, or its database cannot be used.
    """
    places = Places.of(settings)
    try:
        places.home.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput(
            f"{places.home} cannot be used as a home: {error.strerror}.",
            "Name a folder that you may write to with --home.",
        ) from error
    database = open_database(places.database)
    return Studio(
        settings=settings,
        places=places,
        database=database,
        artifacts=ArtifactStore(places.artifacts),
        executor=executor or LocalExecutor(settings),
    )


def open_workplace(settings: Settings) -> Workplace:
    """Open a home for jobs, and load what trainings need: each job is a fork of this process."""
    for name in _NEEDED_BY_TRAININGS:
        import_module(name)
    return workplace_of(open_studio(settings))


def workplace_of(studio: Studio) -> Workplace:
    """Return the workplace of a job, with a function for each kind."""
    from app.services.discover.runs import do_grouping
    from app.services.maps.layouts import do_layout
    from app.services.training.runs import do_training

    kinds = {
        "discover": partial(do_grouping, studio),
        "layout": partial(do_layout, studio),
        "train": partial(do_training, studio),
    }
    return Workplace(studio.places, studio.database, kinds)
