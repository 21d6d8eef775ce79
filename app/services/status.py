"""What every page shows about a project."""

from dataclasses import dataclass

from app.services.registry import model_states
from app.services.workbench import Workbench
from storage import browse, events, jobs, models, projects
from storage.database import Transaction


@dataclass(frozen=True, slots=True)
class RunningJob:
    """A job that has not ended."""

    id: str
    kind: str
    state: str
    progress: float
    stage: str
    eta_seconds: float | None


@dataclass(frozen=True, slots=True)
class StatusView:
    """A project at a glance.

    Attributes:
        project: Its name.
        task: `single-label` or `multi-label`.
        revision: Grows with every change.
        champion: Number of the model version that answers, or None.
        accuracy: Its accuracy in [0, 1], or None.
        judged_on: How that was measured, in words.
        hot: Labels that the champion answers with but was not trained on.
        model: Whether the champion is loaded: `ready`, `loading` or `none`.
        candidate: Number of the newest version where that is not the champion, else None.
        unlabelled: Utterances that wait for a label.
        job: What runs or waits, or None.
        auto_promote: Whether a version that passes the gate answers by itself.
        can_undo: Verb of the newest action that can be taken back, or "".
    """

    project: str
    task: str
    revision: int
    champion: int | None
    accuracy: float | None
    judged_on: str
    hot: int
    model: str
    candidate: int | None
    unlabelled: int
    job: RunningJob | None
    auto_promote: bool
    can_undo: str


def look(bench: Workbench, project: str) -> StatusView:
    """Return a project at a glance; never waits for a model to load.

    Raises:
        NotFound: There is no such project.
    """
    with bench.studio.database.read() as connection:
        found = projects.find(connection, project)
        champion = models.champion(connection, found.id)
        waiting = browse.page(
            connection, found.id, browse.Filter(state="unlabelled"), "oldest", (0, 1)
        )[1]
        running = _running(connection, found.id)
        last = events.undoable(connection, found.id)
    states = model_states(bench.studio, project)
    live = bench.models.peek(found.id)
    if live is not None and (champion is None or live.version.id != champion.id):
        live = None  # another one has been promoted
    if champion is not None and (live is None or live.revision != found.head_revision):
        bench.pools.get(found.id)  # brings model and pool up to date beside this request
    number = None if champion is None else champion.number
    waits = [n for n, state in states.items() if state == "candidate" and n > (number or 0)]
    candidate = max(waits, default=None) if number is not None else None
    return StatusView(
        project=found.name,
        task=found.task,
        revision=found.head_revision,
        champion=number,
        accuracy=None if champion is None else champion.metrics.get("accuracy"),
        judged_on="" if champion is None else str(champion.metrics.get("judged_on", "")),
        hot=0 if live is None else len(live.hot),
        model="none" if champion is None else "loading" if live is None else "ready",
        candidate=candidate,
        unlabelled=waiting,
        job=running,
        auto_promote=found.auto_promote,
        can_undo="" if last is None else last.verb,
    )


def _running(connection: Transaction, project_id: int) -> RunningJob | None:
    mine = [job for job in jobs.live(connection) if job.project_id == project_id]
    if not mine:
        return None
    job = next((j for j in mine if j.state == "running"), mine[0])
    return RunningJob(job.id, job.kind, job.state, job.progress, job.stage, job.eta_seconds)
