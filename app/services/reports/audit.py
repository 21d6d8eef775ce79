"""Every act in a project, with its person and where it came from."""

from dataclasses import replace

from app.services.studio import Studio
from core.recipes.read import title_of
from storage import projects
from storage.people import acts
from storage.people.acts import ActFilter, ActPage, ActRecord


def list_acts(studio: Studio, project: str, which: ActFilter) -> ActPage:
    """Return some acts of a project, newest first.

    Raises:
        NotFound: There is no such project.
    """
    with studio.database.read() as connection:
        page = acts.read_page(connection, projects.find(connection, project).id, which)
    return replace(page, acts=[_titled(one) for one in page.acts])


def _titled(done: ActRecord) -> ActRecord:
    """Call a training's recipe as the Train page does; the log keeps its kind."""
    if done.verb != "train":
        return done
    return replace(done, about=title_of({"kind": done.about}) or done.about)
