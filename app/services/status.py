"""The project's status that every page shows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from app.services.live.accuracy import AccuracyNow
from app.services.live.catching_up import count_hot
from app.services.live.live_model import LiveModel
from app.services.live.live_studio import LiveStudio
from app.services.studio import Studio
from app.services.versions.registry import newer_candidate
from app.services.versions.verdict import ReadyVerdict, verdict_on
from core.metrics.in_words import measured_on
from core.processor import waiting_work
from core.types import Task
from storage import conversation_logs, jobs, models, projects
from storage.database import Transaction
from storage.log import events
from storage.people.touched import Touched, touched_by
from storage.queries import slots, utterances
from storage.records import BatchRecord, JobRecord, ModelVersionRecord, ProjectRecord

ModelState = Literal["ready", "loading", "failed", "none"]
_UNLABELLED = utterances.Filter(state="unlabelled")
_STEPS = (events.undoable, events.redoable)
_SHARED = 2.0
"""Programs that want each processor while a training runs: it is one of them."""
_WAY_OUT = "Use another version on the Versions page, or train a new one."


@dataclass(frozen=True, slots=True)
class RunningJob:
    """A queued or running job.

    Attributes:
        slowed: Whether it is a training, and other programs want as much of the processor as it.
    """

    id: str
    kind: str
    state: str
    progress: float
    stage: str
    eta_seconds: float | None
    slowed: bool = False


@dataclass(frozen=True, slots=True)
class StatusView:
    """A project at a glance.

    Attributes:
        id: Its number, which stays when it is renamed.
        accuracy: The champion's accuracy at its training, in [0, 1]; in multi-label projects, the
            share of exact matches.
        answered_right: The same where a text that is refused as out of scope is answered wrongly;
            None for several intents a text, and for versions from before it was kept.
        micro_f1: The champion's F1 over all intents in multi-label projects, else None.
        judged_on: The texts behind both measures, in words.
        measured_on: The same as the end of a sentence.
        hot: Number of examples that are new, changed or gone since the champion's training.
        waiting: Number of these that do not vote before the next training.
        joins: Whether labels count without a training; None while the champion is not loaded.
        model: Whether the champion is loaded: `ready`, `loading`, `failed` or `none`.
        trouble: Why it failed to load and the next step, or "".
        candidate: Number of the newest candidate, after the champion if there is one, or None.
        marked: Whether an utterance outside the test split has marked values.
        auto_promote: Whether a version that passes the gate is promoted without a person.
        can_undo: Verb of the newest action that can be undone, or "".
        undo_id: The number of that action, or None.
        undoes: What that action was about, and how many texts it changed.
        can_redo: Whether the newest action is an undo that can be redone.
        redo_id: The number of that undo, or None.
        now: Its accuracy on the test split now; None until it is computed, or without such texts.
        checking: Whether a newer `now` is being computed.
        verdict: Whether the champion is ready to be used; None without one.
        queued: Kinds of the project's other jobs, which wait for theirs.
    """

    project: str
    id: int
    task: Task
    revision: int
    champion: int | None
    accuracy: float | None
    answered_right: float | None
    micro_f1: float | None
    judged_on: str
    measured_on: str
    hot: int
    waiting: int
    joins: bool | None
    model: ModelState
    trouble: str
    candidate: int | None
    unlabelled: int
    conversations: int
    marked: bool
    job: RunningJob | None
    auto_promote: bool
    can_undo: str
    undo_id: int | None
    can_redo: bool
    redo_id: int | None
    undoes: Touched
    now: AccuracyNow | None = None
    checking: bool = False
    verdict: ReadyVerdict | None = None
    queued: tuple[str, ...] = ()


def load_status(live_studio: LiveStudio, name: str) -> StatusView:
    """Return a project at a glance; never waits for a model to load.

    Raises:
        NotFound: There is no such project.
    """
    studio = live_studio.studio
    with studio.database.read() as connection:
        project = projects.find(connection, name)
        champion = models.champion(connection, project.id)
        unlabelled, conversations = _texts(connection, project.id)
        mine = jobs.live_of(connection, project.id)
        undoable, redoable = (step(connection, project.id) for step in _STEPS)
    live = None if champion is None else _loaded(live_studio, project, champion)
    running = _running(mine)
    _keep_running(studio, running)
    trouble = "" if champion is None or live else live_studio.pools.trouble(project.id, champion.id)
    number = None if champion is None else champion.number
    accuracy, checking = _accuracy(live_studio, project, champion if live else None)
    return StatusView(
        **_itself(project),
        champion=number,
        **_when_trained({} if champion is None else champion.metrics),
        hot=0 if live is None else count_hot(studio, project, live),
        waiting=0 if live is None else len(live.waiting),
        joins=None if live is None else live.joins,
        model=_state(champion, live, trouble),
        trouble=f"Version {number} does not answer: {trouble} {_WAY_OUT}" if trouble else "",
        candidate=newer_candidate(studio, name, number or 0),
        unlabelled=unlabelled,
        conversations=conversations,
        marked=_is_marked(studio, project),
        job=running,
        can_undo="" if undoable is None else undoable.verb,
        undo_id=None if undoable is None else undoable.id,
        can_redo=redoable is not None,
        redo_id=None if redoable is None else redoable.id,
        undoes=_undoes(studio, project, undoable),
        now=accuracy,
        checking=checking,
        verdict=_verdict(live_studio, project, champion, accuracy),
        queued=tuple(job.kind for job in mine if running and job.id != running.id),
    )


def _itself(project: ProjectRecord) -> dict[str, Any]:
    return {
        "project": project.name,
        "id": project.id,
        "task": project.task,
        "revision": project.head_revision,
        "auto_promote": project.auto_promote,
    }


def _when_trained(metrics: Mapping[str, Any]) -> dict[str, Any]:
    shares = ("accuracy", "answered_right", "micro_f1")
    return {
        **{name: metrics.get(name) for name in shares},
        "judged_on": str(metrics.get("judged_on", "")),
        "measured_on": measured_on(metrics),
    }


def _keep_running(studio: Studio, job: RunningJob | None) -> None:
    if job is not None:
        studio.executor.ensure_running()  # a reboot may have killed it


def _undoes(studio: Studio, project: ProjectRecord, undoable: BatchRecord | None) -> Touched:
    """Say what an action was about, once: every page asks each second."""
    if undoable is None:
        return Touched()

    def look() -> Touched:
        with studio.database.read() as connection:
            return touched_by(connection, [undoable.id]).get(undoable.id, Touched())

    moment = (undoable.id, project.head_revision)
    return studio.cache.get_newest(("touched", project.id), moment, look, lambda _: 200)


def _state(champion: ModelVersionRecord | None, live: LiveModel | None, trouble: str) -> ModelState:
    if champion is None:
        return "none"
    return "ready" if live is not None else "failed" if trouble else "loading"


def _accuracy(
    live_studio: LiveStudio, project: ProjectRecord, champion: ModelVersionRecord | None
) -> tuple[AccuracyNow | None, bool]:
    return (None, False) if champion is None else live_studio.accuracies.get(project, champion)


def _verdict(
    live_studio: LiveStudio,
    project: ProjectRecord,
    champion: ModelVersionRecord | None,
    accuracy: AccuracyNow | None,
) -> ReadyVerdict | None:
    if champion is None:
        return None
    broken = live_studio.accuracies.broken_pins(project, champion)
    ways = live_studio.accuracies.ways(project, champion)
    return verdict_on(champion, project.task, accuracy, broken, ways)


def _loaded(
    live_studio: LiveStudio, project: ProjectRecord, champion: ModelVersionRecord
) -> LiveModel | None:
    """Return the champion if it is loaded; start updates of model and pool if needed."""
    live = live_studio.models.peek(project.id)
    if live is not None and live.version.id != champion.id:
        live = None  # another version was promoted since
    if live is None or live.revision != project.head_revision:
        live_studio.pools.get(project.id)
    return live


def _is_marked(studio: Studio, project: ProjectRecord) -> bool:
    """Search for a marked value once for each revision: every page asks each second."""

    def find() -> bool:
        with studio.database.read() as connection:
            return slots.is_any_marked(connection, project.id)

    series = ("marked", project.id)
    return studio.cache.get_newest(series, project.head_revision, find, lambda _: 100)


def _texts(connection: Transaction, project_id: int) -> tuple[int, int]:
    """Count unlabelled texts, and conversations."""
    unlabelled = utterances.count_all(connection, project_id, _UNLABELLED)
    return unlabelled, conversation_logs.totals(connection, project_id).dialogues


def _running(mine: Sequence[JobRecord]) -> RunningJob | None:
    if not mine:
        return None
    job = next((j for j in mine if j.state == "running"), mine[0])
    slowed = job.kind == "train" and job.state == "running" and waiting_work() >= _SHARED
    return RunningJob(job.id, job.kind, job.state, job.progress, job.stage, job.eta_seconds, slowed)
