"""Recipes that learn from labelled utterances and make a model that answers."""

import math
from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from core.recipes.base import (
    MOST,
    Epochs,
    FrozenLayers,
    Interpolation,
    LearningRate,
    Makes,
    Recipe,
    Source,
    Tuned,
)
from core.recipes.heads import HeadConfig, VotesConfig
from core.types import Task


class ModelRecipe(Recipe):
    """A recipe whose result answers intents."""

    makes: ClassVar[Makes] = "model"
    learns_from: ClassVar[Source] = "labels"

    head: HeadConfig = Field(default=VotesConfig(), description="What decides from embeddings.")
    neighbours: int = Field(
        default=5, ge=1, le=50, description="How many exemplars an answer shows."
    )
    out_of_scope_rejection: float = Field(
        default=0.05,
        ge=0,
        lt=0.5,
        description="Share of in-scope texts that may be taken for out of scope.",
    )
    theta: float | None = Field(
        default=None,
        gt=-1,
        lt=2,
        description="Threshold of the score for each intent, where a text may have several; "
        "empty: one for each intent, chosen on the labels.",
    )


class InstantRecipe(ModelRecipe):
    """Keep the encoder as it is and fit the head: ready in seconds."""

    title: ClassVar[str] = "Instant"
    summary: ClassVar[str] = (
        "Fast: compares with your examples, not tuned to them. For a first look, and while you "
        "label."
    )
    work: ClassVar[str] = "Quick: compares with {what}, not tuned to them"
    has_form: ClassVar[bool] = False

    kind: Literal["instant"] = "instant"
    folds: int = Field(
        default=5,
        ge=1,
        le=20,
        description="Parts of the labels, each judged by a head fitted on the others; "
        "1: each label by all others.",
    )


class _HeldOut(ModelRecipe, Tuned):
    """Tunes on the labels, so that thresholds need labels held out of another tuning."""

    calibration: Literal["held-out", "leave-one-out"] = Field(
        default="held-out",
        description="Where the limit for out of scope comes from: texts not tuned on, or all.",
    )
    folds: int = Field(
        default=1,
        ge=1,
        le=20,
        description="1: a fifth of the labels is judged by one more, shorter tuning on the others. "
        "2 or more: all labels are, in that many parts; each part costs a whole tuning.",
    )

    @model_validator(mode="after")
    def _folds_are_held_out(self) -> Self:
        if self.folds > 1 and self.calibration != "held-out":
            message = f"folds={self.folds} needs calibration held-out, not {self.calibration}"
            raise ValueError(message)
        return self


class TunedRecipe(_HeldOut):
    """Pulls utterances of one intent together; a recipe for each thing that can be tuned."""

    multi_label: ClassVar[dict[str, object]] = {
        "objective": "overlap",
        "prototype_weight": 0.1,
        "temperature": 0.1,
        "frozen_layers": 1,
        "interpolation": 1.0,
    }

    objective: Literal["ocl", "cos", "smax", "supcon", "overlap", "prototype"] = Field(
        default="ocl",
        description="Which pairs are pulled together or pushed apart, and how; overlap: the "
        "closer, the more intents they share.",
    )
    prototype_weight: float = Field(
        default=1.0,
        ge=0,
        le=10,
        description="Weight of the cross-entropy to one prototype per intent beside the objective.",
    )
    temperature: float = Field(
        default=0.05, gt=0, le=1, description="Temperature of SupCon and of the prototypes."
    )
    names: bool = Field(
        default=True,
        title="Learn from intent names, too",
        description="Names of intents count as extra examples. Turn it off where names are codes.",
    )
    pool: bool = Field(
        default=True,
        title="Learn from unlabelled texts, too",
        description="With 500 or more, and at least as many as you have examples. They get the "
        "intents that your examples suggest, and are left out again if that does not help.",
    )
    pool_size: int = Field(
        default=10_000,
        ge=10,
        le=MOST,
        description="Unlabelled texts to learn from at most, drawn at random.",
    )
    epochs: Epochs = None
    intents_per_batch: int = Field(default=16, ge=2, le=512, description="Intents in a batch.")
    utterances_per_intent: int = Field(
        default=4, ge=2, le=64, description="Utterances of each intent in a batch."
    )
    batch_size: int = Field(
        default=32,
        ge=2,
        le=4_096,
        description="Utterances in a batch where they may have several intents.",
    )
    tuned_on: int | None = Field(
        default=25_000,
        ge=10,
        le=MOST,
        description="Labelled utterances to tune on at most, drawn at random; the head learns from "
        "all. Empty: all.",
    )
    interpolation: Interpolation = 0.8

    def learnable(self, n_texts: int, n_labels: int, task: Task = "single-label") -> int:
        """Return how many of so many unlabelled texts a training would learn from; 0: too few.

        There must be 500, and as many as labels: fewer teach less than they may cost. Held-out
        labels must tell whether they help.
        """
        is_able = self.pool and task == "single-label" and self.calibration == "held-out"
        found = min(n_texts, self.pool_size)
        return found if is_able and found >= fewest_texts(n_labels) else 0


class ConvfitRecipe(TunedRecipe):
    """Tune the encoder so that utterances of one intent come close (ConvFiT, Stage 2)."""

    title: ClassVar[str] = "ConvFiT"
    plain_title: ClassVar[str] = "Many examples"
    summary: ClassVar[str] = (
        "Tuned to your examples: learns how your intents differ. Usually the most accurate; a "
        "version takes 90 MB."
    )
    work: ClassVar[str] = "Tuned to {what}, which takes longer"
    multi_label: ClassVar[dict[str, object]] = {**TunedRecipe.multi_label, "learning_rate": 4e-4}

    kind: Literal["convfit"] = "convfit"
    projection: Literal["none", "train", "keep"] = Field(
        default="none",
        description="The paper's Tanh projection: absent, dropped after tuning, or kept.",
    )
    projection_size: int = Field(
        default=512, ge=16, le=4096, description="Width of the projection."
    )


class AdapterRecipe(TunedRecipe):
    """Leave the encoder as it is and tune small layers inside it: a few MB for each project."""

    title: ClassVar[str] = "Adapter"
    plain_title: ClassVar[str] = "Small"
    summary: ClassVar[str] = (
        "Nearly as good, and tiny: 1 MB a version. For many projects on one computer."
    )
    work: ClassVar[str] = "Tuned to {what}, which takes longer, and kept in a small file"
    multi_label: ClassVar[dict[str, object]] = {**TunedRecipe.multi_label, "learning_rate": 8e-3}

    kind: Literal["adapter"] = "adapter"
    adapter: Literal["bottleneck", "lora"] = Field(
        default="bottleneck",
        description="Narrow layers behind the feed-forward blocks, or LoRA beside every matrix.",
    )
    reduction_factor: int = Field(
        default=4, ge=1, le=64, description="How much narrower a bottleneck is than the encoder."
    )
    rank: int = Field(default=8, ge=1, le=64, description="Rank of LoRA's matrices.")
    merge: bool = Field(
        default=False,
        description="Add LoRA to the weights in the end: a whole encoder again, not a few MB.",
    )
    learning_rate: LearningRate = 1e-3
    frozen_layers: FrozenLayers = Field(
        default=2, description="Lower layers that get no adapter and are computed once."
    )
    interpolation: Interpolation = Field(
        default=1.0, description="How much of the tuned adapter to take; less is steadier."
    )

    @model_validator(mode="after")
    def _lora_alone_merges(self) -> Self:
        if self.merge and self.adapter != "lora":
            message = f"merge=true needs adapter lora; a {self.adapter} is no part of the weights"
            raise ValueError(message)
        return self

    def describe_work(self, what: str) -> str:
        """Describe a training; a merged adapter becomes a whole encoder."""
        return (ConvfitRecipe.work if self.merge else self.work).format(what=what)


class LabelEncoderRecipe(_HeldOut):
    """Train encoders of utterances and of intent names into one space; an intent needs only a name.

    Names add their scores to those of the head; with the head `names` they alone decide.
    """

    title: ClassVar[str] = "Names"
    plain_title: ClassVar[str] = "Few examples"
    summary: ClassVar[str] = (
        "For intents with few examples or none: what they are called and described as counts most."
    )
    work: ClassVar[str] = "Tuned to {what} and to the names of your intents, which takes longer"
    tasks: ClassVar[tuple[Task, ...]] = ("single-label",)

    kind: Literal["label-encoder"] = "label-encoder"
    variant: Literal["siamese", "non-siamese", "heterogeneous"] = Field(
        default="non-siamese",
        description="One encoder for both; a copy of it for names; or word vectors for names.",
    )
    width: int = Field(
        default=128, ge=8, le=4_096, description="Width of the small word vectors for names."
    )
    loss: Literal["contrastive", "mse"] = Field(
        default="contrastive",
        description="Rank the right name first, or bring similarities to 1 and 0.",
    )
    similarity: Literal["cosine", "dot"] = Field(
        default="cosine",
        description="Whether names are compared by direction alone, or by length too.",
    )
    temperature: float = Field(
        default=0.05, gt=0, le=100, description="Divisor of similarities (contrastive loss)."
    )
    negatives: int = Field(
        default=0,
        ge=0,
        le=10_000,
        description="Names of other intents drawn for each batch, beside those of its utterances. "
        "0: contrastive loss ranks the names of the batch, and mse sees right names alone.",
    )
    epochs: Epochs = None
    batch_size: int = Field(default=64, ge=2, le=4_096, description="Utterances in a batch.")
    names_rate: float | None = Field(
        default=None,
        ge=0,
        le=1_000,
        description="Factor of the rate for a separate encoder of names; empty: by its kind.",
    )
    frozen_layers: FrozenLayers = Field(
        default=3,
        description="Lower layers kept as they are and computed once; a separate encoder of names "
        "is tuned whole.",
    )


_FEW_ROWS, _MOST = 250, 20
_FEWEST_TEXTS = 500
"""Unlabelled texts from which a training learns."""
_SECOND_ROWS, _SECOND_LEAST = 20_000, 2
"""Texts that the second round reads in all its epochs, and its fewest epochs."""


def fewest_texts(n_labels: int) -> int:
    """Return how many unlabelled texts a training needs, before it learns from them."""
    return max(_FEWEST_TEXTS, n_labels)


def second_epochs(first: int, n_rows: int, parts: int = 1) -> int:
    """Return the epochs of a second round, over rows with and without labels.

    2, or as many as read 20,000 rows, but no more than the first round's; divided by `parts`.
    """
    return max(1, min(first, max(_SECOND_LEAST // parts, round(_SECOND_ROWS / parts / n_rows))))


def chosen_epochs(
    n_rows: int, recipe: TunedRecipe | LabelEncoderRecipe, task: Task = "single-label"
) -> int:
    """Return the recipe's epochs, or fewer the more labels there are.

    ConvFiT uses 10, 5 or 2 epochs. Multi-label sets need more: 20 up to 250 rows, then
    20 * sqrt(250 / rows), at least 2.
    """
    if recipe.epochs is not None:
        return recipe.epochs
    if task == "multi-label":
        return max(2, round(_MOST * math.sqrt(min(1.0, _FEW_ROWS / max(1, n_rows)))))
    return 10 if n_rows < 3_000 else 5 if n_rows < 7_000 else 2


AnyModelRecipe = InstantRecipe | ConvfitRecipe | AdapterRecipe | LabelEncoderRecipe

LEARN_FROM_LABELS = frozenset(
    str(recipe.model_fields["kind"].default)
    for recipe in (ConvfitRecipe, AdapterRecipe, LabelEncoderRecipe)
)
"""Kinds of the recipes that change an encoder by labels."""
