"""Shapes of answers for which no service has a view; the REST schema lists them."""

from dataclasses import dataclass
from typing import Literal

from app.services.data.intents import IntentView
from app.services.maps.views import MovedText
from app.services.versions.comparison_views import GateVerdict, ModelComparison
from app.services.versions.timeline import DatasetVersionView, ModelView
from app.services.versions.verdict import Advice
from storage.queries.utterances import Counts
from storage.records import BatchRecord


@dataclass(frozen=True, slots=True)
class Problem:
    """The shape of every error: what failed, and the next step."""

    message: str
    hint: str


@dataclass(frozen=True, slots=True)
class Named:
    """The name of a project or an intent."""

    name: str


@dataclass(frozen=True, slots=True)
class IntentKey:
    """An intent's id, which never changes."""

    id: str


@dataclass(frozen=True, slots=True)
class NewGroups:
    """The numbers of groups that were made."""

    groups: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Started:
    """The id of a job; `/api/jobs/ID` returns its progress."""

    job: str


@dataclass(frozen=True, slots=True)
class JobState:
    """The state of a job."""

    state: str


@dataclass(frozen=True, slots=True)
class Changed:
    """Number of utterances that an edit changed."""

    changed: int


@dataclass(frozen=True, slots=True)
class Discarded:
    """Number of a discarded model version."""

    discarded: int


@dataclass(frozen=True, slots=True)
class Imported:
    """A model version `PROJECT@N`."""

    model: str


@dataclass(frozen=True, slots=True)
class Kept:
    """A receipt's id, or `PROJECT@N` of a report, with the path of its page.

    `link` is the path, behind a proxy with the studio's address there; who has no launch token
    needs a shared link. `reaches_others` tells whether other computers may open it; `reach` says
    who can.
    """

    id: str
    path: str
    link: str
    reaches_others: bool
    reach: str


@dataclass(frozen=True, slots=True)
class Overview:
    """Counts of a project's utterances, and its intents."""

    counts: Counts
    intents: tuple[IntentView, ...]


@dataclass(frozen=True, slots=True)
class Undone:
    """The action that was undone, or None."""

    undone: BatchRecord | None


@dataclass(frozen=True, slots=True)
class Redone:
    """The undo that was redone, or None."""

    redone: BatchRecord | None


@dataclass(frozen=True, slots=True)
class Versions:
    """Dataset versions, model versions, and the state of each model version by its number.

    `previous` is the number of the version that rolling back returns to. `damaged` has the numbers
    of versions whose files are known to be missing or changed.
    """

    data: list[DatasetVersionView]
    models: list[ModelView]
    states: dict[int, str]
    previous: int | None
    damaged: list[int]


@dataclass(frozen=True, slots=True)
class Compared:
    """A candidate compared with the champion, and the gate's verdict.

    `advice` says which of the two should answer; None where neither does.
    """

    comparison: ModelComparison
    gate: GateVerdict
    advice: Advice | None


@dataclass(frozen=True, slots=True)
class MapPoints:
    """The utterances of a map; `order` identifies them when requesting coordinates."""

    model: int
    method: str
    ids: tuple[str, ...]
    stored: bool
    missing: int
    revision: int
    order: str


@dataclass(frozen=True, slots=True)
class MapComparison:
    """The same utterances on two maps in one unit box, and those that moved most."""

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
    method: str


@dataclass(frozen=True, slots=True)
class Health:
    """A sign that the server is up."""

    state: Literal["ok"] = "ok"
