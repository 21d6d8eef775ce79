"""Every act in a project, with its person and where it came from."""

from app.services.studio import Studio
from storage import projects
from storage.people import acts
from storage.people.acts import ActFilter, ActPage


def list_acts(studio: Studio, project: str, which: ActFilter) -> ActPage:
    """Return some acts of a project, newest first.

    Raises:
        NotFound: There is no such project.
    """
    with studio.database.read() as connection:
        return acts.read_page(connection, projects.find(connection, project).id, which)
