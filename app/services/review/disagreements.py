"""Utterances whose label the model disagrees with: the first place to look for label errors."""

import numpy as np
from numpy.typing import NDArray

from app.services.embedding import embed_texts
from app.services.live.live_model import LiveModel
from app.services.live.server_state import LiveStudio
from core.types import ScoreArray
from storage import projects
from storage.queries import slots, utterances
from storage.records import UtteranceRecord

_MOST = 5_000
_HALF = 0.5


def differing_ids(live_studio: LiveStudio, project: str) -> tuple[str, ...]:
    """Return ids of real labelled utterances that the live model labels otherwise.

    Exemplars are scored leave-one-out, because their own label votes.
    """
    with live_studio.studio.database.read() as connection:
        record = projects.find(connection, project)
    live = live_studio.models.get(record.id)
    if live is None:
        return ()
    with live_studio.studio.database.read() as connection:
        synthetic = slots.synthetic_ids(connection, record.id)
    judged = (key for key in _exemplars(live) if key not in synthetic)
    return (*judged, *_tests(live_studio, record.id, live))


def _exemplars(live: LiveModel) -> list[str]:
    from core.heads.mixture import voices_of, without_names
    from core.heads.votes.fit import VoteHead, leave_one_out

    pipeline = live.pipeline
    head = without_names(pipeline.head)
    if not isinstance(head, VoteHead) or head.diagonal is None:
        return []
    scores = leave_one_out(head) + voices_of(pipeline.head, pipeline.embeddings)
    right = _right(live, scores, head.targets > _HALF)
    return [pipeline.exemplars[row].id for row in np.flatnonzero(~right).tolist()]


def _tests(live_studio: LiveStudio, project_id: int, live: LiveModel) -> list[str]:
    records = _labelled_tests(live_studio, project_id, live)
    if not records:
        return []
    rows = embed_texts(
        live_studio.studio.database, live.pipeline.encoder, [r.text for r in records]
    )
    labels = np.array([[key in (r.labels or ()) for key in live.columns] for r in records])
    right = _right(live, live.pipeline.head.scores(rows), labels)
    if live.pipeline.task == "multi-label":  # an intent without a column cannot be answered
        known = set(live.columns)
        right &= np.array([known.issuperset(r.labels or ()) for r in records])
    return [records[row].id for row in np.flatnonzero(~right).tolist()]


def _labelled_tests(
    live_studio: LiveStudio, project_id: int, live: LiveModel
) -> list[UtteranceRecord]:
    states: list[utterances.LabelState] = ["labelled"]
    if live.pipeline.task == "multi-label":
        states.append("out-of-scope")
    records: list[UtteranceRecord] = []
    page = utterances.Page(0, _MOST)
    with live_studio.studio.database.read() as connection:
        for state in states:
            which = utterances.Filter(split="test", state=state)
            records += utterances.read_page(connection, project_id, which, "oldest", page)[0]
    return records


def _right(live: LiveModel, scores: ScoreArray, labels: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return whether the best intent is a label; with several intents, whether all are right."""
    if live.pipeline.task == "multi-label":
        answered = scores >= live.pipeline.calibration.limits(scores.shape[1])
        return np.asarray((answered == labels).all(1))
    return np.asarray(labels[np.arange(len(scores)), scores.argmax(1)])
