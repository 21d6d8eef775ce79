"""Every act in a project, with its person and where it came from."""

from dataclasses import replace

from app.services.studio import Studio
from core.recipes.read import work_of
from storage import projects
from storage.people import acts
from storage.people.acts import ActFilter, ActPage, ActRecord

_OF_A_TRAINING = ("train", "cancel training", "resume training")


def list_acts(studio: Studio, project: str, which: ActFilter) -> ActPage:
    """Return some acts of a project, newest first.

    Raises:
        NotFound: There is no such project.
    """
    with studio.database.read() as connection:
        page = acts.read_page(connection, projects.find(connection, project).id, which)
    return replace(page, acts=[_titled(one) for one in page.acts])


def _titled(done: ActRecord) -> ActRecord:
    """Say in plain words how a training learns; the log keeps the kind of its recipe."""
    work = work_of({"kind": done.about}) if done.verb in _OF_A_TRAINING else ""
    return replace(done, about=f"({work[0].lower()}{work[1:]})") if work else done
