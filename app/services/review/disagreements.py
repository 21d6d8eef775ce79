"""Utterances whose label the model disagrees with: the first place to look for label errors."""

import numpy as np

from app.services.live.live_model import LiveModel
from app.services.live.row_answers import answer_records, answered, exemplar_scores
from app.services.live.server_state import LiveStudio
from storage import projects
from storage.queries import slots, utterances
from storage.records import UtteranceRecord

_MOST = 5_000


def differing_ids(live_studio: LiveStudio, project: str) -> tuple[str, ...]:
    """Return ids of real labelled utterances that the live model answers otherwise.

    Exemplars are answered without their own vote, because it would repeat their label.
    """
    with live_studio.studio.database.read() as connection:
        record = projects.find(connection, project)
    live = live_studio.models.get(record.id)
    if live is None:
        return ()
    with live_studio.studio.database.read() as connection:
        synthetic = slots.synthetic_ids(connection, record.id)
    judged = (key for key in _exemplars(live) if key not in synthetic)
    others = answer_records(live_studio.studio, live, _others(live_studio, record.id, live))
    return (*judged, *(answer.id for answer in others if answer.differs))


def _exemplars(live: LiveModel) -> list[str]:
    own = exemplar_scores(live.pipeline)
    if own is None:
        return []
    scores, labels = own
    answers = answered(live, live.pipeline.embeddings, scores)
    return [
        exemplar.id
        for exemplar, answer, row in zip(live.pipeline.exemplars, answers, labels, strict=True)
        if set(answer) != {live.columns[column] for column in np.flatnonzero(row)}
    ]


def _others(live_studio: LiveStudio, project_id: int, live: LiveModel) -> list[UtteranceRecord]:
    """Read the labelled utterances that are no exemplars: the test set, and out of scope."""
    exemplars = {exemplar.id for exemplar in live.pipeline.exemplars}
    page = utterances.Page(0, _MOST)
    parts = [
        utterances.Filter(split="test", state="labelled"),
        utterances.Filter(state="out-of-scope", synthetic=False),
    ]
    with live_studio.studio.database.read() as connection:
        records = [
            record
            for which in parts
            for record in utterances.read_page(connection, project_id, which, "oldest", page)[0]
        ]
    return [record for record in records if record.id not in exemplars]
