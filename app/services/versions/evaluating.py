"""Evaluate a model on labelled texts of a file or a request; tell its figures of the training."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.services.answering.judging import UnlearnedTests, every_test, judge_tests, tests_for
from app.services.answering.stored import checked_out, load_model
from app.services.data.file_labels import LabelReader
from app.services.studio import Studio
from core.bundle.facts import read_facts
from core.errors import InvalidInput
from core.formats.reading import read_rows
from core.formats.rows import SEPARATOR, ImportedRow, ReadOptions
from core.metrics.coverage import as_counted_now, listed_names, untested_names
from core.pipeline import Answerer, IntentPipeline
from core.text import counted
from core.types import Exemplar


@dataclass(frozen=True, slots=True)
class Evaluated:
    """Figures of a model as JSON values, and its intents of which no text tells how they work."""

    figures: dict[str, Any]
    untested: tuple[str, ...]


def evaluate_file(studio: Studio, reference: str, path: Path) -> Evaluated:
    """Evaluate a model on the labelled texts of a file.

    Texts that the model has learned are left out; if all are, `judged_on` says so.
    For a multi-label model, a cell holds several intents, as in an export.

    Raises:
        InvalidInput: The file cannot be read, or has no label.
        NotFound: There is no such model.
    """
    pipeline = load_model(studio, reference)
    figures = evaluate_texts(pipeline, read_labelled(path, pipeline), "of the file")
    return Evaluated(figures, tuple(untested_names(figures, pipeline.head.intents)))


def training_figures(studio: Studio, reference: str) -> Evaluated:
    """Return the measures of a model version or a bundle from its training."""
    with checked_out(studio, reference) as (folder, _):
        facts = read_facts(folder)
    figures = as_counted_now(facts, facts.get("metrics", {}))
    return Evaluated(figures, tuple(untested_names(figures, listed_names(facts))))


def read_labelled(path: Path, model: Answerer) -> list[Exemplar]:
    """Read the labelled texts of a file; their ids are its lines.

    Names such as `oos` mean what an import takes them for, unless the model has such an intent.

    Raises:
        InvalidInput: The file cannot be read, or has no label.
    """
    separator = SEPARATOR if model.task == "multi-label" else None
    reader = LabelReader({}, frozenset(model.intents))
    exemplars = [
        Exemplar(str(row.line), row.text, intents)
        for row in read_rows(path, ReadOptions(separator=separator))
        if isinstance(row, ImportedRow) and (intents := reader.read(row)) is not None
    ]
    if not exemplars:
        raise InvalidInput("The file has no labelled row to judge by.", "Add an intent column.")
    return exemplars


def evaluate_texts(
    pipeline: IntentPipeline, labelled: Sequence[Exemplar], origin: str
) -> dict[str, Any]:
    """Evaluate a pipeline on labelled texts, without those that it has learned.

    Texts that fit no intent are right if they are refused, and have figures of their own.
    `origin` says in `judged_on` where the texts are from. If all are learned, `judged_on` says so.
    """
    tests = tests_for(pipeline, labelled)
    if tests.texts or tests.outside:
        words = _judged_on(tests, origin)
    else:
        words = f"{counted(len(labelled), 'text')} that the model has learned, which cannot test it"
        tests = every_test(pipeline, labelled)
    return {
        "n": 0,
        **judge_tests(pipeline, tests),
        "judged_on": words + tests.words(),
        "left_out": tests.left_out,
    }


def _judged_on(tests: UnlearnedTests, origin: str) -> str:
    n, outside = len(tests.texts), len(tests.outside)
    if not n:
        return f"{counted(outside, 'text')} {origin} that {_fit(outside)} no intent"
    more = f" and {outside:,} that {_fit(outside)} no intent" if outside else ""
    return f"{counted(n, 'text')} {origin}{more}"


def _fit(n: int) -> str:
    return "fits" if n == 1 else "fit"
