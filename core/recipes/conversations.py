"""Settings of what learns from conversations: forms, flags and stored JSON use this."""

from typing import Annotated, Literal

from pydantic import Field, TypeAdapter, ValidationError

from core.errors import InvalidInput
from core.recipes.labels import Frozen, where


class _RankingRecipe(Frozen):
    seed: int = Field(default=0, ge=0, lt=2**31, description="Same seed, same order of pairs.")
    minutes: float | None = Field(
        default=15.0,
        gt=0,
        description="Longest time of training; empty: as long as the passes take. Only a run "
        "that ends before is repeated bit for bit.",
    )
    contexts: int = Field(
        default=0, ge=0, le=10, description="How many turns before the last one are read, too."
    )
    shuffled: int = Field(
        default=50_000, ge=1, description="Pairs held in memory to draw batches from."
    )
    chunk: int = Field(
        default=256,
        ge=1,
        description="Texts computed at a time; larger batches cost time, not memory.",
    )
    warmup: float = Field(default=0.1, ge=0, le=1, description="Share of the run that warms up.")
    mixed_precision: bool = Field(default=True, description="Compute in 16 bits on a GPU.")


class DialoguesRecipe(_RankingRecipe):
    """Tune any encoder to rank the next turn of a conversation first (ConvFiT, Stage 1)."""

    kind: Literal["dialogues"] = "dialogues"
    epochs: int = Field(default=1, ge=1, le=100, description="Passes over the conversations.")
    batch_size: int = Field(
        default=128, ge=2, le=65_536, description="Pairs of which each is the others' negative."
    )
    denominator: Literal["all", "others"] = Field(
        default="all",
        description="Responses that a context is ranked against: all, or without its own as in "
        "ConvFiT's equation 1.",
    )
    reply_layer: bool = Field(
        default=True,
        description="Give responses a linear layer of their own behind the encoder; it ranks "
        "replies, and intents do without it.",
    )
    scale: float = Field(default=20.0, gt=0, le=1000, description="Factor of the cosine (D).")
    learning_rate: float = Field(default=3e-4, gt=0, le=1e-1, description="Peak learning rate.")
    weight_decay: float = Field(default=0.01, ge=0, le=1, description="Weight decay of AdamW.")
    frozen_layers: int = Field(
        default=3, ge=0, le=48, description="Lower layers kept as they are; 0 tunes all of them."
    )
    interpolation: float = Field(
        default=1.0, gt=0, le=1, description="How far to go from the base to the tuned weights."
    )
    max_tokens: int = Field(default=48, ge=8, le=512, description="Longer turns are cut.")


class ConvertRecipe(_RankingRecipe):
    """Train a small encoder from conversations alone (ConveRT)."""

    kind: Literal["convert"] = "convert"
    size: Literal["small", "paper"] = Field(
        default="small", description="`small` for two cores; `paper` as published."
    )
    epochs: int = Field(default=20, ge=1, le=1000, description="Passes over the conversations.")
    batch_size: int = Field(
        default=256, ge=2, le=65_536, description="Pairs of which each is the others' negative."
    )
    chunk: int = Field(
        default=1_024,
        ge=1,
        description="Texts computed at a time; larger batches cost time, not memory.",
    )
    vocabulary: int = Field(
        default=8_000, ge=100, le=200_000, description="Subwords at most (31,476 in the paper)."
    )
    min_frequency: int = Field(
        default=5, ge=1, description="How often a subword occurs at least (250 in the paper)."
    )
    optimizer: Literal["adamw", "adadelta"] = Field(
        default="adamw", description="`adadelta` at learning rate 1 is the paper's."
    )
    learning_rate: float = Field(default=1e-3, gt=0, le=10, description="Peak learning rate.")
    weight_decay: float = Field(default=1e-5, ge=0, le=1, description="Decay of the weights.")
    smoothing: float = Field(
        default=0.2, ge=0, lt=1, description="Probability spread over wrong responses."
    )
    annealing: int = Field(
        default=60,
        ge=0,
        description="Steps in which the cosine's scale rises from 1 to the root of the width "
        "(10,000 in the paper).",
    )
    dropout: float = Field(default=0.0, ge=0, lt=1, description="Dropout inside the network.")
    history_every: int = Field(
        default=2,
        ge=1,
        le=100,
        description="Earlier turns are read for every so manieth pair of a batch, another one in "
        "each step; reading them costs most of it.",
    )
    history_from: float = Field(
        default=0.5,
        ge=0,
        le=1,
        description="Share of the run after which earlier turns are read; their side begins as "
        "that of contexts is by then.",
    )
    quantised: bool = Field(
        default=True, description="Embeddings in 8 and the rest in 16 bits, already in training."
    )
    embedding: Literal["r", "h"] = Field(
        default="r", description="What stands for a sentence: before or after feed-forward 2."
    )


RANKING_KINDS = ("dialogues", "convert")
"""The recipes that learn from conversations and make an encoder, not a model that answers."""

_RANKING: TypeAdapter[DialoguesRecipe | ConvertRecipe] = TypeAdapter(
    Annotated[DialoguesRecipe | ConvertRecipe, Field(discriminator="kind")]
)


def read_ranking_recipe(kind: str, settings: dict[str, object]) -> DialoguesRecipe | ConvertRecipe:
    """Build a recipe that learns from conversations, as `read_recipe` does for labels.

    Raises:
        InvalidInput: A setting is unknown or out of its range; all such settings are named.
    """
    try:
        return _RANKING.validate_python({**settings, "kind": kind})
    except ValidationError as error:
        found = [f"{where(item['loc'])}: {item['msg']}" for item in error.errors()]
        raise InvalidInput(
            f"The recipe '{kind}' cannot be used: {'; '.join(found)}.",
            "Recipes for conversations are `dialogues` and `convert`.",
        ) from error
