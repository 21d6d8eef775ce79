"""Utterances whose label and the model disagree: the first place to look for label errors."""

import numpy as np

from app.services.embedding import embed_texts
from app.services.live import LiveModel
from app.services.workbench import Workbench
from storage import browse, projects

_MOST = 5_000


def differing_ids(bench: Workbench, project: str) -> tuple[str, ...]:
    """Ids of labelled utterances that the live model would label otherwise.

    An exemplar is judged by the others, leave-one-out; of the test split as by any prediction.
    """
    with bench.studio.database.read() as connection:
        found = projects.find(connection, project)
    live = bench.models.get(found.id)
    if live is None:
        return ()
    return (*_exemplars(live), *_tests(bench, found.id, live))


def _exemplars(live: LiveModel) -> list[str]:
    from core.heads.votes import VoteHead, leave_one_out

    head = live.pipeline.head
    if not isinstance(head, VoteHead) or head.diagonal is None:
        return []
    best = leave_one_out(head).argmax(1)
    wrong = np.flatnonzero(head.targets[np.arange(len(best)), best] < 0.5)
    return [live.pipeline.exemplars[row].id for row in wrong.tolist()]


def _tests(bench: Workbench, project_id: int, live: LiveModel) -> list[str]:
    which = browse.Filter(split="test", state="labelled")
    with bench.studio.database.read() as connection:
        records, _ = browse.page(connection, project_id, which, "oldest", (0, _MOST))
    if not records:
        return []
    rows = embed_texts(bench.studio.database, live.pipeline.encoder, [r.text for r in records])
    best = live.pipeline.head.scores(rows).argmax(1).tolist()
    return [
        record.id
        for record, column in zip(records, best, strict=True)
        if live.columns[column] not in (record.labels or ())
    ]
