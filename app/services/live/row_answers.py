"""The live model's answers to some of a project's utterances, without their own votes."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from app.services.cache import of_version
from app.services.embedding import digest_of, embed_texts
from app.services.live.catching_up import SOLVED_AT_ONCE
from app.services.live.joining import amendment
from app.services.live.live_model import LiveModel
from app.services.live.models import LiveModels
from app.services.studio import Studio
from core.explain.solved_votes import solve_votes
from core.heads.folds import left_with_source, sources_of
from core.heads.mixture import voices_of, without_names
from core.heads.votes.fit import Corner, VoteHead, leave_one_out
from core.recipes.labels import LEARN_FROM_LABELS
from core.text import match_key
from core.types import Exemplar, FloatArray, ScoreArray
from storage import projects
from storage.queries import utterances
from storage.records import UtteranceRecord

_HALF = 0.5


class AnsweredText(Protocol):
    """The part of an utterance that its answer depends on."""

    @property
    def id(self) -> str:
        """Id of the utterance."""
        ...

    @property
    def text(self) -> str:
        """What was said."""
        ...

    @property
    def labels(self) -> tuple[str, ...] | None:
        """Ids of its intents; None without a label."""
        ...


@dataclass(frozen=True, slots=True)
class RowAnswer:
    """An answer to one utterance; `intents` are ids, none of them if it is out of scope.

    `differs` means that the utterance has a label and this is not the answer.
    """

    id: str
    intents: tuple[str, ...]
    differs: bool


@dataclass(frozen=True, slots=True)
class RowAnswers:
    """Answers, or none while the model is not loaded; `version` is the model's number."""

    version: int | None
    ready: bool
    answers: tuple[RowAnswer, ...]


def answer_rows(studio: Studio, models: LiveModels, project: str, ids: Sequence[str]) -> RowAnswers:
    """Answer utterances by the model as it is in memory; never waits for it to load.

    Exemplars are answered without their own vote, which would repeat their label.

    Raises:
        NotFound: There is no such project.
    """
    with studio.database.read() as connection:
        project_id = projects.find(connection, project).id
        found = utterances.by_ids(connection, project_id, ids)
    live = models.loaded(project_id)
    if live is None:
        return RowAnswers(None, ready=False, answers=())
    records = [found[key] for key in ids if key in found]
    return RowAnswers(
        live.version.number, ready=True, answers=answer_records(studio, live, records)
    )


def exemplar_scores(studio: Studio, live: LiveModel) -> tuple[ScoreArray, NDArray[np.bool_]] | None:
    """Return each exemplar's scores without its own vote, and its labels; (exemplars, intents).

    What was made of it does not vote either, as `left_out` tells. None if the model's head has no
    votes to leave out.
    """
    scores, pipeline = votes_left_out(studio, live), live.pipeline
    head = _votes_of(live)
    if scores is None or head is None:
        return None
    return scores + voices_of(pipeline.head, pipeline.embeddings), head.targets > _HALF


def echoed_ids(live: LiveModel) -> frozenset[str]:
    """Return ids of exemplars on which what was made of them votes, as `left_out` tells."""
    head, exemplars = _votes_of(live), live.pipeline.exemplars
    if head is None or not _is_left_alone(head, exemplars, is_solved=_is_solved(live)):
        return frozenset()
    return frozenset(one.synthetic for one in exemplars if one.synthetic)


def _votes_of(live: LiveModel) -> VoteHead | None:
    """Return a model's votes; None if none can be left out."""
    head = without_names(live.pipeline.head)
    return head if isinstance(head, VoteHead) and head.diagonal is not None else None


def _is_solved(live: LiveModel) -> bool:
    return live.base.basis is not None


def _corner_of(live: LiveModel, head: VoteHead) -> Corner | None:
    """Return the inverse of a model's votes where it is at hand: of the base, or as amended."""
    base = live.base
    if base.basis is None:
        return None
    is_base = not live.changes or head is without_names(base.pipeline.head)
    return solve_votes(base.basis, None if is_base else amendment(base, live.changes)).corner


def left_out(
    head: VoteHead, exemplars: Sequence[Exemplar], corner: Corner | None = None
) -> ScoreArray:
    """Score each exemplar without its own vote and without those of what was made of it.

    Of a large set whose root is not at hand, nor a `corner` of its votes, each exemplar alone is
    left out: to solve its votes anew would take longer than a page may wait.
    """
    scores = leave_one_out(head)
    if _is_left_alone(head, exemplars, is_solved=corner is not None):
        return scores
    return left_with_source(head, scores, sources_of(exemplars), corner)


def _is_left_alone(head: VoteHead, exemplars: Sequence[Exemplar], *, is_solved: bool) -> bool:
    is_large = head.root is None and not is_solved and len(exemplars) > SOLVED_AT_ONCE
    return is_large or not any(one.synthetic for one in exemplars)


def votes_left_out(studio: Studio, live: LiveModel) -> ScoreArray | None:
    """Return the votes on a model's exemplars as `left_out` does; None if none can be left out.

    They are kept where what was made of an exemplar is left out, too.
    """
    head, exemplars = _votes_of(live), live.pipeline.exemplars
    if head is None:
        return None
    if _is_left_alone(head, exemplars, is_solved=_is_solved(live)):
        return leave_one_out(head)
    words = [word for one in exemplars for word in (one.id, one.text, *one.intents)]
    return studio.cache.get_newest(
        ("votes without what was made", of_version(live.version)),
        digest_of([*live.columns, *words]),
        lambda: left_out(head, exemplars, _corner_of(live, head)),
        lambda votes: int(votes.nbytes),
    )


class RowAnswering:
    """Answers utterances by one state of a live model; what they have in common is found once."""

    def __init__(self, studio: Studio, live: LiveModel) -> None:
        """Answer by a model of a studio."""
        self.studio, self.live = studio, live

    def scores(self, records: Sequence[AnsweredText], rows: FloatArray) -> ScoreArray:
        """Score embedded utterances, (n, d), exemplars without their own vote; (n, intents)."""
        scores = self.live.pipeline.head.scores(rows)
        own = self._own if any(one.id in self._places for one in records) else None
        if own is None:
            return scores
        mixed = scores.copy()
        for row, record in enumerate(records):
            if record.id in self._places:
                mixed[row] = own[self._places[record.id]]
        return mixed

    def answers(
        self, records: Sequence[AnsweredText], rows: FloatArray, scores: ScoreArray
    ) -> tuple[RowAnswer, ...]:
        """Answer utterances by their embeddings (n, d) and scores (n, intents).

        An example whose answer would repeat the label that it had before is answered with its new
        one.
        """
        twins, own, live = self._twins, self._places, self.live
        answers = [
            (record, given if record.id in own else twins.get(match_key(record.text), given))
            for record, given in zip(records, answered(live, rows, scores), strict=True)
        ]
        answers = [
            (r, r.labels if r.labels and r.id in own and _echoes(live, r, said) else said)
            for r, said in answers
        ]
        return tuple(
            RowAnswer(
                record.id, given, record.labels is not None and set(given) != set(record.labels)
            )
            for record, given in answers
        )

    @cached_property
    def _places(self) -> dict[str, int]:
        """Row of each exemplar, by id."""
        return {exemplar.id: row for row, exemplar in enumerate(self.live.pipeline.exemplars)}

    @cached_property
    def _own(self) -> ScoreArray | None:
        """Scores of the exemplars without their own votes; None if none can be left out."""
        found = exemplar_scores(self.studio, self.live)
        return None if found is None else found[0]

    @cached_property
    def _twins(self) -> dict[str, tuple[str, ...]]:
        """Intent ids of texts that an example decides because it says just the same."""
        live = self.live
        ids = dict(zip(live.pipeline.head.intents, live.columns, strict=True))
        return {
            key: tuple(ids[name] for name in names if name in ids)
            for key, names in live.pipeline.exact.items()
        }


def answer_records(
    studio: Studio, live: LiveModel, records: Sequence[UtteranceRecord]
) -> tuple[RowAnswer, ...]:
    """Answer utterances by a live model, exemplars among them without their own vote."""
    if not records:
        return ()
    answering = RowAnswering(studio, live)
    return answering.answers(records, *score_records(answering, records))


def score_records(
    answering: RowAnswering, records: Sequence[UtteranceRecord]
) -> tuple[FloatArray, ScoreArray]:
    """Return embeddings (n, d) and scores (n, intents), exemplars' without their own vote."""
    encoder = answering.live.pipeline.encoder
    texts = [record.text for record in records]
    rows = embed_texts(answering.studio.database, encoder, texts)
    return rows, answering.scores(records, rows)


def _echoes(live: LiveModel, record: AnsweredText, given: Sequence[str]) -> bool:
    """Whether an answer repeats a label that was corrected after the encoder had learned it.

    A tuned encoder lays a text beside those of the label that it had, so the others vote for that.
    """
    kind = live.version.lineage.get("recipe", {}).get("kind")
    text, learned = live.taught.get(record.id, ("", ()))
    corrected = text == record.text and set(learned) != set(record.labels or ())
    return corrected and kind in LEARN_FROM_LABELS and set(given) == set(learned)


def answered(live: LiveModel, rows: FloatArray, scores: ScoreArray) -> list[tuple[str, ...]]:
    """Return the intent ids of each answer, by embeddings (n, d) and scores (n, intents)."""
    calibration = live.pipeline.calibration
    if live.pipeline.task == "multi-label":
        within = scores >= calibration.limits(scores.shape[1])
        return [tuple(live.columns[j] for j in np.flatnonzero(line)) for line in within]
    inside = calibration.inside(rows, scores)
    best = scores.argmax(1)
    return [(live.columns[j],) if ok else () for j, ok in zip(best, inside, strict=True)]
