"""Every vote behind a score, with whose label it is."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.services.explaining.explained_model import Subject
from app.services.explaining.views import Example, Origin, Vote
from app.services.studio import Studio
from core.types import Exemplar, FloatArray, ScoreArray
from core.vectors import cosines, nearest, unit_rows
from storage.log import versions
from storage.log.label_origins import LabelOrigin, label_origins
from storage.records import DatasetVersionRecord

_SHOWN = 5
"""Examples on each side."""


@dataclass(frozen=True, slots=True, eq=False)
class Ballot:
    """All votes for one intent on one text.

    Attributes:
        cosines: Of the text and each exemplar, (m,).
        votes: Signed, (m,); zeros where the head counts no votes of single exemplars.
        prior: What no exemplar gave.
        voice: What the intent's name and description gave.
    """

    cosines: ScoreArray
    votes: ScoreArray
    prior: float
    voice: float = 0.0

    @property
    def rows(self) -> NDArray[np.int64]:
        """The heaviest exemplars of both sides, by falling size; without votes the nearest."""
        if not self.votes.any():
            return nearest(self.cosines[None], min(_SHOWN, len(self.cosines)))[0]
        found = [_heaviest(side * self.votes) for side in (1.0, -1.0)]
        rows = np.concatenate(found)
        return rows[np.argsort(-np.abs(self.votes[rows]), kind="stable")]


def _heaviest(votes: ScoreArray) -> NDArray[np.int64]:
    rows: NDArray[np.int64] = np.flatnonzero(votes > 0)
    return rows[np.argsort(-votes[rows], kind="stable")][:_SHOWN]


def ballot_of(subject: Subject, embedding: FloatArray, column: int) -> Ballot:
    """Count each exemplar's vote for an intent on a text, embedded (d,)."""
    from core.heads.mixture import learned, voices_of
    from core.heads.neighbours import NeighbourHead, neighbour_votes
    from core.heads.votes.fit import VoteHead, votes

    pipeline = subject.pipeline
    near = cosines(unit_rows(embedding[None]), pipeline.embeddings)
    voice = float(voices_of(pipeline.head, embedding[None])[0, column])
    match learned(pipeline.head):
        case VoteHead() as head:
            prior = float(head.prior[column])
            return Ballot(near[0], votes(head, embedding)[:, column], prior, voice)
        case NeighbourHead() as head:
            return Ballot(near[0], neighbour_votes(head, near, np.array([column]))[0], 0.0, voice)
        case _:
            return Ballot(near[0], np.zeros(len(near[0])), 0.0, voice)


def shown_votes(studio: Studio, subject: Subject, ballot: Ballot) -> tuple[Vote, ...]:
    """Name the heaviest votes of a ballot, and whose labels they are."""
    rows = ballot.rows.tolist()
    chosen: list[Exemplar] = [subject.pipeline.exemplars[row] for row in rows]
    origins = _origins(studio, subject, [exemplar.id for exemplar in chosen])
    sides = {
        side: max(float(np.clip(side * ballot.votes, 0.0, None).sum()), 1e-12)
        for side in (1.0, -1.0)
    }
    return tuple(
        Vote(
            Example(exemplar.id, exemplar.text, exemplar.intents),
            float(ballot.cosines[row]),
            float(ballot.votes[row]),
            abs(float(ballot.votes[row])) / sides[1.0 if ballot.votes[row] > 0 else -1.0],
            origins.get(exemplar.id),
            exemplar.id in subject.hot,
        )
        for row, exemplar in zip(rows, chosen, strict=True)
    )


def _origins(studio: Studio, subject: Subject, ids: Sequence[str]) -> dict[str, Origin]:
    if subject.project is None or not subject.revision:
        return {}
    with studio.database.read() as connection:
        found = label_origins(connection, subject.project.id, ids, subject.revision)
        frozen = versions.list_all(connection, subject.project.id)
    return {key: _origin(one, frozen) for key, one in found.items()}


def _origin(found: LabelOrigin, frozen: Sequence[DatasetVersionRecord]) -> Origin:
    first = next((one.number for one in frozen if one.revision >= found.revision), None)
    how = found.origin if found.origin.startswith("import") else found.verb
    return Origin(found.actor, found.at, how, first, found.synthetic)
