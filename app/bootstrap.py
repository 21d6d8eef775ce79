"""The one place where the parts are put together."""

from app.home import Places
from app.jobs.local import LocalExecutor
from app.services.studio import Studio
from app.settings import Settings
from core.errors import InvalidInput
from storage.artifacts import ArtifactStore
from storage.database import open_database


def open_studio(settings: Settings) -> Studio:
    """Open a home, which is made when it is absent.

    Raises:
        InvalidInput: The folder cannot be made, or its database cannot be used.
    """
    places = Places(settings.folder)
    try:
        places.home.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput(
            f"{places.home} cannot be used as a home: {error.strerror}.",
            "Name a folder that you may write to with --home.",
        ) from error
    database = open_database(settings.database_url or places.database)
    return Studio(
        settings=settings,
        places=places,
        database=database,
        artifacts=ArtifactStore(places.artifacts),
        executor=LocalExecutor(places, settings.database_url),
    )


def job_kinds() -> dict[str, object]:
    """Name the kinds of jobs; loaded in the child, where torch may be."""
    from app.services.maps.layouts import do_layout
    from app.services.training.runs import do_training

    return {"layout": do_layout, "train": do_training}
