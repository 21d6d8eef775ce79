"""What every page shows about a project."""

from dataclasses import dataclass
from typing import Literal

from app.services.live.live_model import LiveModel
from app.services.live.server_state import LiveStudio
from app.services.studio import Studio
from app.services.versions.registry import model_states
from core.types import Task
from storage import conversation_logs, jobs, models, projects
from storage.database import Transaction
from storage.log import events
from storage.queries import slots, utterances
from storage.records import ProjectRecord

ModelState = Literal["ready", "loading", "failed", "none"]
_WAY_OUT = "Promote another version on the Versions page, or train a new one."


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
        accuracy: Its accuracy in [0, 1], or None; for several labels its share of exact matches.
        micro_f1: For several labels, its F1 over all intents, else None.
        judged_on: How that was measured, in words.
        hot: Labels that the champion was not trained on.
        waiting: Those of them that do not vote yet, but at the next training.
        model: Whether the champion is loaded: `ready`, `loading`, `failed` or `none`.
        trouble: Where it has failed: why, and the next step; else "".
        candidate: Number of the newest version where that is not the champion, else None.
        unlabelled: Utterances that wait for a label.
        conversations: Stored conversations, in all logs.
        marked: Whether values are marked in utterances to learn from.
        job: What runs or waits, or None.
        auto_promote: Whether a version that passes the gate answers by itself.
        can_undo: Verb of the newest action that can be taken back, or "".
    """

    project: str
    task: Task
    revision: int
    champion: int | None
    accuracy: float | None
    micro_f1: float | None
    judged_on: str
    hot: int
    waiting: int
    model: ModelState
    trouble: str
    candidate: int | None
    unlabelled: int
    conversations: int
    marked: bool
    job: RunningJob | None
    auto_promote: bool
    can_undo: str


def look(live_studio: LiveStudio, project: str) -> StatusView:
    """Return a project at a glance; never waits for a model to load.

    Raises:
        NotFound: There is no such project.
    """
    with live_studio.studio.database.read() as connection:
        found = projects.find(connection, project)
        champion = models.champion(connection, found.id)
        bare = utterances.Filter(state="unlabelled")
        unlabelled = utterances.count_all(connection, found.id, bare)
        conversations = conversation_logs.totals(connection, found.id).dialogues
        running = _running(connection, found.id)
        last = events.undoable(connection, found.id)
    states = model_states(live_studio.studio, project)
    live = live_studio.models.peek(found.id)
    if live is not None and (champion is None or live.version.id != champion.id):
        live = None  # another one has been promoted
    if champion is not None and (live is None or live.revision != found.head_revision):
        live_studio.pools.get(found.id)  # brings model and pool up to date beside this request
    if running is not None:
        live_studio.studio.executor.ensure_running()  # it may have been killed with the machine
    trouble = "" if champion is None or live else live_studio.pools.trouble(found.id, champion.id)
    number = None if champion is None else champion.number
    waits = [n for n, state in states.items() if state == "candidate" and n > (number or 0)]
    candidate = max(waits, default=None) if number is not None else None
    return StatusView(
        project=found.name,
        task=found.task,
        revision=found.head_revision,
        champion=number,
        accuracy=None if champion is None else champion.metrics.get("accuracy"),
        micro_f1=None if champion is None else champion.metrics.get("micro_f1"),
        judged_on="" if champion is None else str(champion.metrics.get("judged_on", "")),
        hot=0 if live is None else len(live.hot),
        waiting=0 if live is None else len(live.waiting),
        model="none" if champion is None else _state(live, trouble),
        trouble=f"{found.name}@{number} does not answer: {trouble} {_WAY_OUT}" if trouble else "",
        candidate=candidate,
        unlabelled=unlabelled,
        conversations=conversations,
        marked=_is_marked(live_studio.studio, found),
        job=running,
        auto_promote=found.auto_promote,
        can_undo="" if last is None else last.verb,
    )


def _is_marked(studio: Studio, project: ProjectRecord) -> bool:
    """Look for a marked value, once for each revision: every page asks each second."""

    def find() -> bool:
        with studio.database.read() as connection:
            return slots.is_any_marked(connection, project.id)

    return studio.cache.get(("marked", project.id, project.head_revision), find, lambda _: 100)


def _state(live: LiveModel | None, trouble: str) -> ModelState:
    """How a champion is; without one there is nothing to load."""
    return "ready" if live is not None else "failed" if trouble else "loading"


def _running(connection: Transaction, project_id: int) -> RunningJob | None:
    mine = [job for job in jobs.live(connection) if job.project_id == project_id]
    if not mine:
        return None
    job = next((j for j in mine if j.state == "running"), mine[0])
    return RunningJob(job.id, job.kind, job.state, job.progress, job.stage, job.eta_seconds)
