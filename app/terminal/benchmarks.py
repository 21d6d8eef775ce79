"""The `bench` commands: each trains or measures on files and prints its figures."""

import argparse
import json
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from app.services.embedding import resolve_device
from app.terminal.measuring.load import measure_load
from app.terminal.measuring.served import BATCH, measure_server, started
from app.terminal.output import plain, print_json, progress_bar, table
from app.terminal.versions import read_settings
from core.benchmarks import few_shot as few_shot_bench
from core.benchmarks import label_encoder as label_encoder_bench
from core.benchmarks import multi_label as multi_label_bench
from core.benchmarks import serving as serving_bench
from core.benchmarks import templates as templates_bench
from core.benchmarks.discover import crowd_figures, discover_figures
from core.benchmarks.explain import explain_figures
from core.benchmarks.few_shot import FewShotTexts, SeedFigures
from core.benchmarks.hidden import Hiding, hidden_figures
from core.benchmarks.inputs import LabelledTexts
from core.benchmarks.label_errors import label_error_figures
from core.benchmarks.multi_label import FoldFigures
from core.benchmarks.out_of_scope import ScopeTexts, out_of_scope_figures
from core.benchmarks.pool import mixed_pool, parted, without_twins
from core.benchmarks.response_selection import response_selection as measure_responses
from core.benchmarks.traffic import Heard, traffic_figures
from core.encoders.loading import load_encoder
from core.errors import InvalidInput
from core.formats.reading import read_rows
from core.formats.rows import ImportedRow, ReadOptions
from core.recipes.conversations import RankingRecipe
from core.recipes.labels import AnyModelRecipe, ModelRecipe
from core.recipes.read import read_recipe
from core.splits import few_shot as few_of_each
from core.templates.slots import SlottedText
from core.text import whole_number
from core.training.events import Event, StepDone
from core.types import Exemplar, Task


@contextmanager
def _progress(title: str) -> Iterator[tuple[Callable[[Event], None], Callable[[str], None]]]:
    """Show a bar; yield one function to move it by events, and one to fill it with words."""
    with progress_bar(title) as bar:

        def watch(event: Event) -> None:
            if isinstance(event, StepDone):
                words = f"{title}, epoch {event.epoch}, loss {event.loss:.2f}"
                bar.move(event.step / event.total, words)

        yield watch, lambda words: bar.move(1.0, f"{title}: {words}")


def _print(options: argparse.Namespace, title: str, figures: Mapping[str, object]) -> None:
    if options.json:
        print_json(dict(figures))
    else:
        rows = [(name, json.dumps(value, default=plain)) for name, value in figures.items()]
        table(title, ("figure", "value"), rows)


def few_shot(options: argparse.Namespace) -> None:
    """Train on one file and evaluate on another, for several seeds."""
    seeds = _numbers(options.seeds, "--seeds 0,1,2")
    device = resolve_device(options.device)
    figures: list[SeedFigures] = []
    for seed in seeds:
        recipe = _model_recipe(options, seed=seed)
        with _progress(f"seed {seed} ({len(figures) + 1} of {len(seeds)})") as (watch, finish):
            figures.append(
                few_shot_bench.few_shot(
                    recipe,
                    options.base,
                    partial(_few_shot_texts, options, seed),
                    watch,
                    device,
                )
            )
            finish(f"{figures[-1].accuracy:.2f} %")
    _print(options, "Few-shot", {"recipe": options.recipe, **few_shot_bench.summarise(figures)})


def _few_shot_texts(options: argparse.Namespace, seed: int) -> FewShotTexts:
    train, test = labelled_texts(options.train), labelled_texts(options.test)
    return FewShotTexts(train, test, _pool_of(options, train, seed))


def _pool_of(options: argparse.Namespace, train: LabelledTexts, seed: int) -> LabelledTexts | None:
    """Read the pool with what is out of scope in it; an unlabelled text has the intent ""."""
    if options.pool is None:
        if options.pool_oos is not None:
            raise InvalidInput("--pool-oos needs a pool.", "Add --pool FILE.")
        return None
    rows = [row for row in read_rows(options.pool) if isinstance(row, ImportedRow)]
    intents = tuple((row.intents or ("",))[0] for row in rows)
    pool = LabelledTexts(tuple(row.text.strip() for row in rows), intents)
    if options.pool_oos is None:
        return pool
    path, share = _file_and_share(options.pool_oos)
    if path is not None:
        return mixed_pool(pool, _texts(path), share, seed)
    inside, outside = parted(pool, set(train.intents))
    if not outside:
        raise InvalidInput(
            f"{options.pool} has no text of other intents than {options.train}.",
            "Name a file with texts out of scope: --pool-oos FILE:0.3, say.",
        )
    return mixed_pool(inside, outside, share, seed)


def _file_and_share(given: str) -> tuple[Path | None, float | None]:
    """Read `FILE`, `FILE:SHARE` or `SHARE`, with a share in (0, 1)."""
    name, colon, share = given.rpartition(":")
    if Path(given).exists():
        return Path(given), None
    try:
        found = float(share)
    except ValueError:
        if not colon:
            return Path(given), None
        found = 0.0
    if not 0.0 < found < 1.0:
        raise InvalidInput(f"'{share}' is no share.", "Write --pool-oos FILE:0.3, say.")
    return Path(name) if name else None, found


def multi_label(options: argparse.Namespace) -> None:
    """Train on some folds of a folder and evaluate on the others, for each choice of folds."""
    folds = [_fold(path) for path in sorted(options.folds.iterdir()) if path.is_file()]
    runs = multi_label_bench.choose_folds(len(folds), options.train_folds)
    recipe = _model_recipe(options, "multi-label")
    encoder = load_encoder(options.base)
    everything = list(range(len(runs)))
    chosen = everything if options.only is None else _numbers(options.only, "--only 0,1")
    if not set(chosen) <= set(everything):
        raise InvalidInput(f"There are runs 0 to {len(runs) - 1} only.", "Write --only 0,1, say.")
    figures: list[FoldFigures] = []
    for number in chosen:
        train, test = ([e for fold in side for e in folds[fold]] for side in runs[number])
        with _progress(f"fold {number}") as (watch, finish):
            fold = multi_label_bench.multi_label(recipe, encoder, (train, test), number, watch)
            finish(f"F1 {fold.f1:.1f}, exact {fold.exact:.1f}")
        figures.append(fold)
    facts = {"recipe": options.recipe, "train_folds": options.train_folds}
    _print(options, "Several intents", {**facts, **multi_label_bench.summarise_folds(figures)})


def response_selection(options: argparse.Namespace) -> None:
    """Train on one log of conversations and evaluate on another."""
    settings = {**read_settings(options.settings), "contexts": options.contexts}
    recipe = read_recipe(str(options.recipe), settings)
    if not isinstance(recipe, RankingRecipe):
        raise TypeError(recipe.kind)
    with _progress("ranking") as (watch, finish):
        files = (options.train, options.test)
        figures, baselines, encoder = measure_responses(recipe, options.base, files, watch)
        finish(f"R100@1 {figures.r100_at_1:.2f} %")
    if options.save:
        encoder.save(options.save)
    facts = {"recipe": options.recipe, **plain(figures), "baselines": baselines}
    _print(options, "Response selection", facts)


def templates(options: argparse.Namespace) -> None:
    """Tune on the slots of one file without labels, and evaluate on another, for several seeds."""
    settings = read_settings(options.settings)
    base = templates_bench.Remembering(load_encoder(options.base))
    sets = (_slotted_set(options.train), _slotted_set(options.test))

    def measure(seed: int) -> dict[str, templates_bench.TemplateFigures]:
        recipe = read_recipe("templates", {**settings, "seed": seed})
        with _progress(f"seed {seed}") as (watch, finish):
            variants = templates_bench.template_bench(
                recipe, base, sets, lambda _, event: watch(event)
            )
            finish(f"{variants['templates'].accuracy:.2f} %")
        return variants

    figures = {seed: measure(seed) for seed in _numbers(options.seeds, "--seeds 0,1,2")}
    summary = templates_bench.summarise(figures)
    if options.json:
        print_json({"recipe": read_recipe("templates", settings).model_dump(), **summary})
        return
    means = summary["mean"]
    rows = [
        (name, *(means[variant][name] for variant in means)) for name in next(iter(means.values()))
    ]
    table("Templates: nearest neighbour without labels in training", ("figure", *means), rows)


def label_encoder(options: argparse.Namespace) -> None:
    """Train each variant on one file and evaluate it on another, for several seeds."""
    settings = read_settings(options.settings)
    seeds = _numbers(options.seeds, "--seeds 0,1,2")
    variants = [part.strip() for part in options.variants.split(",") if part.strip()]
    recipes = [
        read_recipe("label-encoder", {**settings, "variant": variant, "seed": seed})
        for variant in variants
        for seed in seeds
    ]
    train = labelled_texts(options.train)
    if options.per_intent is not None:
        rows = few_of_each(train.intents, options.per_intent).tolist()
        train = LabelledTexts(
            tuple(train.texts[row] for row in rows), tuple(train.intents[row] for row in rows)
        )
    data = label_encoder_bench.names_set(train, labelled_texts(options.test))
    encoder = load_encoder(options.base)
    zero_shot = label_encoder_bench.judge_zero_shot(encoder, data)
    mixtures = label_encoder_bench.judge_mixtures(encoder, data, seeds, options.shots)
    figures = []
    for recipe in recipes:
        with _progress(f"{recipe.variant}, seed {recipe.seed}") as (watch, finish):
            judged = label_encoder_bench.judge_variant(recipe, encoder, data, watch)
            finish(f"{judged.accuracy:.2f} %, borderline {judged.borderline} %")
        figures.append(judged)
    summary = label_encoder_bench.summarise_names(data, zero_shot, mixtures, figures)
    _print(options, "Intent names", {"settings": settings, **summary})


def label_errors(options: argparse.Namespace) -> None:
    """Plant label errors in a file, and count how many the review list finds."""
    if not 0.0 <= options.flip < 1.0:
        raise InvalidInput(f"{options.flip} is no share.", "Write --flip 0.05, say, or 0.")
    train = labelled_texts(options.train)
    encoder = load_encoder(options.base)
    figures = label_error_figures(train, encoder, options.flip, options.seed)
    _print(options, "Label errors", figures)


def out_of_scope(options: argparse.Namespace) -> None:
    """Train on texts in scope, and measure how well the fence rejects others."""
    texts = ScopeTexts(
        labelled_texts(options.train),
        labelled_texts(options.test),
        _texts(options.oos_val),
        _texts(options.oos_test),
        _scope_pool(options),
    )
    recipe = _model_recipe(options, seed=options.seed)
    with _progress("training") as (watch, finish):
        figures = out_of_scope_figures(recipe, load_encoder(options.base), texts, watch)
        finish(f"AUROC {figures['auroc']}")
    _print(options, "Out of scope", figures)


def _scope_pool(options: argparse.Namespace) -> tuple[str, ...]:
    train = labelled_texts(options.train)
    pool = _pool_of(options, train, options.seed) or LabelledTexts((), ())
    outside = _texts(options.oos_val) + _texts(options.oos_test)
    judged = LabelledTexts(outside, ("",) * len(outside))
    return without_twins(pool, labelled_texts(options.test), judged).texts


def explain(options: argparse.Namespace) -> None:
    """Measure the time of explanations, and compare samples with refitted votes."""
    train = labelled_texts(options.train)
    _print(options, "Explanations", explain_figures(train, load_encoder(options.base)))


def discover(options: argparse.Namespace) -> None:
    """Hide a file's labels, and let a simulated designer find them by groups; or group many."""
    if not 0.0 <= options.known < 1.0:
        raise InvalidInput(f"{options.known} is no share.", "Write --known 0.1, say, or 0.")
    if options.decisions < 1:
        raise InvalidInput(f"{options.decisions} decisions label nothing.", "Write 400, say.")
    texts = labelled_texts(options.texts)
    encoder = load_encoder(options.base)
    if options.many is not None:
        figures = crowd_figures(texts.texts, encoder, options.many, options.seed)
    elif options.hide is None:
        figures = discover_figures(texts, encoder, options.known, options.decisions, options.seed)
    else:
        hiding = Hiding(options.hide, options.labels, options.grouped, options.seed)
        recipe = _model_recipe(options, seed=options.seed)
        with _progress("training") as (watch, finish):
            figures = hidden_figures(texts, recipe, encoder, hiding, watch)
            finish(f"{figures['found']} of {options.hide} found")
    _print(options, "Discover", figures)


def traffic(options: argparse.Namespace) -> None:
    """Draw weeks of traffic, and judge intervals, false alarms and rises that are told."""
    recipe = _model_recipe(options, seed=options.seed)
    texts = labelled_texts(options.train), labelled_texts(options.texts)
    outside = () if options.oos is None else _texts(options.oos)
    with _progress("training") as (watch, finish):
        figures = traffic_figures(
            recipe, load_encoder(options.base), Heard(*texts, outside), watch, options.seed
        )
        finish(f"{figures['rises_told']} % of rises told")
    _print(options, "Traffic", figures)


def _model_recipe(
    options: argparse.Namespace, task: Task = "single-label", **settings: object
) -> AnyModelRecipe:
    """Read the recipe of the options; raises InvalidInput if it makes no model or is not valid."""
    recipe = read_recipe(str(options.recipe), {**read_settings(options.settings), **settings}, task)
    if not isinstance(recipe, ModelRecipe):
        raise InvalidInput(
            f"The recipe '{options.recipe}' makes an encoder, which answers no intents.",
            "Name a recipe that makes a model; `intent-studio recipes` lists them.",
        )
    return recipe


def _labelled_rows(path: Path, options: ReadOptions | None = None) -> list[ImportedRow]:
    """Read the rows with an intent; raises InvalidInput if there are none."""
    rows = read_rows(path, options or ReadOptions())
    labelled = [row for row in rows if isinstance(row, ImportedRow) and row.intents]
    if not labelled:
        raise InvalidInput(f"{path} has no labelled row.", "Name a file with intents.")
    return labelled


def labelled_texts(path: Path) -> LabelledTexts:
    """Read a file's labelled rows, each with its first intent."""
    rows = _labelled_rows(path)
    texts = tuple(row.text.strip() for row in rows)
    return LabelledTexts(texts, tuple(row.intents[0] for row in rows if row.intents))


def _slotted_set(path: Path) -> templates_bench.SlottedSet:
    """Read a file's labelled rows with their slots; several intents form one label."""
    rows = _labelled_rows(path, ReadOptions(slots=True))
    utterances = tuple(SlottedText(row.text, row.slots) for row in rows)
    labels = tuple("|".join(sorted(row.intents or ())) for row in rows)
    return templates_bench.SlottedSet(utterances, labels)


def _fold(path: Path) -> list[Exemplar]:
    """Read a fold with the rows labelled with no intent, but without unlabelled rows."""
    return [
        Exemplar(f"{path.stem}-{row.line}", row.text.strip(), row.intents)
        for row in read_rows(path, ReadOptions(separator="|"))
        if isinstance(row, ImportedRow) and row.intents is not None
    ]


def _texts(path: Path) -> tuple[str, ...]:
    texts = tuple(row.text.strip() for row in read_rows(path) if isinstance(row, ImportedRow))
    if not texts:
        raise InvalidInput(f"{path} has no text.", "Name a file with texts out of scope.")
    return texts


def _numbers(listed: str, example: str) -> list[int]:
    """Read numbers between commas; an InvalidInput shows `example` for the option."""
    numbers = [whole_number(part.strip()) for part in listed.split(",")]
    found = [number for number in numbers if number is not None]
    if len(found) < len(numbers):
        raise InvalidInput(f"'{listed[:80]}' is no list of numbers.", f"Write {example}, say.")
    return found


def serving(options: argparse.Namespace) -> None:
    """Serve a bundle's graph, time it as a client, and compare it with the torch path."""
    labelled = labelled_texts(options.test)
    with tempfile.TemporaryDirectory(prefix="serving-") as scratch:
        graph = Path(scratch) / "graph.zip"
        pipeline = serving_bench.graph_of_bundle(options.file, graph, options.precision)
        found = measure_server(graph, labelled.texts)
        megabytes = graph.stat().st_size / 1e6
        if options.load:
            with started(graph) as (port, _):
                load = measure_load(port, labelled.texts, options.load)
    by_torch = serving_bench.texts_per_second(pipeline, labelled.texts, BATCH)
    said = [one.intent for one in pipeline.predict(labelled.texts)]
    before, now = (
        serving_bench.accuracy_of(intents, labelled.intents) for intents in (said, found.intents)
    )
    figures = {
        "precision": options.precision,
        "p50_ms": found.p50_ms,
        "p99_ms": found.p99_ms,
        "texts_per_second": found.texts_per_second,
        "torch_texts_per_second": round(by_torch, 1),
        "ratio_to_torch": round(found.texts_per_second / by_torch, 2),
        "accuracy": round(now, 2),
        "accuracy_loss": round(before - now, 2),
        "ready_seconds": found.ready_seconds,
        "peak_mb": found.peak_mb,
        "file_mb": round(megabytes, 1),
        **({"load": plain(load)} if options.load else {}),
    }
    _print(options, "Serving", figures)
