"""Doubt the labels of examples that do not vote, by those that do."""

from dataclasses import replace

import numpy as np

from app.services.embedding import embed_known
from app.services.live.live_model import LiveModel
from app.services.live.live_studio import LiveStudio
from app.services.review.evidence.held import HeldExamples
from app.services.review.findings import Evidence
from app.services.review.unlearned import has_learned, unlearned_encoder
from core.heads.targets import target_matrix
from core.nearby.search import Nearby, nearby_among
from core.review.label_errors import suspicion
from core.types import Exemplar
from core.vectors import unit_rows

_MOST = 20_000
"""Further examples that are looked at: each is compared with all that vote."""

_MOST_NEW = 2_000
"""Most of them that are encoded within a request; a training has stored the embeddings of all."""


def with_others(
    live_studio: LiveStudio, live: LiveModel, evidence: Evidence, held: HeldExamples
) -> Evidence:
    """Add the examples that do not vote to evidence, of which the labels alone are judged then.

    Their labels had no part in the votes, so that these judge them as they are.
    """
    known = set(evidence.columns)
    wanted = [(key, said) for key, said in sorted(held.others.items()) if known.issuperset(said[1])]
    is_judged_by_base = has_learned(live_studio, live) and not evidence.learned
    encoder = unlearned_encoder(live_studio, live) if is_judged_by_base else live.pipeline.encoder
    if not wanted or encoder is None:
        return evidence
    texts = [text for _, (text, _) in wanted[:_MOST]]
    found, rows = embed_known(live_studio.studio.database, encoder, texts, _MOST_NEW)
    if not found:
        return evidence
    some = [wanted[at] for at in found]
    labels = tuple(said[1] for _, said in some)
    judges, head, near = evidence.judges, evidence.head, evidence.near
    targets = np.concatenate([head.targets, target_matrix(labels, evidence.columns)])
    pause = live_studio.traffic.give_way
    more = nearby_among(unit_rows(rows), judges.exemplars, near.rows.shape[1], pause)
    near = Nearby(
        np.concatenate([near.rows, more.rows]), np.concatenate([near.cosines, more.cosines])
    )
    scores = np.concatenate([evidence.doubted, judges.scores(rows)])
    return replace(
        evidence,
        exemplars=(*evidence.exemplars, *(Exemplar(key, said[0], said[1]) for key, said in some)),
        head=replace(head, targets=targets),
        labels=(*evidence.labels, *labels),
        doubted=scores,
        near=near,
        suspects=suspicion(scores, targets, near),
    )
