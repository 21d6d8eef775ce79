"""What a studio and a model server answer, as frozen values; other fields are left out."""

from dataclasses import dataclass
from typing import Any

Labels = tuple[str, ...] | None
"""Intents of a text; None: it has no label, empty: no intent fits."""


@dataclass(frozen=True)
class Project:
    """A project; `champion` is the version that answers, `accuracy` a share in [0, 1]."""

    name: str
    task: str
    intents: int
    utterances: int
    labelled: int
    champion: str | None
    accuracy: float | None


@dataclass(frozen=True)
class Status:
    """A project now: number of the version that answers, and labels that wait for a training."""

    project: str
    task: str
    revision: int
    champion: int | None
    accuracy: float | None
    unlabelled: int
    waiting: int


@dataclass(frozen=True)
class Intent:
    """An intent; its id never changes, its name may."""

    id: str
    name: str
    description: str
    archived: bool
    utterances: int


@dataclass(frozen=True)
class Imported:
    """What became of added texts, in numbers of texts; `key` undoes the import."""

    added: int
    labelled: int
    already_there: int
    conflicting: int
    new_intents: tuple[str, ...]
    key: str


@dataclass(frozen=True)
class Vote:
    """An example that took part in an answer, and its signed part of the score."""

    exemplar_id: str
    text: str
    intents: tuple[str, ...]
    cosine: float
    vote: float


@dataclass(frozen=True)
class RankedIntent:
    """An intent with its score and its calibrated probability in [0, 1]."""

    intent: str
    score: float
    probability: float


@dataclass(frozen=True)
class Verdict:
    """The answer, no intents if none fits; `rule` says how it was found."""

    intents: tuple[str, ...]
    rule: str
    score: float
    threshold: float
    leading: str


@dataclass(frozen=True)
class Answer:
    """The studio's answer to a text, with the votes that count most.

    `label_revision` is the revision of the data up to which labels vote.
    """

    text: str
    sentence: str
    decision: Verdict
    ranked: tuple[RankedIntent, ...]
    neighbours: tuple[Vote, ...]
    model_version: str | None
    dataset_version: str | None
    label_revision: int | None


@dataclass(frozen=True)
class FindingText:
    """A text of a finding; `intents` are ids."""

    id: str
    text: str
    intents: Labels
    place: str


@dataclass(frozen=True)
class Remedy:
    """What can be done about a finding; `repair` is what `propose` takes, None changes nothing."""

    words: str
    repair: dict[str, Any] | None
    asks: str


@dataclass(frozen=True)
class Finding:
    """Something in the data that a person should look at, and why."""

    id: str
    kind: str
    title: str
    why: str
    texts: tuple[FindingText, ...]
    remedies: tuple[Remedy, ...]


@dataclass(frozen=True)
class Proposal:
    """A proposed change; `state` is `waits`, `accepted`, `declined` or `outdated`."""

    id: str
    by: str
    why: str
    at: str
    change: str
    state: str


@dataclass(frozen=True)
class Pin:
    """A text with the answer that was promised; `kept` is None where no model is judged."""

    text: str
    expected: str
    answer: str | None
    kept: bool | None
    intents: tuple[str, ...]


@dataclass(frozen=True)
class Job:
    """A training; `state` is `queued`, `running`, `succeeded`, `failed` or `cancelled`."""

    id: str
    kind: str
    project: str
    state: str
    progress: float
    stage: str
    message: str
    hint: str
    result: dict[str, Any]

    @property
    def ended(self) -> bool:
        """Whether it goes on no more."""
        return self.state in ("succeeded", "failed", "cancelled")

    @property
    def version(self) -> int | None:
        """The number of the version that it made."""
        number = str(self.result.get("model", "")).rpartition("@")[2]
        return int(number) if number.isdecimal() else None


@dataclass(frozen=True)
class Received:
    """What became of texts from production, in numbers of texts."""

    received: int
    kept: int
    left_out: int
    repeated: int
    added: int


@dataclass(frozen=True)
class ServedVote:
    """An example that voted in a model server's answer."""

    id: str
    text: str
    intents: tuple[str, ...]
    cosine: float
    vote: float


@dataclass(frozen=True)
class Evidence:
    """Why an intent has its score: votes, other votes, prior and name sum to it."""

    intent: str
    score: float
    prior: float
    name: float
    other_votes: float
    votes: tuple[ServedVote, ...]


@dataclass(frozen=True)
class ServedAnswer:
    """A model server's answer; `intent` and `probability` are of the likeliest one.

    A text in which nothing can be seen has the rule `empty` and neither of them.
    """

    text: str
    intents: tuple[str, ...]
    rule: str
    in_scope: bool
    intent: str = ""
    probability: float = 0.0
    score: float = 0.0
    threshold: float = 0.0
    ranking: tuple[RankedIntent, ...] = ()
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True)
class Served:
    """Answers of a model server, and of which model they are."""

    model: str
    model_version: str | None
    dataset_version: str | None
    latency_ms: float
    predictions: tuple[ServedAnswer, ...]
