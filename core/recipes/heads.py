"""Settings of the heads, which turn embeddings into scores."""

from typing import Annotated, Literal

from pydantic import Field

from core.recipes.base import MOST, Frozen, Seed, WeightDecay


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
        default=16_000,
        ge=10,
        le=MOST,
        description="Above this many, a chosen subset carries the votes.",
    )


class NeighboursConfig(Frozen):
    """The k nearest exemplars vote with their cosine similarity (ConvFiT uses k = 1)."""

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
    dropout: float = Field(
        default=0.4, ge=0, lt=1, description="Share of the hidden units that is dropped."
    )
    smoothing: float = Field(
        default=0.95,
        gt=0.5,
        le=1,
        description="Target of a right intent; the rest is spread over the others.",
    )
    epochs: int = Field(default=600, ge=1, le=5_000, description="Passes over the labels.")
    batch_size: int = Field(default=32, ge=1, le=4_096, description="Utterances in a batch.")
    learning_rate: float = Field(default=3e-3, gt=0, le=1, description="Peak learning rate.")
    weight_decay: WeightDecay = 0.02
    seed: Seed = 0


class NamesConfig(Frozen):
    """The nearest intent name wins; needs no label."""

    kind: Literal["names"] = "names"
    similarity: Literal["cosine", "dot"] = Field(
        default="cosine",
        description="Whether names are compared by direction alone, or by length too.",
    )


HeadConfig = Annotated[
    VotesConfig | NeighboursConfig | PrototypesConfig | LinearConfig | MlpConfig | NamesConfig,
    Field(discriminator="kind"),
]
