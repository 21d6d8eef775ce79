"""What requests carry, checked at the edge."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from app.services.dialogues import POOL
from storage.browse import Filter, LabelState

Text = Annotated[str, Field(max_length=10_000)]
"""A text to answer; longer than any utterance."""


class Body(BaseModel):
    """A request's JSON; unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class NewProject(Body):
    """A project to create; `sample` fills it with the sample data."""

    name: str = Field(max_length=200)
    task: Literal["single-label", "multi-label"] = "single-label"
    sample: bool = False


class MappingBody(Body):
    """How an uploaded file is to be read."""

    text_column: str | None = None
    intent_column: str | None = None
    separator: str | None = None
    split: Literal["train", "test", "pool"] | None = None
    header: bool | None = None


class FilterBody(Body):
    """Which utterances."""

    text: str = Field(default="", max_length=1_000)
    intent: str | None = None
    split: Literal["train", "test", "pool"] | None = None
    state: LabelState | None = None
    differs: bool = False
    ids: list[str] | None = Field(default=None, max_length=20_000)

    def read(self, differing: tuple[str, ...] | None) -> Filter:
        """The filter of the service, with the ids that differ where they are asked for."""
        ids = None if self.ids is None else tuple(self.ids)
        if differing is not None:
            ids = differing if ids is None else tuple(set(ids) & set(differing))
        return Filter(self.text, self.intent, self.split, self.state, ids)


class EditBody(Body):
    """One change of everything that a filter lets through."""

    filter: FilterBody
    kind: Literal["label", "out-of-scope", "unlabel", "move", "flag", "unflag", "delete", "text"]
    value: str = Field(default="", max_length=20_000)
    expected: int


class ProjectChange(Body):
    """What changes about a project."""

    auto_promote: bool


class IntentBody(Body):
    """A new intent."""

    name: str = Field(max_length=1_000)
    description: str = Field(default="", max_length=5_000)


class IntentChange(Body):
    """What changes about an intent; absent stays."""

    name: str | None = Field(default=None, max_length=1_000)
    description: str | None = Field(default=None, max_length=5_000)
    color: str | None = Field(default=None, pattern=r"#[0-9a-fA-F]{6}")
    archived: bool | None = None


class MergeBody(Body):
    """Two intents by name."""

    source: str
    target: str


class OperationBody(Body):
    """One decision at the labelling card."""

    key: str = Field(min_length=8, max_length=80)
    kind: Literal["label", "out-of-scope", "unlabel", "skip", "flag", "undo"]
    id: str = Field(default="", max_length=200)
    intents: tuple[str, ...] = Field(default=(), max_length=50)
    create: tuple[str, ...] = Field(default=(), max_length=10)
    seen: tuple[str, ...] | None = None
    of: str = Field(default="", max_length=80)
    note: str = Field(default="", max_length=500)


class TextsBody(Body):
    """Texts to answer."""

    texts: list[Text] = Field(min_length=1, max_length=1_000)


class ExplainBody(Body):
    """A text to explain; without `model` by the live model, without `against` by the runner-up."""

    text: Text
    model: int | None = Field(default=None, ge=1)
    against: str | None = Field(default=None, max_length=1_000)


class SimilarBody(Body):
    """A tray of texts to find others like."""

    texts: list[Text] = Field(min_length=1, max_length=200)
    n: int = Field(default=20, ge=1, le=200)
    unlabelled: bool = True


class DialogueBody(Body):
    """How an uploaded log is imported."""

    mask: bool = False
    pool: int = Field(default=POOL, ge=0, le=1_000_000)


class RepliesBody(Body):
    """What was said, the last turn last, and the replies to choose from; none: drawn from logs."""

    turns: list[Text] = Field(min_length=1, max_length=50)
    candidates: list[Text] = Field(default_factory=list, max_length=1_000)
    n: int = Field(default=10, ge=1, le=100)


class PinBody(Body):
    """A text, and the ids of the intents that it must get; without a list the pin goes."""

    text: str = Field(max_length=10_000)
    intents: tuple[str, ...] | None = Field(default=None, max_length=50)


class TrainBody(Body):
    """What to train."""

    recipe: str = "convfit"
    settings: dict[str, object] = Field(default_factory=dict)
    base: str = "bundled"
    gate: bool | None = None


class LayoutBody(Body):
    """A layout to compute; `pca` encodes what is missing."""

    method: Literal["pca", "umap", "tsne"]
    model: int | None = Field(default=None, ge=0)


class IdsBody(Body):
    """Utterances by id."""

    ids: list[str] = Field(max_length=1_000)
