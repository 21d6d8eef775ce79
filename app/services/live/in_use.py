"""A version as it would answer if it were in use now."""

from app.services.answering.as_project import ProjectNow
from app.services.live.live_model import LiveModel
from app.services.live.live_studio import LiveStudio


def as_in_use(
    live_studio: LiveStudio, project: str, number: int
) -> tuple[ProjectNow, LiveModel] | None:
    """Return a project, and one of its versions with all labels up to now, its names and fence.

    None where so many labels vote in a version that does not answer that joining them takes long.

    Raises:
        NotFound: There is no such project or version.
    """
    now, live = live_studio.models.open(project)
    if live is not None and live.version.number == number:
        return now, live
    return live_studio.models.as_champion(project, number)
