"""The cards of the start page: each project's counts, accuracy now, and next step."""

from collections.abc import Mapping
from dataclasses import dataclass, fields

from app.services.answering.pinned import BrokenPin
from app.services.data.projects import ProjectView, list_projects, project_names, view_project
from app.services.home.next_step import (
    FirstSteps,
    NextStep,
    ProjectFacts,
    first_steps,
    next_step,
)
from app.services.live.accuracy import AccuracyNow
from app.services.live.catching_up import count_hot
from app.services.live.live_studio import LiveStudio
from app.services.live.pool import Pool
from app.services.review.proposals.proposing import count_waiting
from app.services.review.review import known_label_errors
from app.services.versions.registry import left_for, newer_candidate
from app.services.versions.verdict import ReadyVerdict, verdict_on
from core.errors import NotFound
from core.types import Task
from storage import jobs, models, projects
from storage.log.label_origins import LabelWays
from storage.queries import utterances
from storage.records import ModelVersionRecord, ProjectRecord

_MOST_LOADED = 4
"""The start page loads a model for its accuracy while fewer than this many are loaded."""
_UNLABELLED = utterances.Filter(state="unlabelled")
_TESTS = utterances.Filter(split="test", state="labelled")
_OUTSIDE: Mapping[Task, utterances.Filter] = {
    "single-label": utterances.Filter(state="out-of-scope"),
    "multi-label": utterances.Filter(split="test", state="out-of-scope"),
}
"""Texts that fit no intent and teach nothing; of several intents a text, they are examples."""


@dataclass(frozen=True, slots=True)
class ProjectCard(ProjectView):
    """A project on the start page.

    Attributes:
        now: The champion's accuracy on the test split now; None until it is computed, or without
            such texts.
        checking: Whether a newer `now` is being computed.
        next: What to do next.
        steps: Which of the three steps of a new project are done.
        verdict: Whether the champion is ready to be used; None without one.
    """

    next: NextStep
    steps: FirstSteps
    now: AccuracyNow | None = None
    checking: bool = False
    verdict: ReadyVerdict | None = None


def next_of(live_studio: LiveStudio, name: str) -> NextStep:
    """Return what to do next in a project; it is told on the pages that serve to look at it.

    Raises:
        NotFound: There is no such project.
    """
    view = view_project(live_studio.studio, name)
    with live_studio.studio.database.read() as connection:
        project = projects.find(connection, name)
        champion = models.champion(connection, project.id)
    return next_step(_facts(live_studio, view, project, champion))


def load_cards(live_studio: LiveStudio) -> list[ProjectCard]:
    """Return all projects by name; their present accuracy is computed in the background."""
    cards = list[ProjectCard]()
    for view in list_projects(live_studio.studio):
        try:
            cards.append(_card(live_studio, view))
        except NotFound:
            if view.name in project_names(live_studio.studio):
                raise
            # Renamed or deleted since it was listed: the next load tells.
    return cards


def _card(live_studio: LiveStudio, view: ProjectView) -> ProjectCard:
    with live_studio.studio.database.read() as connection:
        project = projects.find(connection, view.name)
        champion = models.champion(connection, project.id)
    accuracy, checking, broken, ways = None, False, tuple[BrokenPin, ...](), LabelWays()
    if champion is not None:
        if live_studio.models.may_load(project.id, _MOST_LOADED):
            accuracy, checking = live_studio.accuracies.get(project, champion)
        else:
            accuracy = live_studio.accuracies.known(project, champion)
        broken = live_studio.accuracies.broken_pins(project, champion)
        ways = live_studio.accuracies.ways(project, champion)
    facts = _facts(live_studio, view, project, champion)
    return ProjectCard(
        **{one.name: getattr(view, one.name) for one in fields(view)},
        next=next_step(facts),
        steps=first_steps(facts),
        now=accuracy,
        checking=checking,
        verdict=verdict_on(champion, project.task, accuracy, broken, ways),
    )


def _facts(
    live_studio: LiveStudio,
    view: ProjectView,
    project: ProjectRecord,
    champion: ModelVersionRecord | None,
) -> ProjectFacts:
    """Collect what is known already; a model that is not loaded is not waited for."""
    with live_studio.studio.database.read() as connection:
        unlabelled = utterances.count_all(connection, project.id, _UNLABELLED)
        tests = utterances.count_all(connection, project.id, _TESTS)
        outside = utterances.count_all(connection, project.id, _OUTSIDE[project.task])
        examples, intents = utterances.taught(connection, project.id, project.task)
        is_training = bool(jobs.live_of(connection, project.id, "train"))
    live = live_studio.models.peek(project.id)
    if live is not None and (champion is None or live.version.id != champion.id):
        live = None  # another version was promoted since
    pool = live_studio.pools.kept[project.id].pool
    number = None if champion is None else champion.number
    trouble = "" if champion is None else live_studio.pools.trouble(project.id, champion.id)
    return ProjectFacts(
        texts=view.utterances,
        unlabelled=unlabelled,
        examples=examples,
        taught_intents=intents,
        tests=tests,
        outside=outside,
        champion=number,
        failed=live is None and bool(trouble),
        candidate=newer_candidate(live_studio.studio, project.name, number or 0),
        left=left_for(live_studio.studio, project.name, number or 0),
        is_training=is_training,
        changes=None if live is None else count_hot(live_studio.studio, project, live),
        label_errors=None if live is None else known_label_errors(live_studio, project, live),
        knows_doubt=live is not None and pool is not None,
        answered_badly=_answered_badly(pool, project, champion),
        proposals=count_waiting(live_studio.studio, project),
    )


def _answered_badly(
    pool: Pool | None, project: ProjectRecord, champion: ModelVersionRecord | None
) -> int | None:
    """Return what the pool says of the texts to label next, while they are those of now."""
    if pool is None or champion is None or pool.live.version.id != champion.id:
        return None
    return pool.answered_badly if pool.revision == project.head_revision else None
