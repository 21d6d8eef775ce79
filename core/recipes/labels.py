"""Every training setting, declared once: forms, flags, schemas and stored JSON use this."""

import math
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from core.errors import InvalidInput
from core.recipes.tasks import require_task, task_defaults
from core.types import Task


class Frozen(BaseModel):
    """A value that says no to what it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class VotesConfig(Frozen):
    """Exemplar votes: kernel ridge regression over the labelled utterances (the default)."""

    kind: Literal["votes"] = "votes"
    tau: float | None = Field(
        default=None, gt=0, le=2, description="Width of a vote; empty: chosen by leave-one-out."
    )
    ridge: float | None = Field(
        default=None, gt=0, le=10, description="Smoothing; empty: chosen by leave-one-out."
    )
    max_exemplars: int = Field(
        default=20_000, ge=10, description="Above this many, a chosen subset carries the votes."
    )


class NeighboursConfig(Frozen):
    """The k nearest exemplars vote with their cosine (ConvFiT uses k = 1)."""

    kind: Literal["neighbours"] = "neighbours"
    k: int = Field(default=1, ge=1, le=100, description="How many neighbours vote.")


class PrototypesConfig(Frozen):
    """The nearest mean embedding of an intent's exemplars wins."""

    kind: Literal["prototypes"] = "prototypes"


class LinearConfig(Frozen):
    """Logistic regression on the embeddings."""

    kind: Literal["linear"] = "linear"
    inverse_penalty: float = Field(
        default=10.0, gt=0, description="Larger trusts the labels more (C of scikit-learn)."
    )


class MlpConfig(Frozen):
    """A network with one hidden layer and a sigmoid for each intent (Multi-ConvFiT)."""

    kind: Literal["mlp"] = "mlp"
    hidden: int = Field(default=512, ge=8, le=8192, description="Width of the hidden layer.")
    dropout: float = Field(default=0.4, ge=0, lt=1, description="Share of it that is dropped.")
    smoothing: float = Field(
        default=0.95, gt=0.5, le=1, description="What a label counts; the rest is spread."
    )
    epochs: int = Field(default=600, ge=1, le=5_000, description="Passes over the labels.")
    batch_size: int = Field(default=32, ge=1, le=4_096, description="Utterances in a batch.")
    learning_rate: float = Field(default=3e-3, gt=0, le=1, description="Peak learning rate.")
    weight_decay: float = Field(default=0.02, ge=0, le=1, description="Weight decay of AdamW.")
    seed: int = Field(default=0, ge=0, lt=2**31, description="Same seed, same network.")


class NamesConfig(Frozen):
    """The nearest intent name with its description wins; needs no label at all."""

    kind: Literal["names"] = "names"
    similarity: Literal["cosine", "dot"] = Field(
        default="cosine", description="Whether names differ in direction alone or in length, too."
    )


HeadConfig = Annotated[
    VotesConfig | NeighboursConfig | PrototypesConfig | LinearConfig | MlpConfig | NamesConfig,
    Field(discriminator="kind"),
]


class _Recipe(Frozen):
    head: HeadConfig = Field(default=VotesConfig(), description="What decides from embeddings.")
    seed: int = Field(default=0, ge=0, lt=2**31, description="Same seed, same model.")
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
        description="Score from which on an intent is answered, where a text may have several; "
        "empty: one for each intent, chosen on the labels.",
    )


class InstantRecipe(_Recipe):
    """Keep the encoder as it is and fit the head: ready in seconds."""

    kind: Literal["instant"] = "instant"
    folds: int = Field(
        default=5,
        ge=1,
        le=20,
        description="Parts of the labels, each judged by a head fitted on the others; "
        "1: each label by all others.",
    )


class _HeldOutRecipe(_Recipe):
    """Where thresholds come from when the encoder has seen the labels."""

    calibration: Literal["held-out", "leave-one-out"] = Field(
        default="held-out",
        description="Where thresholds come from: texts the tuned encoder has not seen, or all.",
    )
    folds: int = Field(
        default=1,
        ge=1,
        le=20,
        description="1: a fifth of the labels is judged by one more, shorter tuning on the others; "
        "2 or more: every label is, in so many parts, each at the price of a whole tuning.",
    )

    @model_validator(mode="after")
    def _folds_are_held_out(self) -> Self:
        if self.folds > 1 and self.calibration != "held-out":
            message = f"folds={self.folds} needs calibration held-out, not {self.calibration}"
            raise ValueError(message)
        return self


class TunedRecipe(_HeldOutRecipe):
    """What every tuning has; a recipe of its own for each thing that can be tuned."""

    objective: Literal["ocl", "cos", "smax", "supcon", "overlap", "prototype"] = Field(
        default="ocl",
        description="Which pairs are pulled together or pushed apart, and how; `overlap`: the "
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
        default=True, description="Use intent names and descriptions as extra examples in tuning."
    )
    epochs: int | None = Field(
        default=None,
        ge=1,
        le=200,
        description="Passes over the labels; empty: chosen by their number.",
    )
    learning_rate: float = Field(default=1e-4, gt=0, le=1e-1, description="Peak learning rate.")
    warmup: float = Field(default=0.1, ge=0, le=1, description="Share of the steps that warm up.")
    weight_decay: float = Field(default=0.01, ge=0, le=1, description="Weight decay of AdamW.")
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
        default=None,
        ge=10,
        description="Labelled utterances to tune on, drawn by chance; the head learns from all. "
        "Empty: all.",
    )
    frozen_layers: int = Field(
        default=3, ge=0, le=48, description="Lower layers kept as they are and computed once."
    )
    interpolation: float = Field(
        default=0.8,
        gt=0,
        le=1,
        description="How far to go from the base to the tuned weights; a shorter way is steadier.",
    )
    max_tokens: int = Field(default=48, ge=8, le=512, description="Longer texts are cut in tuning.")


class ConvfitRecipe(TunedRecipe):
    """Tune the encoder so that utterances of one intent come close (ConvFiT, Stage 2)."""

    kind: Literal["convfit"] = "convfit"
    projection: Literal["none", "train", "keep"] = Field(
        default="none",
        description="The paper's Tanh projection: absent, dropped after tuning, or kept.",
    )
    projection_size: int = Field(default=512, ge=16, le=4096, description="Width of it.")


class AdapterRecipe(TunedRecipe):
    """Leave the encoder as it is and tune small layers inside it: a few MB for each project."""

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
    learning_rate: float = Field(default=1e-3, gt=0, le=1e-1, description="Peak learning rate.")
    frozen_layers: int = Field(
        default=2,
        ge=0,
        le=48,
        description="Lower layers that get no adapter and are computed once.",
    )
    interpolation: float = Field(
        default=1.0,
        gt=0,
        le=1,
        description="How much of the tuned adapter to take; a smaller part is steadier.",
    )

    @model_validator(mode="after")
    def _lora_alone_merges(self) -> Self:
        if self.merge and self.adapter != "lora":
            message = f"merge=true needs adapter lora; a {self.adapter} is no part of the weights"
            raise ValueError(message)
        return self


class LabelEncoderRecipe(_HeldOutRecipe):
    """Train encoders of utterances and of intent names to meet; an intent needs a name alone.

    Names are one more voice beside the head; with the head `names` they decide alone.
    """

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
        default="cosine", description="Whether names differ in direction alone or in length, too."
    )
    temperature: float = Field(
        default=0.05, gt=0, le=100, description="Similarities are divided by it (contrastive)."
    )
    negatives: int = Field(
        default=0,
        ge=0,
        le=10_000,
        description="Names of other intents drawn for each batch beside its own. With 0, "
        "contrastive loss ranks those of the batch and mse sees right names alone.",
    )
    epochs: int | None = Field(
        default=None,
        ge=1,
        le=200,
        description="Passes over the labels; empty: chosen by their number.",
    )
    batch_size: int = Field(default=64, ge=2, le=4_096, description="Utterances in a batch.")
    learning_rate: float = Field(default=1e-4, gt=0, le=1e-1, description="Peak learning rate.")
    names_rate: float | None = Field(
        default=None,
        ge=0,
        le=1_000,
        description="Factor of it for an encoder of names alone; empty: chosen by its kind.",
    )
    warmup: float = Field(default=0.1, ge=0, le=1, description="Share of the steps that warm up.")
    weight_decay: float = Field(default=0.01, ge=0, le=1, description="Weight decay of AdamW.")
    frozen_layers: int = Field(
        default=3,
        ge=0,
        le=48,
        description="Lower layers kept as they are and computed once; an encoder of names alone "
        "is tuned whole.",
    )
    interpolation: float = Field(
        default=1.0, gt=0, le=1, description="How far to go from the base to the tuned weights."
    )
    max_tokens: int = Field(default=48, ge=8, le=512, description="Longer texts are cut in tuning.")


_FEW_ROWS, _MOST = 250, 20


def chosen_epochs(
    n_rows: int, recipe: TunedRecipe | LabelEncoderRecipe, task: Task = "single-label"
) -> int:
    """Return the recipe's epochs, or fewer the more labels there are.

    ConvFiT has 10, 5 or 2; several intents of an utterance take longer to tell apart, so that
    a small set comes by 20 times, and one k times as large the root of k times less often.
    """
    if recipe.epochs is not None:
        return recipe.epochs
    if task == "multi-label":
        return max(2, round(_MOST * math.sqrt(min(1.0, _FEW_ROWS / max(1, n_rows)))))
    return 10 if n_rows < 3_000 else 5 if n_rows < 7_000 else 2


AnyRecipe = InstantRecipe | ConvfitRecipe | AdapterRecipe | LabelEncoderRecipe
Recipe = Annotated[AnyRecipe, Field(discriminator="kind")]
_READER: TypeAdapter[AnyRecipe] = TypeAdapter(Recipe)


def read_label_encoder(settings: dict[str, object]) -> LabelEncoderRecipe:
    """Build the recipe that trains with intent names, as `read_recipe` does for the others.

    Raises:
        InvalidInput: A setting is unknown or out of its range; all such settings are named.
    """
    found = read_recipe("label-encoder", settings)
    if not isinstance(found, LabelEncoderRecipe):
        raise TypeError(found.kind)
    return found


def read_recipe(kind: str, settings: dict[str, object], task: Task = "single-label") -> AnyRecipe:
    """Build a recipe from its name and loose settings, as a form, a flag or a file gives them.

    What they leave out takes the default of the task.

    Raises:
        InvalidInput: A setting is unknown or out of its range; all such settings are named. Or the
            recipe does not know the task.
    """
    require_task(kind, task)
    try:
        return _READER.validate_python({**task_defaults(kind, task), **settings, "kind": kind})
    except ValidationError as error:
        raise _refusal(kind, error) from error


def _refusal(kind: str, error: ValidationError) -> InvalidInput:
    found = [f"{where(item['loc'])}: {item['msg']}" for item in error.errors()]
    return InvalidInput(
        f"The recipe '{kind}' cannot be used: {'; '.join(found)}.",
        "See `intent-studio train --help` for the settings of each recipe.",
    )


def where(location: tuple[int | str, ...]) -> str:
    """Name the setting that a fault is in."""
    return ".".join(str(part) for part in location) or "recipe"
