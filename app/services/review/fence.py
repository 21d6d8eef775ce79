"""The fence of a project: try and set the least familiarity of a text in scope."""

from collections.abc import Mapping
from dataclasses import asdict
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from app.services.answering.as_project import own_threshold
from app.services.live.live_studio import LiveStudio, open_live
from app.services.review.fence_texts import MeasuredTexts, measured_texts
from app.services.review.fence_views import FenceSetting, FenceView, WishedLimit
from core.calibration.fence import crossing
from core.errors import Conflict, InvalidInput
from core.types import Method, ScoreArray
from storage import projects
from storage.people import acts
from storage.people.acts import Act
from storage.queries import dataset
from storage.records import ProjectRecord

_LOST = (0.01, 0.05, 0.1)
_FARTHEST: Mapping[bool, float] = {True: 10.0, False: 1_000.0}
"""The largest threshold: of vote scores (True), and in standard deviations (False)."""


def preview_fence(
    live_studio: LiveStudio, project: str, asked: FenceSetting | None = None
) -> FenceView:
    """Return the effect of a fence; without `asked`, that of the one in force.

    Raises:
        InvalidInput: A threshold is not a usable number, or a text may have several intents.
        NotFound: The project has no model.
    """
    record, live = open_live(live_studio, project)
    _refuse_several(record)
    trained = live.base.pipeline.calibration
    standing = setting_of(record, trained.measure)
    setting = _checked(asked or standing)
    texts = measured_texts(live_studio, record, live)
    own_now, own = (own_threshold(trained, s.method, texts.signals) for s in (standing, setting))
    now, then = texts.let_in(standing, own_now), texts.let_in(setting, own)
    familiarity = texts.familiarity(setting.method)
    moved = crossing(now[: (n := texts.n_texts)], then[:n], familiarity[:n])
    (inside, outside), names = texts.sides, _names(live_studio, record)
    right, methods = texts.answered_right(), texts.methods()
    return FenceView(
        own=own,
        stands=standing,
        asked=setting,
        span=_span(setting.method, familiarity[:n], own),
        accuracy=_shares(right & now[inside], right & then[inside]),
        kept=_shares(now[inside], then[inside]),
        recall=_shares(~now[outside], ~then[outside]),
        judged=(len(texts.inside), len(texts.outside)),
        entering=texts.crossed(moved.entering, familiarity, names),
        n_entering=len(moved.entering),
        leaving=texts.crossed(moved.leaving, familiarity, names),
        n_leaving=len(moved.leaving),
        suggested=(suggested := texts.suggested(setting.method)),
        methods=methods,
        best=max(methods.items(), key=lambda item: item[1])[0] if methods else None,
        equal=_equal(now[:n], familiarity[:n], own, inside),
        pins=texts.turned_pins(now[n:], then[n:], names),
        unlabelled=_counts(moved.entering >= outside.stop, moved.leaving >= outside.stop),
        outside_tested=any(one.split == "test" for one in texts.outside),
        lost=int((right & now[inside] & ~then[inside]).sum()),
        won=int((right & ~now[inside] & then[inside]).sum()),
        total=n,
        refused=_counts(~now[:n], ~then[:n]),
        default=FenceSetting(method=trained.measure),
        in_force=texts.outcome(now, right),
        wished=_wished(texts, right, familiarity, suggested.limit),
    )


def limit_for(n_inside: int, familiarity: ScoreArray, own: float) -> float:
    """Return the limit that accepts the `n_inside` most familiar texts of (n,); `own` for none."""
    ranked = np.sort(familiarity)[::-1]
    if not len(ranked):
        return own
    above = ranked[n_inside - 1] if n_inside else ranked[0] + 1.0
    below = ranked[n_inside] if n_inside < len(ranked) else above
    return float((above + below) / 2)


def _equal(now: NDArray[np.bool_], familiarity: ScoreArray, own: float, inside: slice) -> float:
    """Return the limit that accepts as many in-scope test texts, or without any as many of all."""
    counted = slice(0, len(now)) if inside.stop == 0 else inside
    return limit_for(int(now[counted].sum()), familiarity[counted], own)


def _names(live_studio: LiveStudio, project: ProjectRecord) -> dict[str, str]:
    with live_studio.studio.database.read() as connection:
        return dataset.intent_names(connection, project.id)


def _wished(
    texts: MeasuredTexts, right: NDArray[np.bool_], familiarity: ScoreArray, even: float | None
) -> tuple[WishedLimit, ...]:
    """Return limits by the familiarity of the in-scope test texts answered `right`, and `even`."""
    of_right = familiarity[texts.sides[0]][right]
    if not len(of_right):
        return ()
    limits = [(lost, float(np.quantile(of_right, lost))) for lost in _LOST]
    offered = [*limits, *([] if even is None else [(None, even)])]
    return tuple(
        WishedLimit(lost, limit, texts.outcome(texts.let_in_from(limit, familiarity), right))
        for lost, limit in offered
    )


def _span(method: Method, familiarity: ScoreArray, own: float) -> tuple[float, float]:
    low, high = (0.0, 1.0) if method == "votes" else (own, own)
    return float(familiarity.min(initial=low)), float(familiarity.max(initial=high))


def _shares(now: NDArray[np.bool_], then: NDArray[np.bool_]) -> tuple[float, float] | None:
    return (float(now.mean()), float(then.mean())) if len(now) else None


def _counts(one: NDArray[np.bool_], other: NDArray[np.bool_]) -> tuple[int, int]:
    return int(one.sum()), int(other.sum())


def save_fence(
    live_studio: LiveStudio,
    project: str,
    setting: FenceSetting | None,
    seen: FenceSetting | None = None,
) -> None:
    """Store a project's fence; None, or the model's own setting, restores the model's own.

    `seen` is the fence that a person saw in force; None stores it whichever is.

    Raises:
        Conflict: Another fence than `seen` is in force.
        InvalidInput: A threshold is not a usable number, or a text may have several intents.
        NotFound: There is no such project or intent.
    """
    with live_studio.studio.database.read() as connection:
        record = projects.find(connection, project)
    _refuse_several(record)
    measured = setting is not None and _checked(setting).method != "votes"
    models = live_studio.models
    live = models.get(record.id) if measured or seen is not None else models.peek(record.id)
    if measured and (live is None or not live.pipeline.exemplars):
        raise InvalidInput(
            "Only the score is known without examples that vote.", "Label some, and train."
        )
    own = "votes" if live is None else live.base.pipeline.calibration.measure
    stored = None if setting is None or setting == FenceSetting(method=own) else asdict(setting)
    verb = "reset fence" if stored is None else "save fence"
    with live_studio.studio.database.write() as connection:
        if seen is not None and setting_of(projects.get(connection, record.id), own) != seen:
            raise Conflict(
                "The limit was changed meanwhile, so it stays as it is.", "Look at it once more."
            )
        for key in () if setting is None else setting.limits:
            dataset.intent_by_id(connection, record.id, key)
        projects.change_fence(connection, record.id, stored)
        acts.note(connection, record.id, Act(verb, live_studio.studio.settings.actor))


def setting_of(project: ProjectRecord, measure: Method = "votes") -> FenceSetting:
    """Return the setting in force; where none is stored, one with the model's own `measure`."""
    stored = project.fence
    if stored is None:
        return FenceSetting(method=measure)
    limits = stored.get("limits") or {}
    return FenceSetting(stored.get("limit"), limits, stored.get("method", "votes"))


def _checked(setting: FenceSetting) -> FenceSetting:
    numbers = [*setting.limits.values(), *([] if setting.limit is None else [setting.limit])]
    most = _FARTHEST[setting.method == "votes"]
    if not all(isfinite(number) and abs(number) <= most for number in numbers):
        raise InvalidInput(
            "A limit is no usable number.", f"Use one between -{most:g} and {most:g}."
        )
    return setting


def _refuse_several(project: ProjectRecord) -> None:
    if project.task == "multi-label":
        raise InvalidInput(
            "Where a text may have several intents, each has a limit of its own.",
            "They are chosen when a version is trained.",
        )
