"""Whole runs that learn from conversations: a recipe and pairs in, events and an encoder out."""

from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import assert_never

from core.encoders.base import Encoder
from core.encoders.convert.encoder import new_encoder
from core.encoders.convert.network import new_network
from core.encoders.convert.sizes import named_sizes
from core.encoders.convert.subwords import Subwords
from core.encoders.convert.vocabulary import learn_pieces
from core.encoders.opening import open_tuning
from core.recipes.conversations import ConvertRecipe, DialoguesRecipe
from core.responses import Ranker
from core.training.checkpoints import Checkpoint
from core.training.devices import (
    ComputeOptions,
    device_of_process,
    tuning_options,
    with_precision,
)
from core.training.events import Event, StageStarted
from core.training.from_conversations.batches import PairSource
from core.training.from_conversations.loop import STAGE, RankOptions, rank
from core.training.from_conversations.towers import (
    ConvertTowers,
    EncoderTowers,
    read_pieces,
    texts_of,
)


@dataclass(frozen=True, slots=True)
class RankingInputs(ComputeOptions):
    """A restartable stream of pairs, as of `stream_pairs`, and the base; None for `convert`."""

    pairs: PairSource
    encoder: Encoder | None = None


def run_ranking(
    recipe: DialoguesRecipe | ConvertRecipe,
    inputs: RankingInputs,
    resume: Checkpoint | None = None,
) -> Generator[Event, None, Ranker]:
    """Train by a recipe; yields events and returns the ranker.

    Raises:
        InvalidInput: The conversations hold fewer than two pairs, or the base cannot be tuned.
        ValueError: `dialogues` has no base.
    """
    options = RankOptions(resume, inputs.checkpoint_every)
    match recipe:
        case DialoguesRecipe():
            return (yield from _run_dialogues(recipe, inputs, options))
        case ConvertRecipe():
            return (yield from _run_convert(recipe, inputs, options))
        case _:
            assert_never(recipe)


def _run_dialogues(
    recipe: DialoguesRecipe, inputs: RankingInputs, options: RankOptions
) -> Generator[Event, None, Ranker]:
    if inputs.encoder is None:
        message = "the recipe 'dialogues' needs a base encoder"
        raise ValueError(message)
    yield StageStarted("ranking")
    recipe = with_precision(recipe, inputs.device, options.resume)
    tuning = open_tuning(
        inputs.encoder,
        ["a"],  # the texts of each batch are opened alongside
        tuning_options(recipe, inputs.device),
    )
    towers = EncoderTowers(tuning, recipe, inputs.encoder.dim)
    yield from rank(towers, inputs.pairs, recipe, options)
    reply = towers.reply.detach().cpu().numpy() if recipe.reply_layer else None
    return Ranker(tuning.finish(recipe.interpolation), reply)


def _run_convert(
    recipe: ConvertRecipe, inputs: RankingInputs, options: RankOptions
) -> Generator[Event, None, Ranker]:
    yield StageStarted("reading")
    pieces = _pieces(recipe, inputs, options.resume)
    sizes = named_sizes(recipe.size, len(pieces), history=recipe.contexts > 0)
    sizes = replace(sizes, dropout=recipe.dropout)
    subwords = Subwords(pieces, sizes.buckets)
    network = new_network(sizes, recipe.seed, quantised=recipe.quantised)
    network.to(device_of_process(inputs.device))
    yield StageStarted("ranking")
    towers = ConvertTowers(network, subwords, recipe)
    yield from rank(towers, inputs.pairs, recipe, options)
    return Ranker(
        new_encoder(network, subwords, embedding=recipe.embedding, quantised=recipe.quantised)
    )


def _pieces(
    recipe: ConvertRecipe, inputs: RankingInputs, resume: Checkpoint | None
) -> tuple[str, ...]:
    if resume is not None and resume.stage == STAGE:
        return read_pieces(resume.tensors["towers.vocabulary"])
    return learn_pieces(texts_of(inputs.pairs()), recipe.vocabulary, recipe.min_frequency)
