"""The blast radius of a repair: which answers it changes, told before anything is saved.

The repair's own changes are what is judged, the same that saving it would record. Exact for the
encoder as it is: the answers are those of votes fitted again. No forecast of a training.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from app.services.live.joining import Said
from app.services.live.models import wanted
from app.services.what_if.repairs import Repair, changes_of
from app.services.what_if.scope import MomentScope
from app.services.what_if.views import Answers, Blast, Close, Judged, Moment
from app.services.what_if.watched_texts import WatchedTextCache, Watching
from core.errors import InvalidInput
from core.text import match_key, normalise, text_hash
from core.types import FloatArray
from core.vectors import unit_rows
from storage import projects, vectors
from storage.database import Database
from storage.log import events
from storage.queries import dataset, utterances
from storage.records import Change, UtteranceRecord, row_of, utterance_record

if TYPE_CHECKING:
    from core.explain.blast_radius import ExemplarChange

_NEAR = 6
_CONFLICT = 0.8
"""Cosine from which on an example of another intent is worth a look."""


def prepare(watched_texts: WatchedTextCache, project: str) -> None:
    """See that the first preview need not wait long: somebody has opened what offers them.

    Raises:
        NotFound: There is no such project.
    """
    with watched_texts.live_studio.studio.database.read() as connection:
        found = projects.find(connection, project)
    watched_texts.prepare(found.id)


def preview(
    watched_texts: WatchedTextCache, project: str, repairs: Sequence[Repair]
) -> list[Blast]:
    """Tell what each of some repairs would do, alone; nothing is saved.

    Raises:
        Conflict: A repair cannot be done: a name is taken, say.
        InvalidInput: A value does not fit, or the model's head cannot say.
        NotFound: There is no model, or something is gone.
    """
    with watched_texts.live_studio.studio.database.read() as connection:
        found = projects.find(connection, project)
    watching = watched_texts.fenced(found)
    with watched_texts.live_studio.studio.database.read() as connection:
        found = projects.find(connection, project)
        touched = events.touched_since(connection, found.id, watching.live.revision)
        ids = sorted(key for subject, key in touched if subject == "utterance")
        there = utterances.by_ids(connection, found.id, ids)
        intents = dataset.intents(connection, found.id)
        planned = [changes_of(connection, found, repair) for repair in repairs]
        moved = {c.subject_id for changes in planned for c in changes if c.subject == "utterance"}
        head = events.head(connection, found.id)
        originals = there | utterances.by_ids(connection, found.id, sorted(moved - there.keys()))
    names = {intent.id: intent.name for intent in intents}
    now = Moment(watching.live.columns, {key: there.get(key) for key in ids}, names)
    now = replace(now, columns=_columns(now, watching))
    embed = _Embedder(watched_texts.live_studio.studio.database, watching.live.pipeline.encoder)
    before = watched_texts.answers(watching, head, lambda: _answers(embed, watching, now))
    pairs = zip(repairs, planned, strict=True)
    asked = _Asked(embed, watching, now, before, originals)
    return [_blast(asked, repair, changes) for repair, changes in pairs]


@dataclass(frozen=True, slots=True, eq=False)
class _Embedder:
    """Embeds texts, each once for a request; nothing is kept: half of it is half-typed."""

    database: Database
    encoder: Any
    met: dict[str, FloatArray] = field(default_factory=dict)

    def __call__(self, texts: Sequence[str]) -> FloatArray:
        hashes = [text_hash(text) for text in texts]
        fresh = dict(zip(hashes, texts, strict=True))
        fresh = {key: text for key, text in fresh.items() if key not in self.met}
        if fresh:
            with self.database.read() as connection:
                own = self.encoder.fingerprint
                known = vectors.get_many(connection, own, list(fresh), self.encoder.dim)
            self.met.update(known)
            missing = {key: text for key, text in fresh.items() if key not in known}
            if missing:
                rows = self.encoder.encode(list(missing.values()))
                self.met.update(zip(missing, rows, strict=True))
        none = np.zeros((0, self.encoder.dim), np.float32)
        return np.stack([self.met[key] for key in hashes]) if texts else none


@dataclass(frozen=True, slots=True, eq=False)
class _Asked:
    """What every preview of one request shares."""

    embed: _Embedder
    watching: Watching
    now: Moment
    before: Answers
    originals: Mapping[str, UtteranceRecord]


def _blast(asked: _Asked, repair: Repair, changes: Sequence[Change]) -> Blast:
    watching, then = asked.watching, _afterwards(asked, changes)
    before = _padded(asked.before, len(then.columns))
    after = before
    if any(change.subject == "utterance" for change in changes):
        after = _answers(asked.embed, watching, then)
    merged = (repair.intent, repair.value) if repair.kind == "merge" else None
    if merged and merged[0] in then.columns:
        source, into = (then.columns.index(key) for key in merged)
        before = before.copy()
        before[:, into] |= before[:, source]
        before[:, source] = False
    own = {change.subject_id for change in changes if change.subject == "utterance"}
    judged = Judged(watching, asked.now, then, (before, after))
    found = judged.blast(own, merged)
    if repair.kind == "add":
        return replace(found, **_collision(asked, repair))
    return found


def _afterwards(asked: _Asked, changes: Sequence[Change]) -> Moment:
    """Return the moment after changes that are not saved."""
    now, names = asked.now, dict(asked.now.names)
    records = dict(now.records)
    for change in changes:
        key = change.subject_id
        if change.subject == "intent":
            name = change.after["name"] if change.field == "row" else change.after
            names |= {key: name} if change.field in ("row", "name") else {}
        else:
            records[key] = _changed(records.get(key, asked.originals.get(key)), change)
    closed = {c.subject_id for c in changes if c.field == "archived" and c.after}
    then = Moment(now.columns, records, names, frozenset(closed))
    return replace(then, columns=_columns(then, asked.watching))


def _changed(record: UtteranceRecord | None, change: Change) -> UtteranceRecord | None:
    if change.field == "row":
        row = change.after
        return None if row is None else utterance_record(change.subject_id, row)
    if record is None:
        return None
    return utterance_record(record.id, row_of(record) | {change.field: change.after})


def _columns(moment: Moment, watching: Watching) -> tuple[str, ...]:
    """Columns of all intents that vote at a moment, or are expected of a text."""
    labels = [key for r in moment.records.values() if r for key in r.labels or ()]
    expected = [key for one in watching.texts for key in one.labels or ()]
    return tuple(dict.fromkeys((*moment.columns, *labels, *expected)))


def _padded(answers: Answers, wide: int) -> Answers:
    return np.pad(answers, [(0, 0), (0, wide - answers.shape[1])])


def _answers(embed: _Embedder, watching: Watching, moment: Moment) -> Answers:
    """Answer the watched texts as they would be at a moment."""
    from core.explain.blast_radius import blast_radius
    from core.explain.decisions import OUT_OF_SCOPE, decided

    live, wide = watching.live, len(moment.columns)
    calibration, task = live.pipeline.calibration, live.pipeline.task
    said = {key: wanted(record, task) for key, record in moment.records.items()}
    said = {key: now for key, now in said.items() if live.votes_as(key) != now}
    own = task == "single-label" and (
        len(calibration.thresholds) > 0 or calibration.familiarity_measure is not None
    )
    limit = calibration.threshold if task == "single-label" and not own else None
    scores, change = watching.watched.scores, None
    verdicts = None if task == "multi-label" else decided(scores, limit)
    if said:
        change = _vote_change(embed, watching, said, moment)
    scope = _scope(watching, change) if own else None
    if change is not None:
        unsure = None if scope is None else scope.unsure
        try:
            radius = blast_radius(watching.votes, watching.watched, change, limit, unsure)
        except ValueError as error:
            raise InvalidInput(
                "No example would be left.", "Keep one at least, or add others first."
            ) from error
        scores, verdicts = radius.scores, None if verdicts is None else radius.after
    answers = np.zeros((len(scores), wide), dtype=bool)
    if scope is not None and verdicts is not None:
        verdicts = np.where(scope.margins(scores) < 0, OUT_OF_SCOPE, verdicts)
    if verdicts is None:
        answers[:, : scores.shape[1]] = scores >= calibration.limits(scores.shape[1])
    else:
        rows = np.flatnonzero(verdicts != OUT_OF_SCOPE)
        answers[rows, verdicts[rows]] = True
    _answer_exactly(watching, said, moment.columns, answers)
    return answers


def _scope(watching: Watching, change: "ExemplarChange | None") -> MomentScope:
    """Return a fence that the core of votes does not know, with a change of the exemplars."""
    from core.explain.familiarity_after import beside_scores

    around = watching.around
    beside = None if around is None else beside_scores(around, change)
    return MomentScope(watching.live.pipeline.calibration, beside)


def _answer_exactly(
    watching: Watching,
    said: Mapping[str, Said | None],
    columns: Sequence[str],
    answers: Answers,
) -> None:
    """A text that exemplars say, too, is answered as they are labelled, where they agree."""
    place = {key: column for column, key in enumerate(columns)}
    touched = {match_key(now[0]) for now in said.values() if now}
    for key in watching.keys.keys() & (watching.twins.keys() | touched):
        labels = [had for by, had in watching.twins.get(key, {}).items() if by not in said]
        labels += [now[1] for now in said.values() if now and match_key(now[0]) == key]
        if labels and len(set(labels)) == 1:
            rows = np.array(watching.keys[key])
            answers[rows] = False
            for intent in labels[0]:
                answers[rows, place[intent]] = True


def _vote_change(
    embed: _Embedder,
    watching: Watching,
    said: Mapping[str, Said | None],
    moment: Moment,
) -> "ExemplarChange":
    """Return what is said otherwise than at the anchor, as the votes' core wants it."""
    from core.explain.blast_radius import ExemplarChange

    live, voters, columns = watching.live, watching.voters, moment.columns
    had = {key: live.votes_as(key) for key in said}
    stay = [k for k, now in said.items() if now and k in voters and had[k] and had[k][0] == now[0]]  # type: ignore[index]
    gone = [key for key in said if key in voters and key not in set(stay)]
    come = [now for key, now in said.items() if now and key not in set(stay)]
    place = {key: column for column, key in enumerate(columns)}

    def targets(labels: Sequence[tuple[str, ...]]) -> NDArray[np.float64]:
        found = np.zeros((len(labels), len(columns)))
        for row, of_text in enumerate(labels):
            found[row, [place[key] for key in of_text]] = 1.0
        return found

    voices = _voices(watching, had, said, moment)
    return ExemplarChange(
        voices=voices,
        added=embed([text for text, _ in come]),
        labels=targets([labels for _, labels in come]),
        removed=tuple(voters[key] for key in gone),
        relabelled=tuple(voters[key] for key in stay),
        relabels=targets([said[key][1] for key in stay]),  # type: ignore[index]
    )


def _voices(
    watching: Watching,
    had: Mapping[str, Said | None],
    said: Mapping[str, Said | None],
    moment: Moment,
) -> NDArray[np.float64] | None:
    """Return how much more or less names say after a change: alone until there is an example."""
    before = Counter(key for one in watching.live.base.said.values() for key in one[1])
    before.update(_gained(watching.live.base.said, watching.live.changes))
    after = before.copy()
    after.update(_gained(had, said))
    found = np.zeros((len(watching.texts), len(moment.columns)))
    for key, (alone, taught) in watching.spoken.items():
        if bool(before[key]) != bool(after[key]):
            left = 0.0 if key in moment.closed else alone
            turned = taught - alone if after[key] else left - taught
            found[:, moment.columns.index(key)] = turned
    return found if found.any() else None


def _gained(had: Mapping[str, Said | None], said: Mapping[str, Said | None]) -> Counter[str]:
    """Count how many examples more each intent has."""
    found = Counter(label for one in said.values() if one for label in one[1])
    found.subtract(label for k in said if (one := had.get(k)) for label in one[1])
    return found


def _collision(asked: _Asked, repair: Repair) -> dict[str, Any]:
    """What a new example would stand beside, and how it is answered now."""
    live, text = asked.watching.live, normalise(repair.value)
    pipeline = live.pipeline
    row = asked.embed([text])
    [answer] = pipeline.predict([text], row)
    cosines = pipeline.embeddings @ unit_rows(row)[0]
    label = tuple(sorted(repair.intents))
    near = list[Close]()
    for place in np.argsort(-cosines, kind="stable")[:_NEAR].tolist():
        exemplar, cosine = pipeline.exemplars[place], float(cosines[place])
        said = live.votes_as(exemplar.id)
        intents = said[1] if said else ()
        conflict = cosine >= _CONFLICT and tuple(sorted(intents)) != label
        near.append(Close(exemplar.id, exemplar.text, intents, cosine, conflict))
    return {"near": tuple(near), "now": answer.decision.words}
