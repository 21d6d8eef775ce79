"""What answers carry where no service has a view for it, so that the schema tells their shape."""

from dataclasses import dataclass
from typing import Literal

from app.services.data.intents import IntentView
from app.services.maps.views import MovedText
from app.services.versions.comparison_views import GateVerdict, ModelComparison
from app.services.versions.timeline import DatasetVersionView, ModelView
from storage.queries.utterances import Counts
from storage.records import BatchRecord


@dataclass(frozen=True, slots=True)
class Problem:
    """Why something was not done, and the next step; every error has this shape."""

    message: str
    hint: str


@dataclass(frozen=True, slots=True)
class Named:
    """Name of a project or an intent."""

    name: str


@dataclass(frozen=True, slots=True)
class IntentKey:
    """An intent by its id, which stays however it is called."""

    id: str


@dataclass(frozen=True, slots=True)
class Started:
    """A job by its id; `/api/jobs/ID` follows it."""

    job: str


@dataclass(frozen=True, slots=True)
class JobState:
    """How a job is."""

    state: str


@dataclass(frozen=True, slots=True)
class Changed:
    """How many utterances an edit concerned."""

    changed: int


@dataclass(frozen=True, slots=True)
class Discarded:
    """Number of a model version that was turned down."""

    discarded: int


@dataclass(frozen=True, slots=True)
class Imported:
    """A model version `PROJECT@N`."""

    model: str


@dataclass(frozen=True, slots=True)
class Kept:
    """Where evidence is kept.

    Attributes:
        id: Of the receipt, or `PROJECT@N` of the model version that a report is about.
        path: Address of its page.
        link: The same address with the token of a viewer, who can only look.
    """

    id: str
    path: str
    link: str


@dataclass(frozen=True, slots=True)
class Overview:
    """Counts of a project's utterances, and its intents."""

    counts: Counts
    intents: tuple[IntentView, ...]


@dataclass(frozen=True, slots=True)
class Undone:
    """The action that was taken back, or None where there was none."""

    undone: BatchRecord | None


@dataclass(frozen=True, slots=True)
class Redone:
    """The undo that was taken back, or None where there was none."""

    redone: BatchRecord | None


@dataclass(frozen=True, slots=True)
class Versions:
    """Dataset versions, model versions, and what each of these is, by its number."""

    data: list[DatasetVersionView]
    models: list[ModelView]
    states: dict[int, str]


@dataclass(frozen=True, slots=True)
class Compared:
    """A candidate against the champion, and what the gate says."""

    comparison: ModelComparison
    gate: GateVerdict


@dataclass(frozen=True, slots=True)
class MapPoints:
    """Which utterances a map shows; their places come by `order`."""

    model: int
    method: str
    ids: tuple[str, ...]
    stored: bool
    missing: int
    revision: int
    order: str


@dataclass(frozen=True, slots=True)
class MapComparison:
    """The same utterances on two maps in one unit box, and which of them moved most."""

    ids: tuple[str, ...]
    before: int
    after: int
    before_xy: list[list[float]]
    after_xy: list[list[float]]
    moved: tuple[MovedText, ...]
    silhouettes: tuple[float | None, float | None]
    missing: int
    revision: int
    order: str


@dataclass(frozen=True, slots=True)
class Health:
    """That the server is up."""

    state: Literal["ok"] = "ok"
