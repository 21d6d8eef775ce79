"""What all recipes share: facts about a recipe, and settings declared once."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from core.types import AskedPrecision, Task

Makes = Literal["model", "encoder"]
"""A model answers with intents; an encoder is a start for models."""
Source = Literal["labels", "conversations", "templates"]

Seed = Annotated[
    int, Field(ge=0, lt=2**31, description="The same seed gives the same result on one machine.")
]
Warmup = Annotated[
    float, Field(ge=0, le=1, description="Share of the steps in which the learning rate rises.")
]
WeightDecay = Annotated[float, Field(ge=0, le=1, description="Weight decay of the optimiser.")]
Epochs = Annotated[
    int | None,
    Field(
        ge=1,
        le=200,
        title="Rounds over your examples",
        description="How often a training goes through them (epochs). Leave it empty.",
    ),
]
LearningRate = Annotated[float, Field(gt=0, le=1e-1, description="Peak learning rate.")]
FrozenLayers = Annotated[
    int,
    Field(ge=0, le=48, description="Lower layers kept as they are and computed once; 0: none."),
]
Interpolation = Annotated[
    float,
    Field(
        gt=0,
        le=1,
        description="How far to go from the base to the tuned weights; less is steadier.",
    ),
]
MOST = 10_000_000
"""Of what a setting counts, where nothing else limits it: no machine holds more."""
MaxTokens = Annotated[
    int, Field(ge=8, le=512, description="Longer texts are cut to so many tokens in tuning.")
]


def _spoken(name: str, _: object) -> str:
    return name.replace("_", " ").capitalize()


class Frozen(BaseModel):
    """A value that cannot change and refuses settings it does not know, and numbers without end.

    A form calls a setting by its title: its own, or its name with spaces.
    """

    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, field_title_generator=_spoken
    )


class Recipe(Frozen):
    """A way of training, with the facts that pages, commands and jobs read.

    Attributes:
        title: Name of the method on a page.
        plain_title: Name of the choice on a page, by what it is for; "" for the title.
        summary: What it does and when to choose it, in two or three sentences.
        work: Start of a sentence about a training; {what} is the data that it learns from.
        learns_from: Data that the project must have.
        tasks: Tasks of the projects that can use it.
        needs_base: Whether it starts from an encoder.
        has_form: Whether pages show its settings; otherwise only the command line takes them.
        multi_label: Defaults that differ for multi-label tasks.
    """

    title: ClassVar[str]
    plain_title: ClassVar[str] = ""
    summary: ClassVar[str]
    work: ClassVar[str]
    makes: ClassVar[Makes]
    learns_from: ClassVar[Source]
    tasks: ClassVar[tuple[Task, ...]] = ("single-label", "multi-label")
    needs_base: ClassVar[bool] = True
    has_form: ClassVar[bool] = True
    multi_label: ClassVar[Mapping[str, object]] = {}

    seed: Seed = 0

    @classmethod
    def name(cls) -> str:
        """Return the name of the recipe in commands and stored JSON."""
        return str(cls.model_fields["kind"].default)

    def describe_work(self, what: str) -> str:
        """Describe a training with these settings, without a full stop."""
        return self.work.format(what=what)


class Tuned(Recipe):
    """A recipe that changes an encoder."""

    learning_rate: LearningRate = 1e-4
    warmup: Warmup = 0.1
    weight_decay: WeightDecay = 0.01
    frozen_layers: FrozenLayers = 3
    interpolation: Interpolation = 1.0
    max_tokens: MaxTokens = 48
    precision: AskedPrecision = Field(
        default="auto",
        description="Number format of the products in tuning, and in reading unlabelled texts. "
        "auto: bfloat16 where this machine is quick in it, which changes answers by a tenth of a "
        "point at most; else float32.",
    )
