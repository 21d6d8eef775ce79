"""What services hand to pages, the command line and REST: frozen values, ready to show."""

from dataclasses import dataclass
from typing import Literal

from core.metrics.paired import Difference, IntentRecall, PairedAnswer
from core.types import Task
from storage.records import ModelKind


@dataclass(frozen=True, slots=True)
class ProjectView:
    """A project in a list; for several labels the accuracy is the share of exact matches."""

    name: str
    task: Task
    intents: int
    labelled: int
    utterances: int
    champion: str | None
    accuracy: float | None
    micro_f1: float | None


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import did, or with `dry_run` would do.

    Attributes:
        added: New utterances.
        labelled: Labels given by the file, to new and to known utterances.
        already_there: Rows that change nothing.
        conflicting: Rows whose utterance already has another label; the label is kept as it was.
        empty: Rows without text, left out.
        too_long: Rows over the length limit, left out.
        new_intents: Names of intents that the file brings.
        examples: Intents that were archived and are used again, then a few single rows with their
            line, in sentences.
        dry_run: Whether nothing was written.
        without: Labels given by the file that say that no intent fits.
        convention: How a cell says several intents, or none, where a text may have several.
        marked: Utterances, new and known, whose values the file marks.
    """

    added: int
    labelled: int
    already_there: int
    conflicting: int
    empty: int
    too_long: int
    new_intents: tuple[str, ...]
    examples: tuple[str, ...]
    dry_run: bool
    without: int = 0
    convention: str = ""
    marked: int = 0


@dataclass(frozen=True, slots=True)
class ModelView:
    """A model version with where it came from and how good it is.

    Attributes:
        name: `PROJECT@N`.
        project: Name of the project.
        number: N.
        recipe: Kind of recipe.
        base: `bundled`, a folder's name, a hub id or `PROJECT@N`; empty where there is none.
        dataset_version: What it learned from, in words: a data version, or conversations.
        created_at: When, in UTC.
        champion: Whether it answers now.
        metrics: How it was judged.
        kind: `intents` where it answers, `encoder` where others start from it.
        chain: The first base, then each training up to this one with its recipe.
    """

    name: str
    project: str
    number: int
    recipe: str
    base: str
    dataset_version: str
    created_at: str
    champion: bool
    metrics: dict[str, object]
    kind: ModelKind = "intents"
    chain: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that `doctor` looked at."""

    subject: str
    healthy: bool
    detail: str


@dataclass(frozen=True, slots=True)
class PinChange:
    """A pin and what both models answer; empty is out of scope, or no intent."""

    text: str
    expected: tuple[str, ...]
    before: tuple[str, ...]
    after: tuple[str, ...]

    @property
    def verdict(self) -> Literal["fixed", "broken", "kept", "missed"]:
        """What the candidate does with it; `missed` is wrong both times."""
        was_right, is_right = (
            set(said) == set(self.expected) for said in (self.before, self.after)
        )
        if is_right:
            return "kept" if was_right else "fixed"
        return "broken" if was_right else "missed"


@dataclass(frozen=True, slots=True)
class ModelComparison:
    """A candidate against a champion.

    Attributes:
        candidate: `PROJECT@N`.
        champion: `PROJECT@N`.
        basis: What accuracies rest on: the test split as it is now, the figures stored with both
            versions (when they were judged alike), or nothing.
        n: Texts that both were judged on.
        before: Accuracy of the champion in [0, 1], or None without a basis; for several labels the
            share of exact matches.
        after: The same of the candidate.
        difference: The gain with its 95 % interval.
        refused: How many of the texts the champion and the candidate answer with no intent.
        left_out: Texts of the test split that one of the two was trained on.
        intents: Recall of each intent, the largest loss first; for the test split alone.
        answers: Texts whose answer changed; for the test split alone.
        pins: Every pin with both answers.
        stale_pins: Pins that expect an intent which is archived or gone; they are not judged.
        words: All this in sentences.
        task: Whether answers are one intent, or any number of them.
        f1: For several labels, micro F1 of champion and candidate on the same texts; else None.
    """

    candidate: str
    champion: str
    basis: Literal["test split", "stored figures", "nothing"]
    n: int
    before: float | None
    after: float | None
    difference: Difference | None
    refused: tuple[int, int]
    left_out: int
    intents: tuple[IntentRecall, ...]
    answers: tuple[PairedAnswer, ...]
    pins: tuple[PinChange, ...]
    stale_pins: int
    words: tuple[str, ...] = ()
    task: Task = "single-label"
    f1: tuple[float, float] | None = None

    def pins_of(self, verdict: str) -> tuple[PinChange, ...]:
        """Pins of one verdict."""
        return tuple(pin for pin in self.pins if pin.verdict == verdict)


@dataclass(frozen=True, slots=True)
class GateVerdict:
    """Whether a candidate may become champion, and why."""

    promote: bool
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ChampionChange:
    """A project's champion changed; numbers of the versions, None where there was none."""

    project: str
    before: int | None
    after: int


@dataclass(frozen=True, slots=True)
class DeletionView:
    """What deleting a model version would do, or has done.

    Attributes:
        bytes_freed: Size of the files that no other version uses.
        blobs: How many these are.
        bytes_later: The part of it that is younger than an hour, and goes with `doctor`.
        reasons_against: Why one would rather keep it, in sentences.
        forbidden: Whether it cannot be deleted at all, for the first of the reasons.
    """

    bytes_freed: int
    blobs: int
    bytes_later: int
    reasons_against: tuple[str, ...]
    forbidden: bool


@dataclass(frozen=True, slots=True)
class AncestorView:
    """A model version that another was trained from, perhaps by way of others."""

    name: str
    recipe: str
    dataset_version: int | None
    deleted: bool


@dataclass(frozen=True, slots=True)
class LineageView:
    """Where a model version came from: enough to make it again.

    Attributes:
        name: `PROJECT@N`.
        state: `champion`, `former champion`, `candidate`, `discarded` or `encoder`.
        created_at: When, in UTC.
        dataset_version: Number of the data it learned from; None where it was imported.
        dataset_sha256: Of those data in canonical form.
        base: `bundled`, a folder's name, a hub id or `PROJECT@N`.
        base_fingerprint: As training recorded it, else the SHA-256 of the base's weights; None
            where the base is not at hand.
        recipe: Every setting.
        code_version: Of the studio that trained it.
        seed: Of the recipe.
        job: Id of the job that made it; None where it was imported.
        tree_sha256: Over all its files.
        conversations: What it learned from, where these are conversations.
        parents: Model versions it goes back to, the nearest first.
        children: Names of versions that were trained from it.
    """

    name: str
    state: str
    created_at: str
    dataset_version: int | None
    dataset_sha256: str | None
    base: str
    base_fingerprint: str | None
    recipe: dict[str, object]
    code_version: str
    seed: int | None
    job: str | None
    tree_sha256: str
    conversations: str
    parents: tuple[AncestorView, ...]
    children: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TimelineEntry:
    """Something that happened to a project's versions.

    Attributes:
        at: When, in UTC.
        kind: `data`, `model`, `champion`, `roll-back`, `discarded` or `deleted`.
        number: Of the dataset version for `data`, else of the model version.
        title: What happened, in a few words.
        details: Further phrases: what changed, how good it is.
        actor: Who did it; empty where a job did.
    """

    at: str
    kind: str
    number: int
    title: str
    details: tuple[str, ...]
    actor: str
