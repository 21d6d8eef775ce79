"""Commands that measure explanations, the review list and the fence."""

import argparse
import json
from collections.abc import Mapping
from pathlib import Path

from app.terminal.labelled import labelled_texts
from app.terminal.output import print_json, progress_bar, table
from app.terminal.versions import read_settings
from core.errors import InvalidInput
from core.formats.reading import read_rows
from core.formats.rows import ImportedRow
from core.recipes.read import read_recipe


def label_errors(options: argparse.Namespace) -> None:
    """Plant label errors in a file's labels, and see how many the review list finds."""
    from core.benchmarks.label_errors import label_error_figures
    from core.encoders.loading import load_encoder

    if not 0.0 < options.flip < 1.0:
        raise InvalidInput(f"{options.flip} is no share.", "Write --flip 0.05, say.")
    train = labelled_texts(options.train)
    _show(
        options,
        "Label errors",
        label_error_figures(train, load_encoder(options.base), options.flip, options.seed),
    )


def out_of_scope(options: argparse.Namespace) -> None:
    """Train on texts in scope, and see how well the fence keeps the others out."""
    from core.benchmarks.out_of_scope import ScopeTexts, out_of_scope_figures
    from core.encoders.loading import load_encoder
    from core.training.events import StepDone

    texts = ScopeTexts(
        labelled_texts(options.train),
        labelled_texts(options.test),
        _texts(options.oos_val),
        _texts(options.oos_test),
    )
    settings = {**read_settings(options.settings), "seed": options.seed}
    recipe = read_recipe(options.recipe, settings)
    with progress_bar("training") as bar:

        def watch(event: object) -> None:
            if isinstance(event, StepDone):
                bar.move(event.step / event.total, f"epoch {event.epoch}")

        found = out_of_scope_figures(recipe, load_encoder(options.base), texts, watch)
        bar.move(1.0, f"AUROC {found['auroc']}")
    _show(options, "Out of scope", found)


def explain(options: argparse.Namespace) -> None:
    """Measure what explanations cost, and check samples of them against fitting again."""
    from core.benchmarks.explain import explain_figures
    from core.encoders.loading import load_encoder

    train = labelled_texts(options.train)
    _show(options, "Explanations", explain_figures(train, load_encoder(options.base)))


def _texts(path: Path) -> tuple[str, ...]:
    """Read a file's texts, whatever they are labelled as."""
    texts = tuple(row.text.strip() for row in read_rows(path) if isinstance(row, ImportedRow))
    if not texts:
        raise InvalidInput(f"{path} has no text.", "Name a file with texts out of scope.")
    return texts


def _show(options: argparse.Namespace, title: str, found: Mapping[str, object]) -> None:
    if options.json:
        print_json(dict(found))
        return
    table(title, ("figure", "value"), [(k, json.dumps(v)) for k, v in found.items()])
