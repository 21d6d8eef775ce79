"""Commands that measure."""

import argparse
import json
from pathlib import Path

from app.terminal.labelled import labelled_texts, numbers
from app.terminal.output import plain, print_json, progress_bar, table
from app.terminal.versions import read_settings
from core.errors import InvalidInput
from core.formats.reading import read_rows
from core.formats.rows import ImportedRow, ReadOptions
from core.recipes.read import read_recipe
from core.templates.slots import SlottedText
from core.types import Exemplar


def few_shot(options: argparse.Namespace) -> None:
    """Train on one file and judge on another, for several seeds."""
    from core.benchmarks.few_shot import SeedFigures, few_shot, summarise
    from core.training.events import StepDone

    figures: list[SeedFigures] = []
    seeds = numbers(options.seeds, "--seeds 0,1,2")
    settings = read_settings(options.settings)
    for place, seed in enumerate(seeds):
        recipe = read_recipe(options.recipe, {**settings, "seed": seed})
        with progress_bar(f"seed {seed}") as bar:

            def watch(event: object, seed: int = seed, place: int = place) -> None:
                if isinstance(event, StepDone):
                    words = f"seed {seed} ({place + 1} of {len(seeds)}), epoch {event.epoch}"
                    bar.move(event.step / event.total, words)

            both = (options.train, options.test)
            figures.append(
                few_shot(
                    recipe,
                    options.base,
                    lambda both=both: (labelled_texts(both[0]), labelled_texts(both[1])),
                    watch,
                )
            )
            bar.move(1.0, f"seed {seed}: {figures[-1].accuracy:.2f} %")
    found = summarise(figures)
    if options.json:
        print_json({"recipe": options.recipe, **found})
        return
    table("Few-shot", ("figure", "value"), [(k, json.dumps(v)) for k, v in found.items()])


def response_selection(options: argparse.Namespace) -> None:
    """Train on one log of conversations and judge on another."""
    from core.benchmarks.response_selection import response_selection
    from core.training.events import StepDone

    settings = {**read_settings(options.settings), "contexts": options.contexts}
    recipe = read_recipe(options.recipe, settings)
    with progress_bar("reading") as bar:

        def watch(event: object) -> None:
            if isinstance(event, StepDone):
                words = f"step {event.step} of {event.total}, loss {event.loss:.3f}"
                bar.move(event.step / event.total, words)

        files = (options.train, options.test)
        figures, baselines, encoder = response_selection(recipe, options.base, files, watch)
        bar.move(1.0, f"R100@1 {figures.r100_at_1:.2f} %")
    if options.save:
        encoder.save(options.save)
    found = {"recipe": options.recipe, **plain(figures), "baselines": baselines}
    if options.json:
        print_json(found)
        return
    rows = [(key, json.dumps(value)) for key, value in found.items()]
    table("Response selection", ("figure", "value"), rows)


def templates(options: argparse.Namespace) -> None:
    """Tune by the slots of one file without its labels, and judge on another, for seeds."""
    from core.benchmarks.templates import (
        Remembering,
        SlottedSet,
        TemplateFigures,
        summarise,
        template_bench,
    )
    from core.encoders.loading import load_encoder
    from core.training.events import StepDone

    def read(path: Path) -> SlottedSet:
        rows = [
            row
            for row in read_rows(path, ReadOptions(slots=True))
            if isinstance(row, ImportedRow) and row.intents
        ]
        if not rows:
            raise InvalidInput(f"{path} has no labelled row.", "Name a file with intents.")
        utterances = tuple(SlottedText(row.text, row.slots) for row in rows)
        return SlottedSet(utterances, tuple("|".join(sorted(row.intents or ())) for row in rows))

    settings, base = read_settings(options.settings), Remembering(load_encoder(options.base))
    sets = (read(options.train), read(options.test))
    found: dict[int, dict[str, TemplateFigures]] = {}
    for seed in numbers(options.seeds, "--seeds 0,1,2"):
        recipe = read_recipe("templates", {**settings, "seed": seed})
        with progress_bar(f"seed {seed}") as bar:

            def watch(variant: str, event: object, seed: int = seed) -> None:
                if isinstance(event, StepDone):
                    bar.move(event.step / event.total, f"seed {seed}, {variant}")

            found[seed] = template_bench(recipe, base, sets, watch)
            reached = found[seed]["templates"].accuracy
            bar.move(1.0, f"seed {seed}: {reached:.2f} %")
    if options.json:
        print_json({"recipe": read_recipe("templates", settings).model_dump(), **summarise(found)})
        return
    _template_table(summarise(found)["mean"])


def _template_table(means: dict[str, dict[str, float]]) -> None:
    head = ("figure", *means)
    figures = next(iter(means.values()))
    rows = [(name, *(means[variant][name] for variant in means)) for name in figures]
    table("Templates: nearest neighbour without labels in training", head, rows)


def multi_label(options: argparse.Namespace) -> None:
    """Train on some folds of a folder and judge on the others, for each choice of them."""
    from core.benchmarks.few_shot import FoldFigures, choose_folds, multi_label, summarise_folds
    from core.encoders.loading import load_encoder
    from core.training.events import StepDone

    folds = [_labelled(path) for path in sorted(options.folds.iterdir()) if path.is_file()]
    runs = choose_folds(len(folds), options.train_folds)
    recipe = read_recipe(options.recipe, read_settings(options.settings), "multi-label")
    encoder = load_encoder(options.base)
    chosen = list(range(len(runs))) if options.only is None else numbers(options.only, "--only 0,1")
    if not set(chosen) <= set(range(len(runs))):
        raise InvalidInput(f"There are runs 0 to {len(runs) - 1} only.", "Write --only 0,1, say.")
    figures: list[FoldFigures] = []
    for number in chosen:
        train, test = ([e for fold in side for e in folds[fold]] for side in runs[number])
        with progress_bar(f"fold {number}") as bar:

            def watch(event: object, number: int = number) -> None:
                if isinstance(event, StepDone):
                    bar.move(event.step / event.total, f"fold {number}, epoch {event.epoch}")

            figures.append(multi_label(recipe, encoder, (train, test), number, watch))
            found = figures[-1]
            bar.move(1.0, f"fold {number}: F1 {found.f1:.1f}, exact {found.exact:.1f}")
    summary = {"recipe": options.recipe, "train_folds": options.train_folds}
    summary |= summarise_folds(figures)
    if options.json:
        print_json(summary)
        return
    table("Several intents", ("figure", "value"), [(k, json.dumps(v)) for k, v in summary.items()])


def _labelled(path: Path) -> list[Exemplar]:
    """Read a fold; a row that says that no intent fits counts, one without a label does not."""
    options = ReadOptions(separator="|")
    return [
        Exemplar(f"{path.stem}-{row.line}", row.text.strip(), row.intents)
        for row in read_rows(path, options)
        if isinstance(row, ImportedRow) and row.intents is not None
    ]
