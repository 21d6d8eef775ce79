"""Compare versions: what changed in the data, and whether a new model is better."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from app.services.answering.pinned import OpenPin, open_pins
from app.services.answering.stored import load_model
from app.services.embedding import rows_for
from app.services.studio import Studio
from app.services.versions.comparison_views import (
    GateVerdict,
    ModelComparison,
    Moment,
    PinChange,
)
from app.services.versions.comparison_words import (
    apart_words,
    broken_pins_words,
    outcome_of,
    points,
    verdict_of,
    words_of,
)
from core.errors import NotFound
from core.metrics.multi_label import multi_label_report
from core.metrics.paired import (
    Difference,
    PairedAnswer,
    PairedReport,
    paired_difference,
    paired_report,
    unpaired_difference,
)
from core.pipeline import Answerer, LearnedTexts, learned_texts
from core.text import label_words, with_thousands_marks
from core.types import Exemplar, Task
from storage import models, pinned_texts, projects
from storage.database import Transaction
from storage.log import events, versions
from storage.log.diff import DatasetDiff, diff_states
from storage.queries import dataset
from storage.records import ProjectRecord

_CHUNK = 512
_FIGURE: dict[Task, str] = {"single-label": "accuracy", "multi-label": "exactly right answers"}
"""Name of the share of right answers."""
_COMPARED = ("accuracy", "n")
"""Figures of a training that a comparison by stored figures computes with."""


@dataclass(frozen=True, slots=True, eq=False)
class Contender:
    """A model to compare, with the figures of its training; it answers with present names.

    A bundle does so where they could be told. `data` is the SHA-256 of the dataset version that it
    learned from; "" is not known.
    """

    name: str
    metrics: Mapping[str, Any]
    open: Callable[[], Answerer]
    data: str = ""


@dataclass(frozen=True, slots=True)
class Questions:
    """What models are asked to be judged: labelled texts, none of an intent too, and pins.

    `chose_line` tells whether a person has chosen the limit for out of scope by the same texts.
    """

    task: Task
    tests: Sequence[Exemplar]
    pins: Sequence[OpenPin] = ()
    stale_pins: int = 0
    chose_line: bool = False


def compare_versions(
    studio: Studio, project: str, older: int | None = None, newer: int | None = None
) -> DatasetDiff:
    """Return the changes from `older` (None or 0: no data) to `newer` (None or 0: present data).

    Raises:
        NotFound: There is no such project or version.
    """
    with studio.database.read() as connection:
        key = projects.find(connection, project).id
        first = versions.find(connection, key, older).revision if older else 0
        head = events.head(connection, key)
        last = versions.find(connection, key, newer).revision if newer else head
        states = versions.states_between(connection, key, first, last)
    return diff_states(*states)


def compare_models(
    studio: Studio, project: str, candidate: int, champion: int | None = None
) -> ModelComparison:
    """Compare two model versions, by numbers, on the same texts; None is the present champion.

    Raises:
        NotFound: There is no such project or version, or no champion.
        ArtifactDamaged: The files of one are missing or damaged.
    """
    if champion is None:
        with studio.database.read() as connection:
            champion = _champion(connection, projects.find(connection, project))
    newer, older = (stored_contender(studio, project, one) for one in (candidate, champion))
    return compare_contenders(studio, project, newer, older)


def stored_contender(studio: Studio, project: str, number: int) -> Contender:
    """Return a model version to compare; its files are read when they are needed.

    Raises:
        NotFound: There is no such project or version.
    """
    name = f"{project}@{number}"
    with studio.database.read() as connection:
        key = projects.find(connection, project).id
        record = models.find_answering(connection, key, number)
    data = dataset_of(record.lineage)
    return Contender(name, record.metrics, lambda: load_model(studio, name), data)


def dataset_of(lineage: Mapping[str, Any]) -> str:
    """Return the SHA-256 of the dataset version that a model learned from; "" is not known."""
    return str(lineage.get("dataset_sha256") or "")


def compare_contenders(
    studio: Studio,
    project: str,
    candidate: Contender,
    champion: Contender,
    moment: Moment = "trained",
) -> ModelComparison:
    """Compare two models; the candidate need not be stored yet. `moment` is that of their answers.

    Answers are judged by present labels and names, stored models with the project's fence.
    """
    return compare_on(studio, questions_of(studio, project), candidate, champion, moment)


def questions_of(studio: Studio, project: str) -> Questions:
    """Return the labelled texts of a project's test split, and its pins of today.

    Raises:
        NotFound: There is no such project.
    """
    with studio.database.read() as connection:
        record = projects.find(connection, project)
        names = dataset.intent_names(connection, record.id)
        tests = _tests(connection, record, names)
        pins = open_pins(connection, record.id)
        n_stored = len(pinned_texts.list_all(connection, record.id))
    return Questions(record.task, tests, pins, n_stored - len(pins), record.fence is not None)


def compare_on(
    studio: Studio,
    questions: Questions,
    candidate: Contender,
    champion: Contender,
    moment: Moment = "trained",
) -> ModelComparison:
    """Compare two models on the same texts and pins.

    A text counts as right when it is answered with one of its labels, and not when it is refused;
    or, where it may have several, when the answer names exactly these.
    """
    task, tests, pins = questions.task, questions.tests, questions.pins
    before = _answers(studio, champion, tests, pins)
    after = _answers(studio, candidate, tests, pins)
    unseen = [row for row, e in enumerate(tests) if _unseen(e, before, after)]
    is_outside = [task == "single-label" and not e.intents for e in tests]
    fresh = [row for row in unseen if not is_outside[row]]
    outside = [row for row in unseen if is_outside[row]]
    pairs = [
        PairedAnswer(tests[row].text, tests[row].intents, before.said[row], after.said[row], task)
        for row in fresh
    ]
    comparison = _compare_figures(
        candidate, champion, task, paired_report(pairs) if pairs else None
    )
    comparison = replace(
        comparison,
        moment=moment,
        f1=_f1(pairs) if pairs and task == "multi-label" else comparison.f1,
        refused=_refused(fresh, before, after),
        outside_n=len(outside),
        outside_refused=_refused(outside, before, after),
        outside_difference=_outside_difference(outside, before, after),
        left_out=len(tests) - len(unseen),
        pins=_pin_changes(pins, before, after),
        stale_pins=questions.stale_pins,
        chose_line=questions.chose_line,
    )
    return _told(comparison, candidate, champion)


def _told(comparison: ModelComparison, *sides: Contender) -> ModelComparison:
    """Return a comparison with its outcome, and with the result in words."""
    outcome = outcome_of(comparison)
    judged = replace(comparison, outcome=outcome, words=words_of(comparison))
    apart = apart_words(*sides) if outcome == "unknown" else ""
    return replace(judged, verdict=verdict_of(judged) + apart)


def gate(comparison: ModelComparison) -> GateVerdict:
    """Decide whether to promote a candidate: no pin broken, no accuracy lost beyond chance.

    If nothing can be compared, the candidate is promoted, and the reasons say so.
    """
    task, figure = comparison.task, _FIGURE[comparison.task]
    against = [
        f"It breaks the pin '{pin.text}': {label_words(pin.after, task)} instead of "
        f"{label_words(pin.expected, task)}."
        for pin in comparison.pins_of("broken")
    ]
    difference = comparison.difference
    if difference is not None and difference.high < 0:
        against.append(f"The loss of {figure} is real, not luck: {points(difference)}.")
    if against:
        return GateVerdict(promote=False, reasons=tuple(against))
    none = "No pin is broken." if comparison.pins else "There are no pins to break."
    kept = broken_pins_words(comparison).strip() or none
    if difference is None:
        judged = "Nobody can say whether it is better: there are no texts to compare on."
    elif difference.low > 0:
        judged = f"The gain of {figure} is real, not luck: {points(difference)}."
    else:
        judged = f"There is no loss of {figure} beyond luck: {points(difference)}."
    return GateVerdict(promote=True, reasons=(kept, judged))


@dataclass(frozen=True, slots=True)
class _Answered:
    """One model's answers, in present names, and what it `learned`.

    `said` is the answer to each test text: no intent where it is refused.
    """

    said: list[tuple[str, ...]]
    refused: list[bool]
    pins: list[tuple[str, ...]]
    learned: LearnedTexts


def _answers(
    studio: Studio,
    contender: Contender,
    tests: Sequence[Exemplar],
    pins: Sequence[OpenPin],
) -> _Answered:
    model = contender.open()
    said: list[tuple[str, ...]] = []
    refused: list[bool] = []
    texts = [exemplar.text for exemplar in tests]
    rows = rows_for(studio.database, model, texts)
    for start in range(0, len(texts), _CHUNK):
        part = slice(start, start + _CHUNK)
        for prediction in model.predict(texts[part], None if rows is None else rows[part]):
            said.append(prediction.decision.intents)
            refused.append(not prediction.decision.intents)
    pinned = [pin.text for pin in pins]
    pin_rows = rows_for(studio.database, model, pinned)
    pinned_to = [p.decision.intents for p in model.predict(pinned, pin_rows)]
    return _Answered(said, refused, pinned_to, learned_texts(model))


def _refused(rows: Sequence[int], before: _Answered, after: _Answered) -> tuple[int, int]:
    return sum(before.refused[row] for row in rows), sum(after.refused[row] for row in rows)


def _outside_difference(
    rows: Sequence[int], before: _Answered, after: _Answered
) -> Difference | None:
    """Compare the shares of texts that fit no intent which are refused; None without any."""
    if not rows:
        return None
    sides = [(before.refused[row], after.refused[row]) for row in rows]
    return paired_difference(sides.count((False, True)), sides.count((True, False)), len(rows))


def _unseen(exemplar: Exemplar, *sides: _Answered) -> bool:
    return all(exemplar.text not in side.learned for side in sides)


def _champion(connection: Transaction, project: ProjectRecord) -> int:
    champion = models.champion(connection, project.id)
    if champion is None:
        raise NotFound(
            f"'{project.name}' has no live version to compare with.",
            "Use a version, or name the two to compare.",
        )
    return champion.number


def _tests(
    connection: Transaction, project: ProjectRecord, names: Mapping[str, str]
) -> list[Exemplar]:
    """Return the labelled texts of the test split, with those that fit no intent."""
    return [
        Exemplar(row.id, row.text, tuple(sorted(names[key] for key in row.labels)))
        for row in dataset.utterances(connection, project.id, "test")
        if row.labels is not None
    ]


def _pin_changes(
    pins: Sequence[OpenPin], before: _Answered, after: _Answered
) -> tuple[PinChange, ...]:
    rows = zip(pins, before.pins, after.pins, strict=True)
    return tuple(PinChange(pin.text, pin.names, was, now) for pin, was, now in rows)


def _f1(pairs: Sequence[PairedAnswer]) -> tuple[float, float]:
    actual = [pair.expected for pair in pairs]
    answers = ([pair.before for pair in pairs], [pair.after for pair in pairs])
    before, after = (multi_label_report(actual, said).micro_f1 for said in answers)
    return before, after


def _judged_alike(champion: Contender, candidate: Contender) -> bool:
    """Whether the figures of both trainings stand on the same texts, with the same labels."""
    if champion.data and candidate.data and champion.data != candidate.data:
        return False  # as many labels may be those of other texts
    old, new = champion.metrics, candidate.metrics
    if not all(name in metrics for metrics in (old, new) for name in _COMPARED):
        return False  # of a bundle, which may leave out anything
    bases = [with_thousands_marks(str(metrics.get("judged_on") or "")) for metrics in (old, new)]
    return bool(bases[0]) and bases[0] == bases[1] and old.get("task") == new.get("task")


def _shares(old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[float, float]:
    """Return right answers as stored; earlier versions know only which intent came first."""
    figure = "answered_right" if "answered_right" in old and "answered_right" in new else "accuracy"
    return float(old[figure]), float(new[figure])


def _compare_figures(
    candidate: Contender, champion: Contender, task: Task, report: PairedReport | None
) -> ModelComparison:
    """Compare on answers to the same texts if there are any, else by stored figures."""
    comparison = ModelComparison(
        candidate=candidate.name,
        champion=champion.name,
        basis="nothing",
        task=task,
        n=0,
        before=None,
        after=None,
        difference=None,
        refused=(0, 0),
        left_out=0,
        intents=(),
        answers=(),
        pins=(),
        stale_pins=0,
    )
    if report is not None:
        return replace(
            comparison,
            basis="test split",
            n=report.n,
            before=report.before,
            after=report.after,
            difference=report.difference,
            intents=report.intents,
            answers=report.changed,
        )
    old, new = champion.metrics, candidate.metrics
    if not _judged_alike(champion, candidate):
        return comparison
    (before, after), n = _shares(old, new), int(new["n"])
    return replace(
        comparison,
        basis="stored figures",
        n=n,
        before=before,
        after=after,
        difference=unpaired_difference(before, after, n),
        f1=(float(old["micro_f1"]), float(new["micro_f1"])) if task == "multi-label" else None,
    )
