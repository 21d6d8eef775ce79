"""Every vote behind a score, with the person who labelled its exemplar."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.services.explaining.counterfactuals import shown_examples
from app.services.explaining.explained_model import ExplainedModel
from app.services.explaining.views import Origin, Vote
from app.services.studio import Studio
from core.heads.mixture import voices_of, without_names
from core.heads.neighbours import NeighbourHead, neighbour_votes
from core.heads.votes.fit import VoteHead, votes
from core.types import FloatArray, ScoreArray
from core.vectors import cosines, nearest, unit_rows
from storage.log import versions
from storage.log.label_origins import GROUP, LabelOrigin, label_origins
from storage.records import DatasetVersionRecord

_SHOWN = 5
"""Examples shown for and against."""


@dataclass(frozen=True, slots=True, eq=False)
class VoteShares:
    """All votes for one intent on one text.

    Attributes:
        cosines: Cosines of the text and each exemplar, (m,).
        votes: Signed votes, (m,); zeros for a head without votes of single exemplars.
        prior: Part of the score that no exemplar gives.
        voice: Part that the intent's name and description give.
    """

    cosines: ScoreArray
    votes: ScoreArray
    prior: float
    voice: float = 0.0

    @property
    def rows(self) -> NDArray[np.int64]:
        """The heaviest exemplars for and against, by falling size; without votes the nearest."""
        if not self.votes.any():
            near: NDArray[np.int64] = nearest(self.cosines[None], _SHOWN)[0]
            return near
        rows = np.concatenate([_heaviest(self.votes), _heaviest(-self.votes)])
        falling: NDArray[np.int64] = rows[np.argsort(-np.abs(self.votes[rows]), kind="stable")]
        return falling


def _heaviest(votes: ScoreArray) -> NDArray[np.int64]:
    rows: NDArray[np.int64] = np.flatnonzero(votes > 0)
    return rows[np.argsort(-votes[rows], kind="stable")][:_SHOWN]


def vote_shares(model: ExplainedModel, embedding: FloatArray, column: int) -> VoteShares:
    """Compute each exemplar's vote for an intent on a text, embedded (d,)."""
    pipeline = model.pipeline
    near = cosines(unit_rows(embedding[None]), pipeline.embeddings)
    voice = float(voices_of(pipeline.head, embedding[None])[0, column])
    match without_names(pipeline.head):
        case VoteHead() as head:
            prior = float(head.prior[column])
            return VoteShares(near[0], votes(head, embedding)[:, column], prior, voice)
        case NeighbourHead() as head:
            return VoteShares(
                near[0], neighbour_votes(head, near, np.array([column]))[0], 0.0, voice
            )
        case _:
            return VoteShares(near[0], np.zeros(len(near[0])), 0.0, voice)


def shown_votes(studio: Studio, model: ExplainedModel, shares: VoteShares) -> tuple[Vote, ...]:
    """Return the heaviest votes, with the origins of their labels."""
    rows = shares.rows.tolist()
    chosen = shown_examples(model.pipeline, rows)
    origins = origins_of(studio, model, [example.id for example in chosen])
    sides = {
        side: max(float(np.clip(side * shares.votes, 0.0, None).sum()), 1e-12)
        for side in (1.0, -1.0)
    }
    return tuple(
        Vote(
            example,
            float(shares.cosines[row]),
            float(shares.votes[row]),
            abs(float(shares.votes[row])) / sides[1.0 if shares.votes[row] > 0 else -1.0],
            origins.get(example.id),
            example.id in model.hot,
        )
        for row, example in zip(rows, chosen, strict=True)
    )


def origins_of(studio: Studio, model: ExplainedModel, ids: Sequence[str]) -> dict[str, Origin]:
    """Return who gave the labels of examples, by id; empty for a bundle."""
    if model.project is None or not model.revision:
        return {}
    with studio.database.read() as connection:
        found = label_origins(connection, model.project.id, ids, model.revision)
        frozen = versions.list_all(connection, model.project.id)
    return {key: _origin(one, frozen) for key, one in found.items()}


def _origin(found: LabelOrigin, frozen: Sequence[DatasetVersionRecord]) -> Origin:
    first = next((one.number for one in frozen if one.revision >= found.revision), None)
    tells = found.origin.startswith("import") or found.origin == GROUP
    how = found.origin if tells else found.verb
    return Origin(found.actor, found.at, how, first, found.synthetic)
