"""Colours of the points of a map: a code for each utterance, and the legend of the codes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from app.services.answering.opened import Space, open_space, require_pipeline
from app.services.embedding import Embedded, Points, encoder_of_maps, read_embedded
from app.services.maps.label_colours import AGREEMENT, Places, agreement_codes, combination_codes
from app.services.maps.views import Colour
from app.services.studio import Studio
from core.maps.palette import AMBER, BLUE, GREEN, GREY, RED, position_colour, ramp
from core.pipeline import IntentPipeline
from storage.log import versions
from storage.queries import columns as utterance_columns
from storage.queries import dataset
from storage.records import IntentRecord

By = Literal["intent", "prediction", "agreement", "split", "time", "label state"]
CHOICES: tuple[str, ...] = get_args(By)

T = TypeVar("T")
R = TypeVar("R")
_CHUNK = 4_096
_TIMES = 8
_DAY, _MINUTE, _SECOND, _MILLISECOND = 10, 16, 19, 23
Codes = NDArray[np.int64]
"""One code for each utterance of a project; -1 where it is not known."""


@dataclass(frozen=True, slots=True, eq=False)
class Colouring:
    """Codes of all utterances of a project, and the legend that they index."""

    codes: Codes
    legend: tuple[Colour, ...]


@dataclass(frozen=True, slots=True)
class Canvas:
    """Data that colours depend on."""

    studio: Studio
    space: Space
    points: Points
    intents: tuple[IntentRecord, ...]

    @property
    def has_many(self) -> bool:
        """Whether a text may have several intents."""
        return self.space.project.task == "multi-label"

    @property
    def legend(self) -> tuple[Colour, ...]:
        """Colours of the intents in order, with archived ones, so that codes do not change."""
        return tuple(Colour(i.name, intent_colour(i)) for i in self.intents)


@dataclass(frozen=True, slots=True, eq=False)
class _ModelAnswers:
    """Answers of a model version for the utterances whose embeddings are known.

    `winners` are columns of the largest score, (n,); `sets` those that reach their thresholds, in
    multi-label projects.
    """

    ids: tuple[str, ...]
    winners: Codes
    outside: NDArray[np.bool_]
    sets: tuple[tuple[int, ...], ...] | None


def canvas_of(studio: Studio, space: Space, points: Points) -> Canvas:
    """Read the data that colours depend on."""
    with studio.database.read() as connection:
        intents = dataset.intents(connection, space.project.id)
    return Canvas(studio, space, points, tuple(intents))


def colouring_of(canvas: Canvas, by: str) -> Colouring:
    """Colour every utterance of a project.

    Raises:
        InvalidInput: The untuned encoder predicts nothing to colour by.
    """
    colouring = _WAYS[by](canvas)
    return _with_skipped(canvas, colouring) if by in ("intent", "agreement") else colouring


def _with_skipped(canvas: Canvas, colouring: Colouring) -> Colouring:
    """Count skipped texts apart from unlabelled ones, as the page of the data does."""
    names = [entry.name for entry in colouring.legend]
    unlabelled = colouring.legend[names.index("unlabelled")]
    skipped = np.array(canvas.points.columns.skipped, dtype=bool)
    aside = skipped & (colouring.codes == names.index("unlabelled"))
    if not aside.any():
        return colouring
    codes = np.where(aside, len(names), colouring.codes)
    return Colouring(codes, (*colouring.legend, replace(unlabelled, name="skipped")))


def intent_colour(intent: IntentRecord) -> str:
    """Return the colour that a person gave an intent, or else its position's."""
    return intent.color or position_colour(intent.position)


def _by_intent(canvas: Canvas) -> Colouring:
    """Colour by intent, or by combination of intents in a multi-label project."""
    place = {intent.id: at for at, intent in enumerate(canvas.intents)}
    if canvas.has_many:
        places = _each_value(canvas.points.columns.labels, lambda keys: _places(keys, place))
        return Colouring(*combination_codes(places, canvas.legend, "unlabelled"))
    none, unlabelled = len(place), len(place) + 1

    def code(labels: tuple[str, ...] | None) -> int:
        if labels is None:
            return unlabelled
        return min((place[key] for key in labels), default=none)

    legend = (
        *canvas.legend,
        Colour("out of scope", AMBER, "outside"),
        Colour("unlabelled", GREY, "unlabelled"),
    )
    return Colouring(_each(canvas.points.columns.labels, code), legend)


def _by_split(canvas: Canvas) -> Colouring:
    legend = (Colour("examples", BLUE), Colour("test texts", AMBER), Colour("unlabelled", GREY))
    place = {"train": 0, "test": 1, "pool": 2}
    return Colouring(_each(canvas.points.columns.splits, place.__getitem__), legend)


def _by_label_state(canvas: Canvas) -> Colouring:
    columns = canvas.points.columns
    legend = (
        Colour("labelled", BLUE),
        Colour("out of scope", GREEN),
        Colour("skipped", AMBER),
        Colour("flagged", RED),
        Colour("unlabelled", GREY),
    )
    codes = _each(columns.labels, lambda labels: 4 if labels is None else 0 if labels else 1)
    codes[np.array(columns.skipped, dtype=bool)] = 2
    codes[np.array(columns.flagged, dtype=bool)] = 3
    return Colouring(codes, legend)


def _by_time(canvas: Canvas) -> Colouring:
    """Colour by time of arrival: each import, or eight spans with equally many texts."""
    return canvas.studio.cache.get_newest(
        ("times", canvas.space.project.id),
        canvas.points.digest,
        lambda: _times(canvas),
        lambda made: made.codes.nbytes,
    )


def _times(canvas: Canvas) -> Colouring:
    with canvas.studio.database.read() as connection:
        came = utterance_columns.arrivals(connection, canvas.space.project.id)
    moments = np.array([came.get(key, "") for key in canvas.points.columns.ids])
    known = moments != ""
    starts = np.unique(moments[known])
    if len(starts) > _TIMES:
        ordered = np.sort(moments[known])
        starts = np.unique(ordered[np.arange(_TIMES) * len(ordered) // _TIMES])
    codes = np.where(known, np.searchsorted(starts, moments, side="right") - 1, -1)
    legend = tuple(map(Colour, _moment_names(starts.tolist()), ramp(len(starts))))
    return Colouring(codes.astype(np.int64), legend)


def _moment_names(moments: Sequence[str]) -> list[str]:
    """Name moments with as few characters as distinguish them."""
    for length in (_DAY, _MINUTE, _SECOND):
        names = [moment[:length] for moment in moments]
        if len(set(names)) == len(names):
            break
    else:
        names = [moment[:_MILLISECOND] for moment in moments]
    return [name.replace("T", " ") for name in names]


def _by_prediction(canvas: Canvas) -> Colouring:
    if canvas.has_many:
        sets, intents = _predicted_sets(canvas)
        codes, legend = combination_codes(sets, intents, "not known")
        known = np.where(codes == len(legend) - 1, -1, codes)  # the map adds its own entry
        return Colouring(known, legend[:-1])
    codes, legend = _predicted(canvas)
    return Colouring(codes, legend)


def _by_agreement(canvas: Canvas) -> Colouring:
    if canvas.has_many:
        place = {intent.id: at for at, intent in enumerate(canvas.intents)}
        labels = [
            None if keys is None else frozenset(place[key] for key in keys)
            for keys in canvas.points.columns.labels
        ]
        return Colouring(agreement_codes(labels, _predicted_sets(canvas)[0]), AGREEMENT)
    predicted, known = _predicted(canvas)
    outside = len(known) - 1
    place = {intent.id: at for at, intent in enumerate(canvas.intents)}
    legend = (
        Colour("agrees", BLUE),
        Colour("differs", RED),
        Colour("labelled, but refused", AMBER),
        Colour("unlabelled", GREY),
    )

    def code(labels: tuple[str, ...] | None, answer: int) -> int:
        if labels is None:
            return 3
        if answer < 0:
            return -1
        if answer == outside:
            return 2 if labels else 0
        return 0 if any(place[key] == answer for key in labels) else 1

    pairs = zip(canvas.points.columns.labels, predicted.tolist(), strict=True)
    cases: dict[tuple[tuple[str, ...] | None, int], int] = {}
    codes = [cases[p] if p in cases else cases.setdefault(p, code(*p)) for p in pairs]
    return Colouring(np.array(codes, dtype=np.int64), legend)


def _predicted_sets(canvas: Canvas) -> tuple[list[Places | None], tuple[Colour, ...]]:
    """Return the intents that each text is answered with, None where that is not known."""
    answers, column_codes, extra = _asked(canvas)
    winners = zip(answers.winners.tolist(), answers.outside.tolist(), strict=True)
    sets = answers.sets or [() if away else (best,) for best, away in winners]
    places = _each_value(sets, lambda columns: tuple(sorted(column_codes[list(columns)].tolist())))
    by_id = dict(zip(answers.ids, places, strict=True))
    return [by_id.get(key) for key in canvas.points.columns.ids], (*canvas.legend, *extra)


def _asked(canvas: Canvas) -> tuple[_ModelAnswers, Codes, tuple[Colour, ...]]:
    """Return answers, the code of each column, and intents that the project lacks."""
    opened = open_space(canvas.studio, canvas.space)
    pipeline = require_pipeline(opened)
    encoder = encoder_of_maps(canvas.studio, opened.encoder)
    embedded = read_embedded(canvas.studio, canvas.space.project, encoder)
    answers = _answers(canvas, pipeline, embedded)
    return answers, *_columns_as_intents(canvas, pipeline.head.intents)


def _predicted(canvas: Canvas) -> tuple[Codes, tuple[Colour, ...]]:
    """Return the code of each text's answer, and the legend, with "out of scope" last."""
    answers, column_codes, extra = _asked(canvas)
    legend = (*canvas.legend, *extra, Colour("out of scope", GREY))
    codes = np.where(answers.outside, len(legend) - 1, column_codes[answers.winners])
    row = {key: at for at, key in enumerate(answers.ids)}
    rows = np.array([row.get(key, -1) for key in canvas.points.columns.ids], dtype=np.int64)
    return np.append(codes, -1)[rows], legend


def _answers(canvas: Canvas, pipeline: IntentPipeline, embedded: Embedded) -> _ModelAnswers:
    """Score every text, once for each model version and state of the texts."""

    def make() -> _ModelAnswers:
        n = len(embedded.ids)
        winners, outside = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=bool)
        sets: list[tuple[int, ...]] = []
        limits = pipeline.calibration.limits(len(pipeline.head.intents))
        for start in range(0, n, _CHUNK):
            part = slice(start, start + _CHUNK)
            rows = embedded.embeddings[part]
            scores = pipeline.head.scores(rows)
            winners[part] = scores.argmax(1)
            if pipeline.task == "multi-label":
                sets += [tuple(np.flatnonzero(row).tolist()) for row in scores >= limits]
            else:
                outside[part] = ~pipeline.calibration.inside(rows, scores)
        many = tuple(sets) if pipeline.task == "multi-label" else None
        return _ModelAnswers(embedded.ids, winners, outside, many)

    series = ("answers", canvas.space.project.id, *canvas.space.key)
    return canvas.studio.cache.get_newest(
        series, embedded.digest, make, lambda made: 90 * len(made.ids)
    )


def _columns_as_intents(canvas: Canvas, names: Sequence[str]) -> tuple[Codes, tuple[Colour, ...]]:
    """Return the code of each of a model's intent names; intents may be renamed since."""
    place = {intent.id: at for at, intent in enumerate(canvas.intents)}
    by_name = {intent.name: intent.id for intent in canvas.intents} | _names_then(canvas)
    extra: list[Colour] = []
    codes: list[int] = []
    for at, name in enumerate(names):
        key = by_name.get(name)
        if key in place:
            codes.append(place[key])
        else:  # an imported bundle may have intents that this project lacks
            codes.append(len(place) + len(extra))
            extra.append(Colour(name, position_colour(len(place) + at)))
    return np.array(codes, dtype=np.int64), tuple(extra)


def _names_then(canvas: Canvas) -> dict[str, str]:
    version = canvas.space.version
    if version is None or version.dataset_version_id is None:
        return {}
    with canvas.studio.database.read() as connection:
        revision = versions.get(connection, version.dataset_version_id).revision
        return versions.intent_ids_at(connection, canvas.space.project.id, revision)


def _places(keys: tuple[str, ...] | None, place: Mapping[str, int]) -> Places | None:
    return None if keys is None else tuple(sorted(place[key] for key in keys))


def _each_value(column: Sequence[T], make: Callable[[T], R]) -> list[R]:
    """Map every value, computing each distinct one once."""
    made = {value: make(value) for value in set(column)}
    return [made[value] for value in column]


def _each(column: Sequence[T], code: Callable[[T], int]) -> Codes:
    """Return every value's code, computing each distinct one once."""
    codes = {value: code(value) for value in set(column)}
    return np.array([codes[value] for value in column], dtype=np.int64)


_WAYS: dict[str, Callable[[Canvas], Colouring]] = {
    "intent": _by_intent,
    "prediction": _by_prediction,
    "agreement": _by_agreement,
    "split": _by_split,
    "time": _by_time,
    "label state": _by_label_state,
}
