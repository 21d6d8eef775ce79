"""Frozen values that repositories return instead of database rows."""

from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from sqlalchemy.engine import Row

from core.templates.slots import Slot
from core.types import Split, Task

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


@dataclass(frozen=True, slots=True)
class ProjectRecord:
    """A project at its newest revision.

    Attributes:
        auto_promote: Whether a version that passes the gate is promoted without a person.
        fence: Rule for out of scope: `method`, `limit`, `limits` by intent id; None uses the
            model's own limit.
        deleted_name: Its name before it was deleted; None if it is not deleted.
    """

    id: int
    name: str
    task: Task
    head_revision: int
    created_at: str
    auto_promote: bool
    fence: dict[str, Any] | None = None
    deleted_name: str | None = None


@dataclass(frozen=True, slots=True)
class IntentRecord:
    """An intent; its id never changes, everything else may."""

    id: str
    name: str
    description: str
    color: str
    position: int
    archived: bool


@dataclass(frozen=True, slots=True)
class UtteranceRecord:
    """An utterance.

    Attributes:
        text: NFC, without outer white space.
        labels: Intent ids; None is unlabelled, empty is "no intent".
        flagged: The note of a person who flagged it, or empty.
        synthetic: Id of the utterance whose template it fills; empty if not synthetic. It never
            changes, and no synthetic utterance is in the test split.
        beside: What its file said of it that the studio shows nowhere: JSON, or empty.
    """

    id: str
    text: str
    split: Split
    source: str
    labels: tuple[str, ...] | None
    skipped: bool
    flagged: str
    slots: tuple[Slot, ...] = ()
    synthetic: str = ""
    beside: str = ""


@dataclass(frozen=True, slots=True)
class Change:
    """One attribute of one subject, before and after.

    `field` is an attribute's name, or `row` for creation (before is None) and deletion (after is
    None).
    """

    subject: str
    subject_id: str
    field: str
    before: Any
    after: Any

    @property
    def removes(self) -> bool:
        """Whether it deletes its subject."""
        return self.field == "row" and self.after is None


@dataclass(frozen=True, slots=True)
class BatchRecord:
    """One action of a person: changes that are undone together."""

    id: int
    verb: str
    actor: str
    origin: str
    at: str
    last_revision: int
    undoes: int | None
    undone_by: int | None


@dataclass(frozen=True, slots=True)
class DatasetVersionRecord:
    """A frozen revision of a project's data."""

    id: int
    number: int
    revision: int
    scheme: str
    sha256: str
    n_rows: int
    message: str
    parent_id: int | None
    created_at: str


ModelKind = Literal["intents", "encoder"]


@dataclass(frozen=True, slots=True)
class ModelVersionRecord:
    """A trained model or encoder: its files, its lineage and its measured quality.

    `kind` is `intents` for a pipeline that answers, `encoder` for an encoder without a head.
    """

    id: int
    project_id: int
    number: int
    tree_sha256: str
    dataset_version_id: int | None
    lineage: dict[str, Any]
    metrics: dict[str, Any]
    pins: dict[str, Any]
    created_at: str
    job_id: str | None
    kind: ModelKind

    @property
    def right_share(self) -> float | None:
        """The measured share of right answers in [0, 1]; None where nothing was measured.

        A refused text counts as not answered. Versions of earlier releases stored only how often
        the right intent came first.
        """
        share = self.metrics.get("answered_right", self.metrics.get("accuracy"))
        return None if share is None else float(share)


@dataclass(frozen=True, slots=True)
class ConversationLogRecord:
    """An imported conversation log; its tree also holds the digests that detect repeats.

    `masked` counts masked pieces by kind of personal data; None where masking was off.
    """

    id: int
    project_id: int
    source: str
    tree_sha256: str
    n_dialogues: int
    n_turns: int
    n_user_turns: int
    masked: dict[str, int] | None
    actor: str
    created_at: str


@dataclass(frozen=True, slots=True)
class AliasRecord:
    """An alias was pointed at a model version: which, by whom, and when."""

    name: str
    model_version_id: int
    number: int
    actor: str
    at: str


@dataclass(frozen=True, slots=True)
class LayoutRecord:
    """A stored layout of the embedding map; `model_version_id` is None for the untuned encoder."""

    id: int
    project_id: int
    model_version_id: int | None
    method: str
    tree_sha256: str
    n: int
    created_at: str


@dataclass(frozen=True, slots=True)
class TextGroupRecord:
    """A group of unlabelled texts that resemble one another.

    Attributes:
        id: Its number in the project, from 1; 0 before it is stored.
        facts: What a page tells of the group: see `GroupFacts` of the discover service.
        centre: Mean direction of its texts, float32 as bytes.
        merged_into: Id of the group in which a person put it, or None.
        set_aside: Number of unlabelled texts it had when a person was done with it; 0: is not.
    """

    id: int
    name: str
    facts: dict[str, Any]
    centre: bytes = field(repr=False)
    merged_into: int | None
    set_aside: int
    created_at: str


@dataclass(frozen=True, slots=True)
class ReceiptRecord:
    """Evidence of one answer; `id` is the digest of project and content."""

    id: str
    project_id: int
    content: dict[str, Any]
    actor: str
    created_at: str


@dataclass(frozen=True, slots=True)
class PinRecord:
    """A saved expectation: this text must get exactly these intents, given by id."""

    text: str
    intents: tuple[str, ...]
    actor: str
    at: str


@dataclass(frozen=True, slots=True)
class JobRecord:
    """A job's row."""

    id: str
    kind: str
    project_id: int | None
    payload: dict[str, Any]
    device: str
    state: str
    attempt: int
    max_attempts: int
    cancel_requested: bool
    beat: int
    progress: float
    stage: str
    eta_seconds: float | None
    message: str
    hint: str
    log_tail: str
    curve: dict[str, Any] | None
    result: dict[str, Any] | None
    created_at: str
    started_at: str | None
    finished_at: str | None

    @property
    def ended(self) -> bool:
        """Whether the job has ended, so that its row no longer changes by itself."""
        return self.state in ("succeeded", "failed", "cancelled")


UNMARKED: dict[str, Any] = {"slots": [], "synthetic": "", "beside": ""}
"""Defaults for utterances that were stored before these attributes existed."""


def stored_slots(slots: Iterable[Slot]) -> list[list[int | str]]:
    """Write slots as stored in rows and events: `[[start, end, name], ...]`."""
    return [[slot.start, slot.end, slot.name] for slot in slots]


def read_slots(value: Iterable[tuple[int, int, str]]) -> tuple[Slot, ...]:
    """Read what `stored_slots` wrote."""
    return tuple(Slot(start, end, name) for start, end, name in value)


def intent_record(key: str, row: dict[str, Any]) -> IntentRecord:
    """Make a record from an intent's attributes."""
    return IntentRecord(
        id=key,
        name=row["name"],
        description=row["description"],
        color=row["color"],
        position=row["position"],
        archived=bool(row["archived"]),
    )


def utterance_record(key: str, row: dict[str, Any]) -> UtteranceRecord:
    """Make a record from an utterance's attributes."""
    row = UNMARKED | row
    return UtteranceRecord(
        id=key,
        text=row["text"],
        split=row["split"],
        source=row["source"],
        labels=None if row["labels"] is None else tuple(row["labels"]),
        skipped=bool(row["skipped"]),
        flagged=row["flagged"],
        slots=read_slots(row["slots"]),
        synthetic=row["synthetic"],
        beside=row["beside"],
    )


def row_of(record: UtteranceRecord) -> dict[str, Any]:
    """Return an utterance's attributes as stored in the log."""
    return {
        "text": record.text,
        "split": record.split,
        "source": record.source,
        "labels": None if record.labels is None else list(record.labels),
        "skipped": int(record.skipped),
        "flagged": record.flagged,
        "slots": stored_slots(record.slots),
        "synthetic": record.synthetic,
        "beside": record.beside,
    }


_Record = TypeVar("_Record", bound="DataclassInstance")


def record_of(kind: type[_Record], row: Row[Any]) -> _Record:
    """Make a record from the columns of a row that share its fields' names."""
    return kind(**{field.name: row._mapping[field.name] for field in fields(kind)})


def now() -> str:
    """Return the time in UTC as ISO 8601 with milliseconds, for display only."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")
