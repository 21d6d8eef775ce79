"""The command that measures what intent names are worth."""

import argparse
import json
from typing import TYPE_CHECKING

from app.terminal.labelled import labelled_texts, numbers
from app.terminal.output import print_json, progress_bar, table
from app.terminal.versions import read_settings
from core.recipes.labels import LabelEncoderRecipe
from core.recipes.read import read_recipe

if TYPE_CHECKING:
    from core.benchmarks.few_shot import LabelledTexts
    from core.benchmarks.label_encoder import NamesSet, VariantFigures
    from core.encoders.base import Encoder


def label_encoder(options: argparse.Namespace) -> None:
    """Train each variant on one file and judge it on another, for several seeds."""
    from core.benchmarks.label_encoder import (
        judge_mixtures,
        judge_zero_shot,
        names_set,
        summarise_names,
    )
    from core.encoders.loading import load_encoder

    settings = read_settings(options.settings)
    seeds = numbers(options.seeds, "--seeds 0,1,2")
    recipes = [
        read_recipe("label-encoder", {**settings, "variant": variant, "seed": seed})
        for variant in _parts(options.variants)
        for seed in seeds
    ]
    train = _few_of_each(labelled_texts(options.train), options.per_intent)
    data = names_set(train, labelled_texts(options.test))
    encoder = load_encoder(options.base)
    zero_shot = judge_zero_shot(encoder, data)
    mixtures = judge_mixtures(encoder, data, seeds, options.shots)
    variants = [_judged(recipe, encoder, data) for recipe in recipes]
    found = {"settings": settings, **summarise_names(data, zero_shot, mixtures, variants)}
    if options.json:
        print_json(found)
        return
    table("Intent names", ("figure", "value"), [(k, json.dumps(v)) for k, v in found.items()])


def _judged(recipe: LabelEncoderRecipe, encoder: "Encoder", data: "NamesSet") -> "VariantFigures":
    from core.benchmarks.label_encoder import judge_variant
    from core.training.events import StepDone

    words = f"{recipe.variant}, seed {recipe.seed}"
    with progress_bar(words) as bar:

        def watch(event: object) -> None:
            if isinstance(event, StepDone):
                bar.move(event.step / event.total, f"{words}, loss {event.loss:.2f}")

        found = judge_variant(recipe, encoder, data, watch)
        bar.move(1.0, f"{words}: {found.accuracy:.2f} %, borderline {found.borderline} %")
    return found


def _few_of_each(given: "LabelledTexts", per_intent: int | None) -> "LabelledTexts":
    """Return all rows, or so many of each intent."""
    from core.benchmarks.few_shot import LabelledTexts
    from core.splits import few_shot

    if per_intent is None:
        return given
    rows = few_shot(given.intents, per_intent).tolist()
    return LabelledTexts(
        tuple(given.texts[row] for row in rows), tuple(given.intents[row] for row in rows)
    )


def _parts(listed: str) -> list[str]:
    return [part.strip() for part in listed.split(",") if part.strip()]
