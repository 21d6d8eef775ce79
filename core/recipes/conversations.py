"""Recipes that learn from conversations and make an encoder."""

from typing import ClassVar, Literal

from pydantic import Field

from core.recipes.base import (
    MOST,
    LearningRate,
    Makes,
    Recipe,
    Source,
    Tuned,
    Warmup,
    WeightDecay,
)


class RankingRecipe(Recipe):
    """Trains an encoder to rank the next turn of a conversation first."""

    makes: ClassVar[Makes] = "encoder"
    learns_from: ClassVar[Source] = "conversations"
    pair_seconds: ClassVar[float]
    """Training seconds for one turn and its reply, for one epoch on two cores."""

    minutes: float | None = Field(
        default=15.0,
        gt=0,
        title="Minutes at most",
        description="Empty: as long as the rounds take. Only a run that ends before is repeated "
        "bit for bit.",
    )
    contexts: int = Field(
        default=0,
        ge=0,
        le=10,
        title="Earlier messages to read",
        description="How many messages before the last one are read, too.",
    )
    shuffled: int = Field(
        default=50_000, ge=1, le=MOST, description="Pairs held in memory to draw batches from."
    )
    chunk: int = Field(
        default=256,
        ge=1,
        le=MOST,
        description="Texts computed at a time; larger batches cost time, not memory.",
    )
    mixed_precision: bool = Field(default=True, description="Compute in 16 bits on a GPU.")


class DialoguesRecipe(RankingRecipe, Tuned):
    """Tune any encoder to rank the next turn of a conversation first (ConvFiT, Stage 1)."""

    title: ClassVar[str] = "Dialogues"
    plain_title: ClassVar[str] = "Conversations"
    summary: ClassVar[str] = (
        "Prepares a start for other trainings: learns from your conversations what follows what. "
        "Needs no labels, and answers nothing by itself."
    )
    work: ClassVar[str] = "Learns what follows each of {what}"
    pair_seconds: ClassVar[float] = 0.016

    kind: Literal["dialogues"] = "dialogues"
    epochs: int = Field(
        default=1,
        ge=1,
        le=100,
        title="Rounds over your conversations",
        description="How often a training goes through them (epochs).",
    )
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
    learning_rate: LearningRate = 3e-4


class ConvertRecipe(RankingRecipe):
    """Train a small encoder from conversations alone (ConveRT)."""

    title: ClassVar[str] = "ConveRT"
    plain_title: ClassVar[str] = "Conversations alone"
    summary: ClassVar[str] = (
        "Prepares a small, quick start from your conversations alone, also to rank replies with. "
        "Needs no labels, and answers nothing by itself."
    )
    work: ClassVar[str] = "Learns from nothing else what follows each of {what}"
    needs_base: ClassVar[bool] = False
    pair_seconds: ClassVar[float] = 0.0025

    kind: Literal["convert"] = "convert"
    size: Literal["small", "paper"] = Field(
        default="small",
        description="Small suits a laptop; paper is the size as published, and takes far longer.",
    )
    epochs: int = Field(
        default=20,
        ge=1,
        le=1000,
        title="Rounds over your conversations",
        description="How often a training goes through them (epochs).",
    )
    batch_size: int = Field(
        default=256, ge=2, le=65_536, description="Pairs of which each is the others' negative."
    )
    chunk: int = Field(
        default=1_024,
        ge=1,
        le=MOST,
        description="Texts computed at a time; larger batches cost time, not memory.",
    )
    vocabulary: int = Field(
        default=8_000, ge=100, le=200_000, description="Subwords at most (31,476 in the paper)."
    )
    min_frequency: int = Field(
        default=5,
        ge=1,
        le=MOST,
        description="How often a subword occurs at least (250 in the paper).",
    )
    optimizer: Literal["adamw", "adadelta"] = Field(
        default="adamw", description="The paper uses Adadelta at learning rate 1."
    )
    learning_rate: float = Field(default=1e-3, gt=0, le=10, description="Peak learning rate.")
    warmup: Warmup = 0.1
    weight_decay: WeightDecay = 1e-5
    smoothing: float = Field(
        default=0.2, ge=0, lt=1, description="Probability spread over wrong responses."
    )
    annealing: int = Field(
        default=60,
        ge=0,
        le=MOST,
        description="Steps in which the cosine's scale rises from 1 to the root of the width "
        "(10,000 in the paper).",
    )
    dropout: float = Field(default=0.0, ge=0, lt=1, description="Dropout inside the network.")
    history_every: int = Field(
        default=2,
        ge=1,
        le=100,
        description="Read the earlier turns of every n-th pair only, shifted by one each step; "
        "reading them is most of a step's cost.",
    )
    history_from: float = Field(
        default=0.5,
        ge=0,
        le=1,
        description="Share of the run after which earlier turns are read. Their layers start as "
        "a copy of the context layers.",
    )
    quantised: bool = Field(
        default=True, description="Train with embeddings in 8 bits and the rest in 16."
    )
    embedding: Literal["r", "h"] = Field(
        default="r", description="What stands for a sentence: before or after feed-forward 2."
    )
