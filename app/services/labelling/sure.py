"""Accept all answers that the model is sure of, after a spot check of some of them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from app.services.data.bulk import Allowed, BulkAct
from app.services.data.utterances import ChangeView, label_each
from app.services.embedding import embed_texts
from app.services.live.answered_tests import labelled_tests, told_apart
from app.services.live.live_model import LiveModel, as_last_solved, is_untuned
from app.services.live.live_studio import LiveStudio
from app.services.live.pool import Pool
from app.services.live.row_answers import exemplar_scores
from app.services.studio import Studio
from core.calibration.calibration import probabilities
from core.errors import InvalidInput
from core.pipeline import IntentPipeline, hashes_of
from core.review.spot_check import Verdict, judge
from core.review.sure import UNTESTED, sure_limit
from core.text import counted
from core.types import FloatArray, ScoreArray
from storage import projects
from storage.people import spot_checks
from storage.people.spot_checks import Judged
from storage.queries import dataset, utterances

_FEWEST_TESTS = 100

CHECKED = 20
"""Texts of a spot check; of fewer sure texts, all are judged."""


@dataclass(frozen=True, slots=True)
class SureText:
    """An unlabelled text with the answer that the model is sure of."""

    id: str
    text: str
    intent_id: str
    probability: float


@dataclass(frozen=True, slots=True)
class SureView:
    """Texts that the model is sure of, the surest first.

    Attributes:
        n: Number of these texts; `texts` may hold only the first of them.
        looked_at: Number of unlabelled texts that were compared; of a large pool, a sample.
        limit: The lowest probability among the texts.
        expected: Expected share of wrong answers among those that belong to an intent, before any
            check.
        found: What all checks of this version's answers tell of these texts; None before the first.
        version: Number of the version that answers; 0 without one.
        check: Ids of the texts to judge, drawn at random by `seed`.
        revision: Revision of the project at which the texts were listed.
        counting: Whether the unlabelled texts are being read again; then nothing is listed.
    """

    texts: tuple[SureText, ...]
    n: int
    looked_at: int
    limit: float
    expected: float
    check: tuple[str, ...]
    seed: int
    revision: int
    counting: bool = False
    found: Verdict | None = None
    version: int = 0


@dataclass(frozen=True, slots=True)
class CheckedAnswers:
    """Answers to accept: an intent id for each text, as they were listed, and the judgements.

    `key` names the act: with the same key it is done once. `version` is the number of the version
    that answered; without it the judgements are not kept. With `judged_alone`, only the answers
    that were judged right are accepted.
    """

    answers: Mapping[str, str]
    right: frozenset[str]
    wrong: frozenset[str]
    seed: int
    revision: int
    expected: float
    key: str = ""
    version: int = 0
    judged_alone: bool = False


def list_sure(live_studio: LiveStudio, project: str, most: int | None = None) -> SureView:
    """List what the live model is sure of among the unlabelled texts outside the test set.

    At most `most` texts are listed; the number, the limit and the check are those of all. An answer
    that a check found wrong is left out.

    Without a model, or in a multi-label project, the list is empty. It is empty, too, while the
    texts are read again because many have changed or another version answers.

    Raises:
        NotFound: There is no such project.
    """
    with live_studio.studio.database.read() as connection:
        record = projects.find(connection, project)
    pools, head = live_studio.pools, record.head_revision
    pool, counting = None, False
    if record.task != "multi-label" and pools.wait(record.id) is not None:
        pool, counting = pools.settled(record.id)
    if pool is None or not pool.records:
        return SureView((), 0, 0, 1.0, 0.0, (), 0, head, counting)
    with live_studio.studio.database.read() as connection:
        usable = set(dataset.open_intents(connection, record.id))
        # Since the pool was evaluated, some may have been labelled or moved to the test set.
        now = utterances.by_ids(connection, record.id, [text.id for text in pool.records])
        judged = spot_checks.judged_of(connection, record.id, pool.live.version.number)
    waiting = {
        text.id
        for text in now.values()
        if text.labels is None and not text.skipped and text.split != "test"
    }
    rows, expected = _sure(live_studio, record.id, pool, usable, waiting)
    sure = (_sure_text(pool, row) for row in rows)
    texts = tuple(one for one in sure if judged.get(one.id) != (one.intent_id, False))
    seed = head + len(judged)  # a further check draws other texts
    return SureView(
        texts[:most],
        len(texts),
        len(waiting),
        texts[-1].probability if texts else 1.0,
        expected,
        draw([text.id for text in texts], seed),
        seed=seed,
        revision=head,
        found=_found(judged, {text.id: text.intent_id for text in texts}, expected),
        version=pool.live.version.number,
    )


def _found(judged: Judged, answers: Mapping[str, str], expected: float) -> Verdict | None:
    """Return what all judgements say of the answers, of which those judged need no guess."""
    if not judged:
        return None
    wrong = sum(not right for _, right in judged.values())
    rest = sum(judged.get(text, ("", False))[0] != intent for text, intent in answers.items())
    return judge(len(judged), wrong, rest, expected)


def draw(ids: list[str], seed: int) -> tuple[str, ...]:
    """Draw the texts of a spot check; the same ones for the same ids, in any order, and seed."""
    ordered = sorted(ids)
    chosen = np.random.default_rng(seed).permutation(len(ordered))[:CHECKED]
    return tuple(ordered[row] for row in chosen.tolist())


def conclude(studio: Studio, project: str, checked: CheckedAnswers) -> Verdict:
    """Keep the judgements; return the errors to expect among the texts that were not judged.

    All judgements of this version's answers count, those of earlier checks too.

    Raises:
        NotFound: There is no such project.
        InvalidInput: A text of the spot check was not judged.
    """
    check = set(draw(list(checked.answers), checked.seed))
    if check != checked.right | checked.wrong:
        n = len(check - checked.right - checked.wrong)
        raise InvalidInput(
            f"{counted(n, 'text')} of the spot check {'is' if n == 1 else 'are'} not judged.",
            "Judge each of them, then accept the rest.",
        )
    judged: Judged = {key: (checked.answers[key], key in checked.right) for key in check}
    with studio.database.write() as connection:
        record = projects.find(connection, project)
        if checked.version:
            judged = spot_checks.keep_judged(connection, record.id, checked.version, judged)
    verdict = _found(judged, checked.answers, checked.expected)
    return verdict or judge(0, 0, 0, checked.expected)


def accept_sure(studio: Studio, project: str, checked: CheckedAnswers) -> ChangeView:
    """Label the texts with the listed answers, those judged wrong excepted, as one action.

    Texts of the test set, and texts that have a label or changed since they were listed, are left
    as they are.

    Raises:
        Conflict: Texts were deleted since.
        InvalidInput: A text of the spot check was not judged.
    """
    conclude(studio, project, checked)
    kept = checked.right if checked.judged_alone else checked.answers.keys() - checked.wrong
    labels = {key: value for key, value in checked.answers.items() if key in kept}
    act = BulkAct(len(labels), Allowed(revision=checked.revision), checked.key)
    return label_each(studio, project, labels, act)


def _sure(
    live_studio: LiveStudio, project_id: int, pool: Pool, usable: set[str], waiting: set[str]
) -> tuple[list[int], float]:
    """Return rows of the pool, the surest first, and the expected share of errors."""
    limit, expected = _limit(live_studio, project_id, pool.live)
    best, shares = pool.probabilities.argmax(1).tolist(), pool.probabilities.max(1)
    rows = [
        row
        for row, record in enumerate(pool.records)
        if shares[row] >= limit
        and not pool.outside[row]
        and record.id in waiting
        and pool.live.columns[best[row]] in usable
    ]
    return sorted(rows, key=lambda row: -float(shares[row])), expected


def _limit(live_studio: LiveStudio, project_id: int, live: LiveModel) -> tuple[float, float]:
    """Return the limit for a probability, and the expected share of errors above it.

    Exemplars tell it where the encoder never saw their labels, else the labelled test texts. Both
    are scored by the votes as last solved: with each label that joins, a limit by errors that few
    texts make may leap. Once many labels have joined (`joining.has_many`), the votes are solved
    with them, and the limit follows. Test texts that the model has learned, then or since, are left
    out. Texts out of scope are not among them, so their share of errors comes on top.
    """
    from core.heads.folds import said_rows, sources_of

    pipeline = as_last_solved(live)
    studio = live_studio.studio
    own = exemplar_scores(studio, replace(live, pipeline=pipeline)) if is_untuned(live) else None
    if own is not None:
        said, (scores, targets) = said_rows(sources_of(pipeline.exemplars)), own
        return _judged(pipeline, pipeline.embeddings[said], scores[said], targets[said])
    taught = hashes_of(text for text, _ in live.taught.values())
    knows = replace(live.pipeline, learned=live.pipeline.learned | taught)
    every = labelled_tests(studio.database, project_id, with_none=False)
    tests, _ = told_apart(replace(live, pipeline=knows), every)
    if len(tests) < _FEWEST_TESTS:
        return UNTESTED
    rows = embed_texts(studio.database, pipeline.encoder, [text.text for text in tests])
    labels = np.array([[key in (text.labels or ()) for key in live.columns] for text in tests])
    return _judged(pipeline, rows, pipeline.head.scores(rows), labels)


def _judged(
    pipeline: IntentPipeline, rows: FloatArray, scores: ScoreArray, labels: NDArray[np.bool_]
) -> tuple[float, float]:
    calibration = pipeline.calibration
    inside = np.asarray(calibration.inside(rows, scores))
    right = labels[np.arange(len(scores)), scores.argmax(1)]
    shares = probabilities(scores, calibration).max(1)
    return sure_limit(shares[inside], right[inside])


def _sure_text(pool: Pool, row: int) -> SureText:
    record, column = pool.records[row], int(pool.probabilities[row].argmax())
    share = float(pool.probabilities[row, column])
    return SureText(record.id, record.text, pool.live.columns[column], share)
