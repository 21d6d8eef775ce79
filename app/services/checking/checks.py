"""Check a model for a pipeline: pins, floors, no loss against a champion, latency, size.

A floor or a comparison that nothing tells fails: a pipeline never passes for want of texts.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from app.services.answering.judging import judge_tests, tests_for
from app.services.checking.pinned_answers import judge_pins
from app.services.checking.present_names import called_alike, comparable
from app.services.checking.subject import Asked, Subject, asked_of, open_subject
from app.services.checking.views import CheckReport, CheckResult, CheckState
from app.services.checking.wanted import FIGURES, Ceiling, Floor, Wanted, require_known
from app.services.embedding import rows_for
from app.services.studio import Studio
from app.services.versions.comparison import compare_on
from app.services.versions.comparison_views import ModelComparison
from app.services.versions.comparison_words import points
from core.errors import MALFORMED, InvalidInput
from core.metrics.in_words import untested_of
from core.pipeline import Answerer
from core.text import counted, decimal, percent, some_of

_TIMED, _WARM_UP = 200, 10
"""Texts whose answers are timed, and answers before these."""
_NAMED = 3
_COUNTS: Mapping[str, Sequence[str]] = {
    "answered_right": ("answered_n", "n"),  # the first is of an export
    "kept_out": ("outside_n",),
    "none_recall": ("n_without_intent",),
    "macro_f1": (),  # a mean is no share of texts
    "micro_f1": (),
}
"""The figures that tell of how many texts another is the share, the first that is there."""
_MOST = {
    "latency_ms": "95 of 100 single texts are answered within {} ms",
    "megabytes": "size at most {} MB",
}


@dataclass(frozen=True, slots=True)
class CheckRequest:
    """What to check: a version or a bundle, against a champion, on the texts of a file."""

    reference: str
    wanted: Wanted
    against: str | None = None
    tests: Path | None = None


def check_model(studio: Studio, request: CheckRequest) -> CheckReport:
    """Judge a model by its pins, floors, champion and limits.

    Raises:
        InvalidInput: A figure, an intent or the file is not usable, or nothing is to be checked.
        NotFound: A model does not exist.
        ArtifactDamaged: Files of a model are missing or changed.
    """
    started = time.perf_counter()
    subject = open_subject(studio, request.reference)
    champion = None if request.against is None else open_subject(studio, request.against)
    if champion is not None:
        subject, champion = called_alike(studio, subject, champion)
    asked = asked_of(studio, subject, champion, request.tests)
    labels = {name for one in asked.questions.tests for name in one.intents}
    wanted, known = request.wanted, labels | set(subject.pipeline.intents)
    require_known(wanted, subject.pipeline.task, known)
    checks = judge_pins(studio, subject, asked.questions.pins)
    is_own = request.tests is None and subject.project is not None
    figures, judged_on = _figures(studio, subject, asked, is_own=is_own)
    checks += [judge_floor(one, figures, subject) for one in wanted.floors]
    notes = list(asked.notes)
    if champion is not None:
        compared, strange = comparable(asked.questions, subject, champion)
        sides = subject.contender, champion.contender
        checks += judge_comparison(compare_on(studio, compared, *sides))
        notes += strange
    checks += [_judge_ceiling(one, subject, asked) for one in wanted.ceilings]
    if not checks:
        raise InvalidInput(
            f"There is nothing to check {subject.name} by.",
            "Pin a text, or name a floor such as accuracy=0.9 or a model to compare with.",
        )
    against = None if champion is None else champion.name
    seconds = round(time.perf_counter() - started, 1)
    notes += filter(None, [untested_of({**figures, "judged_on": judged_on})])
    return CheckReport(subject.name, against, judged_on, tuple(checks), tuple(notes), seconds)


def _figures(
    studio: Studio, subject: Subject, asked: Asked, *, is_own: bool
) -> tuple[Mapping[str, Any], str]:
    """Measure a model on texts that it has not learned; without a text, take its stored figures.

    A version that has learned every test text of its own project was judged by cross-validation.
    """
    tests = asked.questions.tests
    judged = tests_for(subject.pipeline, tests)
    n, n_outside = len(judged.texts), len(judged.outside)
    if not tests or (is_own and n + n_outside == 0):
        stored = {**subject.figures, **subject.exported}
        words = str(stored.get("judged_on") or "nothing")
        return stored, f"figures stored with {subject.name}, judged on {words}"
    if n + n_outside == 0:
        return {}, f"nothing: there is no test text {asked.origin} that it has not learned"
    embed = partial(rows_for, studio.database, subject.pipeline)
    found = judge_tests(subject.pipeline, judged, embed)
    fit = f" and {counted(n_outside, 'text')} of no intent" if n_outside else ""
    return found, f"{counted(n, 'test text')}{fit} {asked.origin}{judged.words()}"


def judge_floor(floor: Floor, figures: Mapping[str, Any], subject: Subject) -> CheckResult:
    """Compare a figure with its least value; a figure that nobody knows fails."""
    name = f"{floor.name} at least {percent(floor.least, 1)}"
    try:
        value, n = _share(floor, figures, subject)
    except MALFORMED:  # a bundle may carry anything
        value, n = None, None
    if value is None:
        lacks = "not judged: no test text tells it"
        return CheckResult("floor", name, "failed", lacks, limit=floor.least)
    found = percent(value, 1) + (f" of {counted(n, 'text')}" if n else "")
    return CheckResult("floor", name, _state(value >= floor.least), found, "", value, floor.least)


def _share(
    floor: Floor, figures: Mapping[str, Any], subject: Subject
) -> tuple[float | None, int | None]:
    """Return a figure in [0, 1] and of how many texts it is the share; None where nothing tells it.

    Of an intent that is told for recall alone: precision is of the texts that were answered so.
    """
    if floor.intent:
        rows = figures.get("per_intent") or ()
        row = next((row for row in rows if row["intent"] == floor.intent), None)
        if row is None or not row["support"]:
            return None, None
        n_labelled = int(row["support"])
        return float(row[floor.figure]), n_labelled if floor.figure == "recall" else None
    key = FIGURES[subject.pipeline.task][floor.figure]
    value, counts = figures.get(key), _COUNTS.get(key, ("n",))
    n = next((figures[name] for name in counts if name in figures), None)
    return (None if value is None else float(value)), (None if n is None else int(n))


def judge_comparison(comparison: ModelComparison) -> list[CheckResult]:
    """Say whether a model is not worse than its champion beyond chance, and refuses no less."""
    difference, champion = comparison.difference, comparison.champion
    lost = [
        f"{one.intent}: {percent(one.before)} → {percent(one.after)} of {one.support:,}"
        for one in comparison.intents
        if one.change < 0
    ]
    why = some_of(lost, _NAMED)
    is_kept = comparison.outcome in ("better", "alike")
    results = [
        CheckResult(
            "champion",
            f"not worse than {champion} beyond chance",
            _state(is_kept),
            comparison.verdict,
            f"Largest losses of recall: {why}." if why else "",
            None if difference is None else difference.value,
            0.0,
        )
    ]
    outside = comparison.outside_difference
    if outside is not None:
        before, after = comparison.outside_refused
        found = f"refuses {after:,} of {comparison.outside_n:,}, {before:,} before"
        words = f"The change: {points(outside)}."
        name = f"refuses texts of no intent no worse than {champion} beyond chance"
        results.append(
            CheckResult(
                "champion", name, _state(outside.high >= 0), found, words, outside.value, 0.0
            )
        )
    return results


def _judge_ceiling(ceiling: Ceiling, subject: Subject, asked: Asked) -> CheckResult:
    name = _MOST[ceiling.figure].format(decimal(ceiling.most, 1))
    if ceiling.figure == "megabytes":
        about = "about " if subject.project is not None else ""
        value, found = subject.megabytes, f"{about}{decimal(subject.megabytes, 1)} MB as a bundle"
    else:
        texts = _texts_to_time(subject, asked)
        if not texts:
            lacks = "not judged: there is no text to time"
            return CheckResult("limit", name, "failed", lacks, limit=ceiling.most)
        value = latency_ms(subject.pipeline, texts)
        found = f"{decimal(value, 1)} ms, in {_TIMED} answers on this machine"
    return CheckResult("limit", name, _state(value <= ceiling.most), found, "", value, ceiling.most)


def _texts_to_time(subject: Subject, asked: Asked) -> list[str]:
    tests = [one.text for one in asked.questions.tests]
    return tests or [one.text for one in subject.pipeline.exemplars]


def latency_ms(model: Answerer, texts: Sequence[str]) -> float:
    """Measure the 95th percentile of the milliseconds that an answer to a single text takes."""
    taken = []
    for turn in range(_WARM_UP + _TIMED):
        started = time.perf_counter()
        model.predict([texts[turn % len(texts)]])
        taken.append(1_000 * (time.perf_counter() - started))
    return float(np.percentile(taken[_WARM_UP:], 95))


def _state(holds: bool) -> CheckState:  # noqa: FBT001 - the result of one comparison
    return "passed" if holds else "failed"
