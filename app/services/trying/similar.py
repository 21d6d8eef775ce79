"""Find utterances that are similar to some texts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from app.services.live.live_studio import LiveStudio, open_live
from core.vectors import unit_rows
from storage.queries import utterances
from storage.records import UtteranceRecord

_AT_ONCE = 256


@dataclass(frozen=True, slots=True)
class Similar:
    """An utterance with its cosine to the given texts."""

    record: UtteranceRecord
    cosine: float


def find_similar(
    live_studio: LiveStudio, project: str, texts: Sequence[str], n: int, *, unlabelled: bool
) -> list[Similar]:
    """Find n utterances similar to a tray of texts, by cosine to the tray's mean direction.

    They are unlabelled utterances, or else exemplars.
    """
    record, live = open_live(live_studio, project)
    rows = unit_rows(live.pipeline.encoder.encode(list(texts)))
    centre = unit_rows(rows.mean(0, keepdims=True))[0]
    if unlabelled:
        pool = live_studio.pools.wait(record.id)
        if pool is None:
            return []
        ids, closeness = [record.id for record in pool.records], pool.embeddings @ centre
    else:
        ids = [exemplar.id for exemplar in live.pipeline.exemplars]
        closeness = live.pipeline.embeddings @ centre
    tray = set(texts) if unlabelled else set()
    ranked = [(ids[row], float(closeness[row])) for row in np.argsort(-closeness, kind="stable")]
    near = _records(live_studio, record.id, ranked)
    fitting = (s for s in near if not unlabelled or s.record.labels is None)
    return list(islice((s for s in fitting if s.record.text not in tray), n))


def _records(
    live_studio: LiveStudio, project_id: int, ranked: Sequence[tuple[str, float]]
) -> Iterator[Similar]:
    """Yield utterances with their cosines, in order, without deleted ones."""
    for start in range(0, len(ranked), _AT_ONCE):
        part = ranked[start : start + _AT_ONCE]
        with live_studio.studio.database.read() as connection:
            records = utterances.by_ids(connection, project_id, [key for key, _ in part])
        yield from (Similar(records[key], cosine) for key, cosine in part if key in records)
