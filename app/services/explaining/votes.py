"""Every vote behind a score, with the person who labelled its exemplar."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from app.services.explaining.counterfactuals import shown_examples
from app.services.explaining.explained_model import ExplainedModel
from app.services.explaining.views import Origin, Vote
from app.services.studio import Studio
from core.explain.twins import Together, told_together
from core.heads.mixture import voices_of, without_names
from core.heads.neighbours import NeighbourHead, neighbour_votes
from core.heads.votes.fit import VoteHead, votes_for
from core.pipeline import IntentPipeline
from core.types import FloatArray, Neighbour, Prediction, Reason, ScoreArray
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


def _groups(pipeline: IntentPipeline, shares: VoteShares) -> list[Together]:
    """Return the exemplars by falling size of their joint votes; without votes the nearest."""
    if not shares.votes.any():
        near = nearest(shares.cosines[None], _SHOWN)[0].tolist()
        return [Together(row, (), 0.0) for row in near]
    labels = [exemplar.intents for exemplar in pipeline.exemplars]
    return told_together(pipeline.embeddings, labels, shares.cosines, shares.votes)


def _shown(groups: Sequence[Together], shares: VoteShares) -> list[Together]:
    """Return the heaviest groups for and against, and the nearest; without votes all."""
    against = [one for one in groups if one.vote < 0]
    rest = [one for one in groups if one.vote >= 0]
    return _and_nearest([*rest[:_SHOWN], *against[:_SHOWN]], groups, shares)


def _and_nearest(
    shown: Sequence[Together], groups: Sequence[Together], shares: VoteShares
) -> list[Together]:
    """Add the group of the most similar exemplar, if there is any; all by falling size.

    What others say nearly as well has a weak vote, even where it is most similar to the text.
    """
    if not groups:
        return list(shown)
    row = int(shares.cosines.argmax())
    more = [one for one in groups if row in one.rows and one not in shown]
    return sorted([*shown, *more], key=lambda one: -abs(one.vote))


def with_twins(
    pipeline: IntentPipeline, prediction: Prediction, embedding: FloatArray
) -> Prediction:
    """Tell exemplars that say nearly the same together, in the reasons for an embedded text (d,).

    As many votes as before are shown, and that of the most similar exemplar; those and all others
    sum to the score still.
    """
    reasons = tuple(_with_twins(pipeline, one, embedding) for one in prediction.reasons)
    return replace(prediction, reasons=reasons)


def _with_twins(pipeline: IntentPipeline, reason: Reason, embedding: FloatArray) -> Reason:
    if reason.by_name:  # no example of it votes
        return reason
    shares = vote_shares(pipeline, embedding, pipeline.head.intents.index(reason.intent))
    if not shares.votes.any():
        return reason
    groups = _groups(pipeline, shares)
    shown = _and_nearest(groups[: len(reason.neighbours)], groups, shares)
    neighbours = tuple(_neighbour(pipeline, shares, one) for one in shown)
    return replace(reason, neighbours=neighbours)


def _neighbour(pipeline: IntentPipeline, shares: VoteShares, group: Together) -> Neighbour:
    one, twins = pipeline.exemplars[group.row], _texts(pipeline, group)
    cosine = float(shares.cosines[group.row])
    return Neighbour(one.id, one.text, one.intents, cosine, group.vote, twins)


def _texts(pipeline: IntentPipeline, group: Together) -> tuple[str, ...]:
    return tuple(pipeline.exemplars[row].text for row in group.others)


def vote_shares(pipeline: IntentPipeline, embedding: FloatArray, column: int) -> VoteShares:
    """Compute each exemplar's vote for an intent on a text, embedded (d,)."""
    near = cosines(unit_rows(embedding[None]), pipeline.embeddings)
    voice = float(voices_of(pipeline.head, embedding[None])[0, column])
    match without_names(pipeline.head):
        case VoteHead() as head:
            prior = float(head.prior[column])
            signed = votes_for(head, near, np.array([column]))[0]
            return VoteShares(near[0], signed, prior, voice)
        case NeighbourHead() as head:
            return VoteShares(
                near[0], neighbour_votes(head, near, np.array([column]))[0], 0.0, voice
            )
        case _:
            return VoteShares(near[0], np.zeros(len(near[0])), 0.0, voice)


def shown_votes(studio: Studio, model: ExplainedModel, shares: VoteShares) -> tuple[Vote, ...]:
    """Return the heaviest votes for and against, with the origins of their labels."""
    groups = _shown(_groups(model.pipeline, shares), shares)
    chosen = shown_examples(model.pipeline, [group.row for group in groups])
    origins = origins_of(studio, model, [example.id for example in chosen])
    sides = {
        side: max(float(np.clip(side * shares.votes, 0.0, None).sum()), 1e-12)
        for side in (1.0, -1.0)
    }
    return tuple(
        Vote(
            example,
            float(shares.cosines[group.row]),
            group.vote,
            abs(group.vote) / sides[1.0 if group.vote > 0 else -1.0],
            origins.get(example.id),
            example.id in model.hot,
            _texts(model.pipeline, group),
        )
        for group, example in zip(groups, chosen, strict=True)
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
