"""Commands about training and predicting."""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from app.services.answering.file_answers import FileReport, FileRequest, answer_file
from app.services.answering.file_models import (
    FileModel,
    model_of_graph,
    model_of_pipeline,
    open_graph,
    unreplaced,
)
from app.services.answering.prediction_view import prediction_view
from app.services.checking.junit import junit_xml
from app.services.checking.summary import summary_markdown
from app.services.checking.views import CheckReport
from app.services.checking.wanted import read_wanted
from app.services.explaining.words import name_words
from app.services.live.asked import open_asked
from app.services.studio import Studio
from app.services.training import runs
from app.services.training.jobs import cancel_job
from app.terminal.arguments.given_file import given_file
from app.terminal.output import opened, plain, print_json, progress_bar, report, say, table, tell
from core.errors import InvalidInput, RunFailed
from core.files import is_file, require_place, write_together
from core.formats.reading import read_rows
from core.formats.rows import ImportedRow
from core.metrics.in_words import figure_words, measured_on, untested_of
from core.text import counted, percent, require_answerable, some_of, whole_number
from core.types import EncodingPrecision, Prediction, Task
from storage.records import JobRecord

_NOT_PASSED = 3
"""Exit code of a check that a model does not pass."""
_CALLED = {
    "exact": "exact match",
    "none_recall": "no intent found",
    "outside_n": "test texts out of scope",
    "kept_out": "of these refused",
}
_COUNTED = ("intents", "tested_intents", "judged_on")
"""Figures that are told in sentences."""
_SHOWN = 8
"""Confusions, and untested intents, that are listed."""


def read_settings(pairs: list[str]) -> dict[str, object]:
    """Read `key=value` pairs, each value as JSON or else text; raises InvalidInput without `=`."""
    settings: dict[str, object] = {}
    for pair in pairs:
        key, sign, value = pair.partition("=")
        if not sign or not key:
            raise InvalidInput(f"'{pair}' is no setting.", "Write --set epochs=5, say.")
        try:
            settings[key] = json.loads(value)
        except (ValueError, RecursionError):  # text, or brackets too deep to be read
            settings[key] = value
    return settings


def train(options: argparse.Namespace) -> None:
    """Train a model version, and follow its job."""
    with opened(options) as studio:
        settings = read_settings(options.settings)
        request = runs.TrainingRequest(
            options.project, options.recipe, settings, options.base, gate=None
        )
        job = runs.start_training(studio, request)
        if options.detach:
            _say_detached(job, as_json=options.json)
            return
        ended = follow(studio, job)
        if ended is None:
            return
        if options.json:
            print_json({"job": ended.id, "state": ended.state, **(ended.result or {})})
        elif ended.result and ended.result.get("kind") == "encoder":
            model = ended.result["model"]
            say(f"{model} is an encoder; it answers no intents.")
            tell(f"Next: intent-studio train '{options.project}' --base '{model}'")
        elif ended.result:
            say_metrics(str(ended.result["model"]), ended.result["metrics"])
            _tell_waiting(ended.result)


def _tell_waiting(result: Mapping[str, Any]) -> None:
    """Tell why a new version does not answer yet, and how it would."""
    if not result["promoted"]:
        tell(f"{result['model']} does not answer yet. {' '.join(result['gate'])}")
        tell(f"Next: intent-studio promote '{result['model']}'")


def follow(studio: Studio, job: JobRecord) -> JobRecord | None:
    """Show a job until it has ended; Ctrl-C offers to detach or cancel. RunFailed if it fails."""
    row = job
    try:
        with progress_bar("waiting") as bar:
            for row in runs.follow(studio, job.id):
                bar.move(row.progress, row.stage)
    except KeyboardInterrupt:
        if not _wants_cancel():
            tell(f"Job {job.id} goes on. `intent-studio jobs --watch` follows it.")
            return None
        cancel_job(studio, job.id)
        row = list(runs.follow(studio, job.id))[-1]
    if row.state != "succeeded":
        raise RunFailed(f"Job {row.id} {row.state}: {row.message}", row.hint)
    return row


def _wants_cancel() -> bool:
    if not sys.stdin.isatty():
        return False
    try:
        answer = input("\n[d]etach (training goes on) or [c]ancel it? [d] ")
    except (EOFError, KeyboardInterrupt):
        return False
    return answer.strip().lower().startswith("c")


def _say_detached(job: JobRecord, *, as_json: bool) -> None:
    if as_json:
        print_json({"job": job.id, "state": job.state})
    else:
        say(f"Job {job.id} is queued.")
        tell("`intent-studio jobs --watch` follows it.")


def evaluate(options: argparse.Namespace) -> None:
    """Measure a model on a labelled file; without a file, print its figures from training."""
    from app.services.versions.evaluating import evaluate_file, training_figures

    with opened(options, makes=is_file(options.model)) as studio:
        if options.file is None:
            found = training_figures(studio, options.model)
        else:
            with given_file(options.file) as path:
                found = evaluate_file(studio, options.model, path)
    if options.json:
        print_json(found.figures)
    else:
        say_metrics(options.model, found.figures, found.untested)


def predict(options: argparse.Namespace) -> None:
    """Predict intents of texts."""
    if options.to:
        _predict_file(options)
        return
    if options.format:
        raise InvalidInput("--format is that of a file.", "Name one with --to.")
    texts, left_out = list(options.texts), 0
    if options.file:
        with given_file(options.file) as path:
            rows = list(read_rows(path))
        found = [row.text for row in rows if isinstance(row, ImportedRow)]
        texts, left_out = texts + found, len(rows) - len(found)
    if not texts:
        raise InvalidInput("There is no text to predict.", "Give texts, or a file with --file.")
    require_answerable(texts)
    predictions, task, revision = _answers(options, texts)
    if options.json:
        told = [prediction_as_json(one, task, revision) for one in predictions]
        print_json({"predictions": told, "left_out": left_out})
        return
    cells = [(p.text, p.decision.words, _shares(p), _weightiest(p)) for p in predictions]
    table("Predictions", ("text", "intent", "probability", "weightiest example"), cells)
    if left_out:
        tell(_left_out_words(left_out))


def _answers(
    options: argparse.Namespace, texts: list[str]
) -> tuple[list[Prediction], Task, int | None]:
    """Answer texts; also return the model's task, and the revision of the labels that vote."""
    graph = open_graph(options.model)
    if graph is not None:
        return graph.predict(texts), graph.decider.task, None
    with opened(options, makes=is_file(options.model)) as studio:
        asked = open_asked(studio, options.model)
        return asked.pipeline.predict(texts), asked.pipeline.task, asked.label_revision


def _predict_file(options: argparse.Namespace) -> None:
    """Answer a file of any size into another one."""
    if not options.file or options.texts:
        hint = "Write predict MODEL --file texts.csv --to answers.csv."
        raise InvalidInput("--to takes the texts of one --file.", hint)
    with (
        _file_model(options) as model,
        given_file(options.file) as source,
        progress_bar("answering") as bar,
    ):
        told = answer_file(
            model,
            FileRequest(source, options.to, options.format),
            lambda done, total: bar.move(done / total, f"{done:,} of {counted(total, 'text')}"),
        )
    report(options, _file_words(told, options.to), plain(told))


@contextmanager
def _file_model(options: argparse.Namespace) -> Iterator[FileModel]:
    """Open what answers a file: a bundle's graph, which needs neither studio nor torch, or else.

    Raises:
        InvalidInput: A graph is asked for another precision than it was made in.
    """
    graph = model_of_graph(options.model)
    if graph is None:
        with opened(options, makes=is_file(options.model)) as studio:
            with unreplaced(options.model) as digest:
                asked = open_asked(studio, options.model)
            precision: EncodingPrecision = options.precision or "float32"
            yield model_of_pipeline(asked.pipeline, asked.label_revision, precision, digest)
        return
    if options.precision not in (None, graph.precision):
        raise InvalidInput(
            f"The graph in {options.model} computes in {graph.precision}.",
            "Leave --precision out, or export another bundle with it.",
        )
    yield graph


def _file_words(told: FileReport, target: Path) -> str:
    rate = (told.texts - told.went_on_at) / max(told.seconds, 1e-9)
    texts = f"{counted(told.texts, 'text')} {'is' if told.texts == 1 else 'are'}"
    words = f"{texts} answered in {target}, {rate:,.0f} a second."
    if told.went_on_at:
        words += f" An earlier run had answered {told.went_on_at:,} of them."
    if told.left_out:
        words += f" {_left_out_words(told.left_out)}"
    if told.same_answers is not None:
        words += f" float32 gives {percent(told.same_answers)} of the first texts the same answer."
    return words


def _left_out_words(rows: int) -> str:
    return f"{counted(rows, 'row')} left out: no text, or one of more than 5,000 characters."


def check(options: argparse.Namespace) -> int:
    """Judge a model by pins, floors, a champion and limits; return 3 if it does not pass."""
    from app.services.checking.checks import CheckRequest, check_model

    wanted = read_wanted(options.least, options.most)
    for path in filter(None, (options.junit, options.summary)):
        require_place(path)
    with opened(options, makes=is_file(options.model)) as studio, ExitStack() as stack:
        tests = options.test and stack.enter_context(given_file(options.test))
        report = check_model(studio, CheckRequest(options.model, wanted, options.against, tests))
    if options.json:
        print_json({"passes": report.passes, "verdict": report.verdict, **plain(report)})
    else:
        _say_checks(report)
    written = {options.junit: junit_xml(report), options.summary: summary_markdown(report).encode()}
    write_together({path: content for path, content in written.items() if path})
    return 0 if report.passes else _NOT_PASSED


def _say_checks(report: CheckReport) -> None:
    kept = [one for one in report.checks if one.kind == "pin" and one.state == "passed"]
    rows = [(one.name, one.found, one.state) for one in report.checks if one not in kept]
    if kept:
        rows.insert(0, ("pins", f"{len(kept):,} kept", "passed"))
    table(f"Checks of {report.model}", ("check", "found", "result"), rows)
    for one in report.of("failed"):
        for words in ((one.why,) if one.why else ()) + tuple(e.words for e in one.examples):
            say(f"  {one.name}: {words}")
    say(f"Judged on {report.judged_on}.")
    for note in report.notes:
        say(note)
    say(report.verdict)


def promote(options: argparse.Namespace) -> None:
    """Make a model version the champion."""
    from app.services.versions.registry import promote as make_champion

    with opened(options) as studio:
        name, _, digits = options.model.partition("@")
        number = whole_number(digits)
        if number is None:
            hint = "Write PROJECT@3, say."
            raise InvalidInput(f"'{options.model[:140]}' names no version.", hint)
        make_champion(studio, name, number)
    report(options, f"{options.model} answers from now on.", {"champion": options.model})


def say_metrics(name: str, metrics: Mapping[str, Any], untested: Sequence[str] = ()) -> None:
    """Print a model's figures, on what they stand, and which intents they leave out."""
    many = metrics.get("task") == "multi-label"
    left_out = (*_COUNTED, "accuracy") if many else _COUNTED  # `accuracy` is equal to `exact`
    rows = [
        (_CALLED.get(key, key.replace("_", " ")), figure_words(key, value))
        for key, value in metrics.items()
        if key not in left_out
    ]
    table(name, ("figure", "value"), [row for row in rows if row[1]])
    say(f"Measured {measured_on(metrics)}.")
    _say_untested(untested_of(metrics), untested)
    if many:
        _say_intents(metrics.get("per_intent"))
    _say_confusions(metrics)


def _say_untested(words: str, names: Sequence[str]) -> None:
    if not words:
        return
    say(words)
    if names:
        say(f"Untested: {some_of(names, _SHOWN)}.")


def _say_confusions(metrics: Mapping[str, Any]) -> None:
    confusions = metrics.get("confusions")
    if not isinstance(confusions, list) or not confusions:
        return
    shown = confusions[:_SHOWN]
    rows = [tuple(one.values()) for one in shown]
    table("Confusions", ("is", "was answered", "times"), rows)
    wrong = metrics["n"] - round(metrics["accuracy"] * metrics["n"])
    held = sum(one["count"] for one in shown)
    if held < wrong:
        say(f"These are {held:,} of {counted(wrong, 'wrong answer')}, the most frequent first.")


def _say_intents(per_intent: object) -> None:
    figures = ("precision", "recall", "f1")
    rows = [
        (row["intent"], *(percent(row[figure], 1) for figure in figures), row["support"])
        for row in (per_intent if isinstance(per_intent, list) else [])
    ]
    table("By intent", ("intent", "precision", "recall", "F1", "texts"), rows)


def _weightiest(prediction: Prediction) -> str:
    reason = prediction.reason
    if reason.by_name:
        return name_words(prediction)
    return reason.neighbours[0].text if reason.neighbours else ""


def _shares(prediction: Prediction) -> str:
    """Return the probabilities of the answer's intents; empty if it has none."""
    shares = {one.intent: percent(one.probability) for one in prediction.ranked}
    return ", ".join(shares[name] for name in prediction.decision.intents)


def prediction_as_json(
    prediction: Prediction, task: Task, label_revision: int | None
) -> dict[str, object]:
    """Return what `predict --json` prints for one text."""
    value: dict[str, Any] = plain(prediction_view(prediction, task, label_revision))
    decision = value["decision"]
    return {
        "intent": prediction.decision.intents[0] if prediction.decision.intents else None,
        **value,
        "decision": {**decision, "out_of_scope": prediction.decision.out_of_scope},
    }
