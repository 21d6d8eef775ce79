"""Texts about two things, and their groups."""

from app.services.discover.runs import start_grouping
from app.services.discover.stored import GroupsView, list_groups
from app.services.studio import Studio
from tests.builders.trained_home import do

CARDS = [f"my card is lost number {n}" for n in range(8)]
BILLS = [f"why is the bill so high in month {n}" for n in range(6)]


def grouped(studio: Studio, project: str = "raw", **how: object) -> GroupsView:
    job = start_grouping(studio, project, **how)  # type: ignore[arg-type]
    assert do(studio, job.id).state == "succeeded"
    return list_groups(studio, project)
