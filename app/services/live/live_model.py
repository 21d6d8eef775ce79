"""A champion with the labels that have joined its votes since it was trained."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from app.services.live.joining import Base, Changes, Said
from core.heads.mixture import MixtureHead
from core.maps.plane import Plane
from core.pipeline import IntentPipeline
from core.types import Task
from storage.records import ModelVersionRecord, UtteranceRecord


@dataclass(frozen=True, slots=True)
class LiveModel:
    """A champion brought up to a revision of its project.

    Attributes:
        version: The champion.
        pipeline: What answers.
        base: The votes to which labels are joined.
        taught: Exemplars as training saw them, by id.
        plane: Where texts are shown, fitted to those exemplars; new labels do not move it.
        said: What every utterance that was touched since training says now.
        changes: Those of `said` that `base` does not say, as they vote now.
        hot: Ids of exemplars that training has not seen as they are now.
        waiting: Those of `hot` that do not vote as they are now: they wait for a training.
        gone: Ids of exemplars that training has seen, and that are none any more.
        revision: Revision of the project up to which labels are in.
        voice: Names that were trained beside the votes; the base is the votes alone.
    """

    version: ModelVersionRecord
    pipeline: IntentPipeline = field(repr=False)
    base: Base = field(repr=False)
    taught: Mapping[str, Said] = field(repr=False)
    plane: Plane = field(repr=False)
    said: Changes = field(default_factory=dict, repr=False)
    changes: Changes = field(default_factory=dict, repr=False)
    hot: frozenset[str] = frozenset()
    waiting: frozenset[str] = frozenset()
    gone: frozenset[str] = frozenset()
    revision: int = 0
    voice: MixtureHead | None = field(default=None, repr=False)

    @property
    def columns(self) -> tuple[str, ...]:
        """Intent id of each score column ("" where the project has no such intent)."""
        return self.base.columns

    def votes_as(self, key: str) -> Said | None:
        """What an utterance votes as, or None when it has no vote."""
        return self.changes.get(key, self.base.said.get(key))


def exemplar_of(record: UtteranceRecord | None, task: Task) -> Said | None:
    """What an utterance says as an exemplar, or None when it is none.

    Where several intents are allowed, one of no intent speaks against all of them.
    """
    if record is None or record.split != "train" or record.labels is None:
        return None
    if not record.labels and task == "single-label":
        return None
    return record.text, tuple(sorted(record.labels))
