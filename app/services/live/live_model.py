"""A champion with the labels that have joined its votes since its training."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from app.services.live.joining import (
    Base,
    Changes,
    Said,
    are_too_many,
    can_join,
    differing,
)
from core.heads.mixture import MixtureHead
from core.maps.plane import Plane
from core.pipeline import IntentPipeline
from core.types import Task
from storage.records import ModelVersionRecord, UtteranceRecord


@dataclass(frozen=True, slots=True)
class LiveModel:
    """A champion brought up to a revision of its project.

    Attributes:
        base: The votes to which labels are joined.
        taught: Exemplars as of training, by id.
        plane: The 2-D view of texts, fitted to those exemplars; new labels do not change it.
        said: Current text and intents of every utterance touched since training.
        changes: The part of `said` that differs from `base` and has joined the votes.
        hot: Ids of exemplars that are new or changed since training.
        late: Ids of utterances whose newest label, or its loss, waits for a training to count.
        gone: Ids of exemplars of the training that are exemplars no longer.
        joined_at: The newest revision known at which all labels voted: none was late.
        voice: Intent names trained beside the votes; the base is the votes alone.
    """

    version: ModelVersionRecord
    pipeline: IntentPipeline = field(repr=False)
    base: Base = field(repr=False)
    taught: Mapping[str, Said] = field(repr=False)
    plane: Plane = field(repr=False)
    said: Changes = field(default_factory=dict, repr=False)
    changes: Changes = field(default_factory=dict, repr=False)
    hot: frozenset[str] = frozenset()
    late: frozenset[str] = frozenset()
    gone: frozenset[str] = frozenset()
    revision: int = 0
    joined_at: int = 0
    voice: MixtureHead | None = field(default=None, repr=False)

    @property
    def columns(self) -> tuple[str, ...]:
        """Intent id of each score column ("" where the project has no such intent)."""
        return self.base.columns

    @property
    def joins(self) -> bool:
        """Whether labels count without a training, so that it can be told what they would do."""
        return can_join(self.base, self.changes)

    def has_room(self, now: Changes) -> bool:
        """Whether labels count without a training once these utterances are as told, too."""
        return not are_too_many(self.base, differing(self.base, {**self.said, **now}))

    @property
    def since(self) -> frozenset[str]:
        """Ids of the texts whose labels as examples were given, changed or taken away since."""
        return self.hot | self.gone

    @property
    def waiting(self) -> frozenset[str]:
        """Ids of exemplars that are new or changed since training, and do not vote so yet."""
        return self.hot & self.late

    def shown_at(self, ids: Iterable[str]) -> int:
        """Return a revision at which the labels of these exemplars were those that they vote by."""
        return self.revision if self.late.isdisjoint(ids) else self.joined_at

    def votes_as(self, key: str) -> Said | None:
        """Return the text and intents as which an utterance votes, or None without a vote."""
        return self.changes.get(key, self.base.said.get(key))


@dataclass(frozen=True, slots=True)
class AnswersBy:
    """By what a project answers, beside its labels: a version's id, None without one; its fence."""

    version: int | None = None
    fence: dict[str, Any] | None = None


def as_last_solved(live: LiveModel) -> IntentPipeline:
    """Return a model's pipeline as of the last time that its votes were solved, or as trained.

    After many changes the votes are solved again, so the labels of these are in it.
    """
    votes, head = live.base.pipeline, live.pipeline.head
    beside = replace(head, first=votes.head) if isinstance(head, MixtureHead) else votes.head
    return replace(votes, head=beside, calibration=live.pipeline.calibration)


def is_untuned(live: LiveModel) -> bool:
    """Whether the encoder is the bundled one, which has seen no label of the project."""
    lineage, fingerprint = live.version.lineage, live.pipeline.encoder.fingerprint
    return lineage.get("base") == "bundled" and lineage.get("base_fingerprint") == fingerprint


def exemplar_of(record: UtteranceRecord | None, task: Task) -> Said | None:
    """Return an utterance's text and intents as an exemplar, or None if it is none.

    In a multi-label project, an utterance of no intent is an exemplar against all intents.
    """
    if record is None or record.split != "train" or record.labels is None:
        return None
    if not record.labels and task == "single-label":
        return None
    return record.text, tuple(sorted(record.labels))
