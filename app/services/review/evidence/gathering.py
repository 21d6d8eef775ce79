"""Gather the evidence of a review from the live model, once for each revision."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from app.services.cache import of_version
from app.services.embedding import digest_of, embed_texts
from app.services.live.answered_tests import told_apart
from app.services.live.live_model import LiveModel
from app.services.live.live_studio import LiveStudio
from app.services.live.row_answers import answered, echoed_ids, exemplar_scores, left_out
from app.services.review.evidence.held import HeldExamples
from app.services.review.findings import (
    VOTE_SETTINGS,
    Evidence,
    labels_of,
    votes_held_out,
    votes_of,
)
from app.services.review.unlearned import has_learned, unlearned_rows
from app.services.studio import Studio
from core.heads.votes.fit import VoteHead, fit_votes
from core.nearby.search import Nearby, nearby
from core.review.label_errors import NEIGHBOURS, suspicion
from core.types import Exemplar, FloatArray, ScoreArray
from storage.queries import dataset, slots, utterances
from storage.queries.utterances import Filter, Page
from storage.records import ProjectRecord, UtteranceRecord

_TESTS = Page(0, 10_000)


def evidence_of(
    live_studio: LiveStudio, project: ProjectRecord, live: LiveModel, held: HeldExamples
) -> Evidence:
    """Return the evidence on the examples that a project holds, of which there is one at least.

    Raises:
        InvalidInput: There are too many examples to fit votes for the review.
    """
    return live_studio.studio.cache.get_newest(
        ("evidence", of_version(live.version)),
        (live.revision, repr(project.fence), bool(echoed_ids(live))),
        lambda: _gather(live_studio, project, live, held.rows),
        lambda made: made.size,
    )


def _gather(
    live_studio: LiveStudio, project: ProjectRecord, live: LiveModel, rows: NDArray[np.int64]
) -> Evidence:
    head, database = votes_of(live, rows), live_studio.studio.database
    with database.read() as connection:
        names = dataset.intent_names(connection, project.id)
        which = Filter(split="test", state="labelled")
        tests, _ = utterances.read_page(connection, project.id, which, "oldest", _TESTS)
        synthetic = slots.synthetic_ids(connection, project.id)
    test_rows: FloatArray = np.zeros((0, head.exemplars.shape[1]), np.float32)
    if tests:
        texts = [record.text for record in tests]
        test_rows = embed_texts(database, live.pipeline.encoder, texts)
    exemplars = tuple(live.pipeline.exemplars[row] for row in rows.tolist())
    labels = labels_of(live)
    held_out = votes_held_out(live_studio.studio, live, head, rows)
    judges, near, learned = _judges(live_studio, live, exemplars, head)
    fresh = _are_fresh(live, tests)
    doubted = held_out if judges is head else left_out(judges, exemplars)
    return Evidence(
        version=live.version,
        task=live.pipeline.task,
        exemplars=exemplars,
        head=replace(head, root=None),
        columns=live.columns,
        names=names,
        labels=tuple(labels[row] for row in rows.tolist()),
        held_out=held_out,
        judges=replace(judges, root=None),
        doubted=doubted,
        near=near,
        suspects=suspicion(doubted, head.targets, near),
        tests=tuple(tests),
        test_rows=test_rows,
        answers=_answers(live_studio.studio, live, rows, held_out),
        test_answers=_test_answers(live, tests, test_rows, fresh),
        fresh=fresh,
        learned=learned,
        synthetic=synthetic,
    )


def _judges(
    live_studio: LiveStudio, live: LiveModel, exemplars: Sequence[Exemplar], head: VoteHead
) -> tuple[VoteHead, Nearby, bool]:
    """Return the votes and neighbours of an encoder that did not learn the labels.

    Where it is not here any more, they are those of the live one, and the third value is True.
    """
    rows = unlearned_rows(live_studio, live, [exemplar.text for exemplar in exemplars])
    if rows is None:
        return head, _nearby(live_studio, live, exemplars, head), has_learned(live_studio, live)
    votes = fit_votes(rows, head.targets, head.intents, *VOTE_SETTINGS)
    return votes, nearby(rows, NEIGHBOURS, live_studio.traffic.give_way), False


def _nearby(
    live_studio: LiveStudio, live: LiveModel, exemplars: Sequence[Exemplar], head: VoteHead
) -> Nearby:
    """Return the neighbours of the examples, which do not depend on labels."""
    words = [word for one in exemplars for word in (one.id, one.text)]
    series = ("nearby", of_version(live.version), live.pipeline.encoder.fingerprint)

    def make() -> Nearby:
        return nearby(head.exemplars, NEIGHBOURS, live_studio.traffic.give_way)

    return live_studio.studio.cache.get_newest(
        series, digest_of(words), make, lambda made: 12 * made.rows.size
    )


def _answers(
    studio: Studio, live: LiveModel, rows: NDArray[np.int64], held_out: ScoreArray
) -> tuple[str | None, ...]:
    """Return the intents that examples get as pages tell them; None: refused."""
    own = exemplar_scores(studio, live)
    scores = held_out if own is None else own[0][rows]
    return _first(answered(live, live.pipeline.embeddings[rows], scores))


def _are_fresh(live: LiveModel, tests: Sequence[UtteranceRecord]) -> NDArray[np.bool_]:
    """Return which test texts the model has not learned, (n,)."""
    fresh = {record.id for record in told_apart(live, tests)[0]}
    return np.array([record.id in fresh for record in tests], dtype=bool)


def _test_answers(
    live: LiveModel,
    tests: Sequence[UtteranceRecord],
    rows: FloatArray,
    fresh: NDArray[np.bool_],
) -> tuple[str | None, ...]:
    """Return the intents that test texts get as pages tell them; None: refused, or learned."""
    judged = answered(live, rows, live.pipeline.head.scores(rows)) if tests else []
    both = zip(_first(judged), fresh.tolist(), strict=True)
    return tuple(said if is_fresh else None for said, is_fresh in both)


def _first(answers: Sequence[Sequence[str]]) -> tuple[str | None, ...]:
    return tuple(intents[0] if intents else None for intents in answers)
