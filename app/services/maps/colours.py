"""Colours of the points of a map: a code for each utterance, and the legend of the codes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from app.services.answering.opened import Space
from app.services.embedding import Points
from app.services.live.live_studio import LiveStudio
from app.services.maps.answers import MapAnswers, answer_points
from app.services.maps.label_colours import AGREEMENT, Places, agreement_codes, combination_codes
from app.services.maps.views import Colour
from core.maps.palette import AMBER, BLUE, GREEN, GREY, RED, position_colour, ramp
from core.text import label_words
from storage.queries import columns as utterance_columns
from storage.queries import dataset
from storage.records import IntentRecord

By = Literal["intent", "prediction", "agreement", "split", "time", "label state"]
CHOICES: tuple[str, ...] = get_args(By)

T = TypeVar("T")
R = TypeVar("R")
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

    live_studio: LiveStudio
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


def canvas_of(live_studio: LiveStudio, space: Space, points: Points) -> Canvas:
    """Read the data that colours depend on."""
    with live_studio.studio.database.read() as connection:
        intents = dataset.intents(connection, space.project.id)
    return Canvas(live_studio, space, points, tuple(intents))


def colouring_of(canvas: Canvas, by: str) -> Colouring:
    """Colour every utterance of a project.

    Raises:
        InvalidInput: The untuned encoder predicts nothing to colour by.
    """
    colouring = _WAYS[by](canvas)
    return _with_skipped(canvas, colouring) if by in ("intent", "agreement") else colouring


def _with_skipped(canvas: Canvas, colouring: Colouring) -> Colouring:
    """Count skipped texts apart from unlabelled ones, as the page of the data does."""
    legend = colouring.legend
    unlabelled = len(legend) - 1  # the last; an intent may have its name
    skipped = np.array(canvas.points.columns.skipped, dtype=bool)
    aside = skipped & (colouring.codes == unlabelled)
    if not aside.any():
        return colouring
    codes = np.where(aside, len(legend), colouring.codes)
    return Colouring(codes, (*legend, replace(legend[-1], name="skipped")))


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
    legend = (Colour("examples", BLUE), Colour("test texts", AMBER), Colour("in no set", GREY))
    place = {"train": 0, "test": 1, "pool": 2}
    return Colouring(_each(canvas.points.columns.splits, place.__getitem__), legend)


def _by_label_state(canvas: Canvas) -> Colouring:
    columns = canvas.points.columns
    legend = (
        Colour("labelled", BLUE),
        Colour(label_words((), canvas.space.project.task), GREEN),
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
    return canvas.live_studio.studio.cache.get_newest(
        ("times", canvas.space.project.id),
        canvas.points.digest,
        lambda: _times(canvas),
        lambda made: made.codes.nbytes,
    )


def _times(canvas: Canvas) -> Colouring:
    with canvas.live_studio.studio.database.read() as connection:
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
    answers = answer_points(canvas.live_studio, canvas.space)
    place, extra = _answered_places(canvas, answers)
    given = [answers.intents.get(key) for key in canvas.points.columns.ids]
    return _each_value(given, lambda keys: _places(keys, place)), (*canvas.legend, *extra)


def _predicted(canvas: Canvas) -> tuple[Codes, tuple[Colour, ...]]:
    """Return the code of each text's answer, and the legend, with "out of scope" last."""
    sets, intents = _predicted_sets(canvas)
    outside = len(intents)
    codes = _each(sets, lambda found: -1 if found is None else min(found, default=outside))
    return codes, (*intents, Colour("out of scope", GREY))


def _answered_places(
    canvas: Canvas, answers: MapAnswers
) -> tuple[dict[str, int], tuple[Colour, ...]]:
    """Return the place of each intent that is answered, and intents that the project lacks."""
    place = {intent.id: at for at, intent in enumerate(canvas.intents)}
    extra: list[Colour] = []
    for at, (key, name) in enumerate(answers.names.items()):
        if key not in place:  # an imported bundle may have intents that this project lacks
            extra.append(Colour(name, position_colour(len(canvas.intents) + at)))
            place[key] = len(place)
    return place, tuple(extra)


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
