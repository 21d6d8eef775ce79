"""Which intents have enough labels: leave-one-out estimates of the live model tell."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.services.cache import of_version
from app.services.live.live_model import LiveModel, is_untuned
from app.services.live.live_studio import LiveStudio
from app.services.live.row_answers import echoed_ids, exemplar_scores
from app.services.studio import Studio
from core.calibration.out_of_scope import in_scope
from core.heads.folds import sources_of
from core.review.enough import newest_known, newest_rows
from core.splits import Rows
from core.types import ScoreArray
from storage import models, projects
from storage.log.label_origins import labelled_singly
from storage.queries import dataset

_BYTES = 200
_MOST_REFUSED = 3
"""Of an intent's newest texts, so many may be refused: a limit refuses 5 of 100, by design."""


@dataclass(frozen=True, slots=True)
class EnoughLabels:
    """An intent, and what its newest labels tell.

    Attributes:
        judged: Number of its newest labels that were looked at, at most 15. Left out are those that
            tell nothing: of many texts at once, those that a tuned encoder has learned, and those
            of texts that the model knows by synthetic ones.
        known: How many of these the live model gives by all other labels.
        is_enough: Whether more labels of it would hardly teach anything, and the limit for out of
            scope refuses at most 3 of these texts.
        reason: Why, in words; empty if they are not enough.
    """

    intent: str
    judged: int
    known: int
    is_enough: bool
    reason: str


@dataclass(frozen=True, slots=True)
class EnoughView:
    """The intents that are judged; none while the model is being loaded, which is not `ready`."""

    ready: bool
    intents: tuple[EnoughLabels, ...]


def list_enough(live_studio: LiveStudio, project: str) -> EnoughView:
    """Judge the intents of a single-label project by the model in memory; never waits for it.

    Without a model whose examples vote there is nothing to judge by, and nothing is listed.

    Raises:
        NotFound: There is no such project.
    """
    studio = live_studio.studio
    with studio.database.read() as connection:
        record = projects.find(connection, project)
        version = models.champion(connection, record.id)
    live = live_studio.models.loaded(record.id)
    if live is None or live.pipeline.task != "single-label":
        return EnoughView(live is not None or version is None, ())

    def judge() -> tuple[EnoughLabels, ...]:
        with studio.database.read() as connection:
            order = labelled_singly(connection, record.id)
            usable = dataset.open_intents(connection, record.id)
        return tuple(one for one in _judged(studio, live, order) if one.intent in usable)

    series = ("enough labels", of_version(live.version))
    moment = (live.revision, bool(echoed_ids(live)), repr(record.fence))
    judged = studio.cache.get_newest(series, moment, judge, lambda made: _BYTES * len(made))
    return EnoughView(ready=True, intents=judged)


def _judged(studio: Studio, live: LiveModel, given_at: Mapping[str, int]) -> list[EnoughLabels]:
    """Judge the intents of a model by the labels that neither its votes nor its encoder know.

    A vote can be left out. An encoder that was tuned has put the texts of its training beside those
    of their label, so only labels given since tell what it knew before.
    """
    held_out = exemplar_scores(studio, live)
    if held_out is None:
        return []
    scores, targets = held_out
    given = {one.id for one in live.pipeline.exemplars if not one.synthetic}  # by people
    given -= echoed_ids(live)
    unseen = given if is_untuned(live) else given & (live.hot - live.waiting)
    told = {key: at for key, at in given_at.items() if key in unseen}
    places = [told.get(one.id, -1) for one in live.pipeline.exemplars]
    # An exemplar without an intent has a label, too, and belongs to no column.
    labels = np.where(targets.any(1), targets.argmax(1), -1).astype(np.int64)
    answers, n_intents = scores.argmax(1).astype(np.int64), scores.shape[1]
    order = np.array(places, dtype=np.int64)
    newest = np.concatenate([newest_rows(labels == one, order) for one in range(n_intents)])
    allowed = answers.copy()
    allowed[newest[~_let_in(live, scores[newest], newest)]] = -1
    judged, let_in = (newest_known(one, labels, order, n_intents) for one in (answers, allowed))
    return [
        EnoughLabels(
            intent=live.columns[one.column],
            judged=one.judged,
            known=one.known,
            is_enough=is_enough,
            reason=_reason(one.known, one.judged) if is_enough else "",
        )
        for one, kept in zip(judged, let_in, strict=True)
        for is_enough in [one.is_enough and one.known - kept.known <= _MOST_REFUSED]
        if one.judged
    ]


def _let_in(live: LiveModel, scores: ScoreArray, rows: Rows) -> NDArray[np.bool_]:
    """Tell of examples, `rows` (n,), with held-out scores (n, intents) which the limit lets in.

    None is near to itself: by its own distance each would be let in.
    """
    calibration = live.pipeline.calibration
    familiarity, measure = scores.max(1), calibration.familiarity_measure
    if measure is not None:
        familiarity = measure.left_out(scores, rows, sources_of(live.pipeline.exemplars))
    return in_scope(familiarity, calibration.limits(scores.shape[1])[scores.argmax(1)])


def _reason(known: int, judged: int) -> str:
    which = f"all of its last {judged}" if known == judged else f"{known} of its last {judged}"
    return f"You can stop labelling it: by all other labels the model finds it for {which} texts."
