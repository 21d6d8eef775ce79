"""Request bodies and queries, validated by pydantic."""

from dataclasses import fields
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from app.services.conversations.logs import POOL
from app.services.data import import_cases as cases
from app.services.data.bulk import Allowed, BulkAct, Kind
from app.services.data.uploads import ColumnMapping
from app.services.review.fence_views import FenceSetting
from app.services.slots.augmentation import AugmentationRequest
from app.services.slots.marking import AcceptRequest
from app.services.trying.short_answers import ShortField
from app.services.what_if.repairs import Repair, RepairKind, SplitPart
from core.formats.rows import ReadFormat
from core.templates.slots import Slot
from core.types import Method
from storage.queries.utterances import Filter, LabelState, Order

Text = Annotated[str, Field(max_length=10_000)]
"""A text to answer; the limit is longer than any utterance."""

WhichModel = Literal["live", "champion"] | Annotated[int, Field(ge=1, strict=True)]
"""The live model; or the champion, or a version by its number, as they were trained."""

_Id = Annotated[str, Field(max_length=200)]

Key = Annotated[str, Field(min_length=8, max_length=80)]
"""Chosen by the sender of a change; a change with the same key is saved once."""


class Body(BaseModel):
    """A request's JSON; unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class NewProject(Body):
    """A project to create; `sample` fills it with the sample data."""

    name: str = Field(max_length=200)
    task: Literal["single-label", "multi-label"] = "single-label"
    sample: bool = False


class MappingBody(Body):
    """How to read an uploaded file and its cases; an empty intent or split column reads none."""

    text_column: str | None = None
    intent_column: str | None = None
    separator: str | None = None
    split: Literal["train", "test", "pool"] | None = None
    header: bool | None = None
    format: ReadFormat = "auto"
    sheet: str | None = Field(default=None, max_length=200)
    split_column: str | None = None
    otherwise: cases.Kept = "mine"
    exceptions: frozenset[int] = Field(default=frozenset(), max_length=10_000)
    across: cases.Across = "skip"
    contradicted: cases.Contradicted = "first"
    meanings: dict[str, cases.Meaning] = Field(default={}, max_length=1_000)
    renamed: dict[str, str] = Field(default={}, max_length=1_000)
    counted: dict[cases.CaseKind, int] | None = None

    def read(self) -> ColumnMapping:
        """Convert to the service's mapping."""
        chosen = {field.name for field in fields(cases.ImportChoices)}
        choices = cases.ImportChoices(**self.model_dump(include=chosen))
        return ColumnMapping(**self.model_dump(exclude=chosen), choices=choices)


class FilterBody(Body):
    """Which utterances to find."""

    text: str = Field(default="", max_length=1_000)
    intent: str | None = None
    second: str | None = None
    split: Literal["train", "test", "pool"] | None = None
    state: LabelState | None = None
    differs: bool = False
    borderline: bool = False
    ids: list[str] | None = Field(default=None, max_length=20_000)
    synthetic: bool | None = None

    def read(self, *chosen: tuple[str, ...] | None) -> Filter:
        """Convert to the service's filter, restricted to each given list of `chosen` ids."""
        ids = None if self.ids is None else tuple(self.ids)
        for others in chosen:
            if others is not None:
                ids = others if ids is None else tuple(set(ids) & set(others))
        synthetic, second = self.synthetic, self.second
        return Filter(self.text, self.intent, self.split, self.state, ids, synthetic, second)


class FilterQuery(FilterBody):
    """A filter as query parameters, with order and page."""

    ids: list[str] | None = None
    order: Order = "newest"
    page: int = Field(default=0, ge=0, le=1_000_000)
    size: int = Field(default=50, ge=1, le=500)


class SavedFilterBody(Body):
    """A filter to keep by name; `query` holds fields of the Data page's address."""

    name: str = Field(max_length=200)
    query: dict[
        Literal["text", "intent", "second", "split", "state", "differs", "borderline", "order"],
        Annotated[str, Field(max_length=1_000)],
    ] = Field(max_length=10)


class EditCountBody(Body):
    """An edit to count; a `label` may be without an intent."""

    filter: FilterBody
    kind: Kind
    value: str = Field(default="", max_length=20_000)


class EditBody(EditCountBody):
    """One change of all utterances that match a filter, once for each key.

    `also` names what may change beyond unlabelled texts outside the test set; texts that changed
    after `revision` are left as they are. For a `label`, `create` names the intent in place of
    `value`; it is created if there is none of this name.
    """

    expected: int
    also: tuple[Literal["labelled", "test"], ...] = Field(default=(), max_length=2)
    revision: int | None = Field(default=None, ge=0)
    key: Key | None = None
    create: str = Field(default="", max_length=1_000)

    def act(self) -> BulkAct:
        """Convert to the service's act."""
        allowed = Allowed("labelled" in self.also, "test" in self.also, self.revision)
        return BulkAct(self.expected, allowed, self.key or "")


class ProjectChange(Body):
    """What to change of a project; nothing else changes."""

    auto_promote: bool | None = None
    name: str | None = Field(default=None, max_length=200)


class IntentBody(Body):
    """A new intent."""

    name: str = Field(max_length=1_000)
    description: str = Field(default="", max_length=5_000)


class IntentChangeBody(Body):
    """Attributes of an intent to change; absent ones are kept."""

    name: str | None = Field(default=None, max_length=1_000)
    description: str | None = Field(default=None, max_length=5_000)
    color: str | None = Field(default=None, pattern=r"#[0-9a-fA-F]{6}")
    archived: bool | None = None


class MergeBody(Body):
    """Two intents by name."""

    source: str
    target: str


class OperationBody(Body):
    """One decision on the labelling card."""

    key: Key
    kind: Literal["label", "out-of-scope", "unlabel", "skip", "flag", "undo"]
    id: str = Field(default="", max_length=200)
    intents: tuple[str, ...] = Field(default=(), max_length=50)
    create: tuple[str, ...] = Field(default=(), max_length=10)
    seen: tuple[str, ...] | None = None
    of: str = Field(default="", max_length=80)
    note: str = Field(default="", max_length=500)


class TextsBody(Body):
    """Texts to answer; `strength` compresses them towards their templates, for the live model.

    `top_k` limits the intents in `ranked`. With `fields`, each answer has these fields alone.
    """

    texts: list[Text] = Field(min_length=1, max_length=1_000)
    model: WhichModel = "live"
    strength: float | None = Field(default=None, ge=0, le=1)
    top_k: int | None = Field(default=None, ge=1, le=10_000)
    fields: tuple[ShortField, ...] | None = Field(default=None, min_length=1, max_length=20)

    @model_validator(mode="after")
    def _compresses_live(self) -> Self:
        if self.strength is not None and self.model != "live":
            message = "only the live model can be compressed: leave out strength or model"
            raise ValueError(message)
        return self


class EraseBody(Body):
    """Texts to erase for good, each as it was said; without `now` they are counted only."""

    texts: list[Text] = Field(min_length=1, max_length=1_000)
    now: bool = False


class ExplainBody(Body):
    """A text to explain; by default by the live model (null, too), against the runner-up."""

    text: Text
    model: WhichModel | None = "live"
    against: str | None = Field(default=None, max_length=1_000)


class ShareBody(Body):
    """What a link shows, a receipt's id or a version's number, and for how many days (null: on)."""

    kind: Literal["receipt", "report"]
    target: str = Field(min_length=1, max_length=64)
    days: Literal[7, 30, 90] | None = 30


class SimilarBody(Body):
    """A tray of texts to find similar utterances for."""

    texts: list[Text] = Field(min_length=1, max_length=200)
    n: int = Field(default=20, ge=1, le=200)
    unlabelled: bool = True


class DialogueBody(Body):
    """How to import an uploaded log."""

    mask: bool = False
    pool: int = Field(default=POOL, ge=0, le=1_000_000)


class RepliesBody(Body):
    """A conversation, oldest turn first, and candidate replies; without any, drawn from logs."""

    turns: list[Text] = Field(min_length=1, max_length=50)
    candidates: list[Text] = Field(default_factory=list, max_length=1_000)
    n: int = Field(default=10, ge=1, le=100)


class RollBackBody(Body):
    """The champion to replace; absent: the current one."""

    champion: int | None = Field(default=None, ge=1)


class TrainBody(Body):
    """What to train; without a `base` from what the live version's training started from."""

    recipe: str = Field(default="convfit", max_length=200)
    settings: dict[str, object] = Field(default_factory=dict)
    base: str | None = Field(default=None, max_length=4_096)
    gate: bool | None = None


class SlotBody(Body):
    """A value from character `start` (from 0) up to, not including, `end`, and its slot's name."""

    start: int = Field(ge=0)
    end: int = Field(ge=1)
    name: str = Field(max_length=200)


class MarkBody(Body):
    """All values of an utterance; the same key marks them once."""

    slots: list[SlotBody] = Field(max_length=500)
    key: Key | None = None

    def read(self) -> list[Slot]:
        """Convert to the service's slots."""
        return [Slot(slot.start, slot.end, slot.name) for slot in self.slots]


class AcceptBody(Body):
    """Utterances whose proposals are marked; None: all without marked values.

    `shown` is the number of texts in the answer. With `state`, that of a preview, proposals from
    other marks than it knew are refused. `refused` has the characters at which refused values
    begin, by utterance.
    """

    utterances: list[str] | None = Field(default=None, max_length=20_000)
    refused: dict[_Id, tuple[int, ...]] = Field(default_factory=dict, max_length=20_000)
    noisy: bool = False
    preview: bool = False
    shown: int = Field(default=12, ge=0, le=5_000)
    state: str | None = Field(default=None, max_length=80)
    key: Key | None = None

    def read(self) -> AcceptRequest:
        """Convert to the service's request."""
        ids = None if self.utterances is None else tuple(self.utterances)
        return AcceptRequest(ids, self.noisy, self.shown, self.state, self.refused)


class SlotRename(Body):
    """A slot and its new name."""

    name: str = Field(max_length=200)
    to: str = Field(max_length=200)
    key: Key | None = None


class AugmentBody(Body):
    """Limits by slot value, by template and in all, intents to augment, templates to leave out."""

    top: int = Field(default=5, ge=1, le=1_000)
    per_template: int = Field(default=3, ge=1, le=1_000)
    most: int = Field(default=1_000, ge=1, le=100_000)
    intents: tuple[str, ...] | None = Field(default=None, max_length=10_000)
    without: tuple[Text, ...] = Field(default=(), max_length=10_000)
    key: Key | None = None

    def read(self) -> AugmentationRequest:
        """Convert to the service's request."""
        limits = (self.top, self.per_template, self.most)
        return AugmentationRequest(*limits, self.intents, self.without)


class IdsBody(Body):
    """Utterances by id."""

    ids: list[str] = Field(max_length=1_000)


class SplitPartBody(Body):
    """Texts that get a new intent."""

    name: str = Field(max_length=200)
    ids: tuple[_Id, ...] = Field(max_length=20_000)


class RepairBody(Body):
    """A repair of a finding; `parts` splits an intent into several at once."""

    kind: RepairKind
    ids: tuple[_Id, ...] = Field(default=(), max_length=5_000)
    intents: tuple[_Id, ...] = Field(default=(), max_length=50)
    intent: _Id = ""
    value: str = Field(default="", max_length=20_000)
    parts: tuple[SplitPartBody, ...] = Field(default=(), max_length=20)

    def read(self) -> Repair:
        """Convert to the service's repair."""
        parts = tuple(SplitPart(part.name, part.ids) for part in self.parts)
        return Repair(self.kind, self.ids, self.intents, self.intent, self.value, parts)


class WhatIfBody(Body):
    """Repairs, each evaluated alone."""

    repairs: list[RepairBody] = Field(min_length=1, max_length=10)


class ActBody(Body):
    """A repair to apply once for each key; without a repair, the finding is dismissed.

    `seen` is the revision at which texts and intents were shown; one that changed since refuses.
    """

    key: Key
    finding: str = Field(default="", max_length=2_000)
    repair: RepairBody | None = None
    seen: int | None = Field(default=None, ge=0)


class UndoBody(Body):
    """The key of the action to undo."""

    key: Key


class FenceBody(Body):
    """Limits for scope; without a limit, the model's own applies."""

    limit: float | None = None
    limits: dict[_Id, float] = Field(default_factory=dict, max_length=5_000)
    method: Method = "votes"

    def read(self) -> FenceSetting:
        """Convert to the service's setting."""
        return FenceSetting(self.limit, self.limits, self.method)
