"""Which answers a repair would change, computed before anything is saved.

The changes that are judged are the ones that saving the repair would record. The answers are exact
for the present encoder: those of votes fitted again. They do not predict the result of a training.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from app.services.live.joining import Said
from app.services.live.live_model import exemplar_of
from app.services.live.live_studio import open_live
from app.services.what_if.embedder import Embedder
from app.services.what_if.prepared_texts import Answers, PreparedTexts
from app.services.what_if.repairs import Repair, changes_of
from app.services.what_if.touched import (
    ExamplesNow,
    finds_no_room,
    new_example,
    preview_untold,
    seen_at,
    touched_by,
    untold,
)
from app.services.what_if.views import Blast, JudgedAnswers, Snapshot
from app.services.what_if.watched_texts import WatchedTextCache
from core.calibration.calibration import Calibration
from core.errors import InvalidInput
from core.text import match_key, normalise
from core.types import ScoreArray
from core.vectors import unit_rows
from storage import projects
from storage.database import Database
from storage.log import events
from storage.queries import dataset, utterances
from storage.records import Change, ProjectRecord, UtteranceRecord

if TYPE_CHECKING:
    from core.explain.blast_radius import ExemplarChange

_UNSURE = 1e-3
"""Distance from a threshold, in scores, below which a text is scored again in float64."""


def prepare(watched_texts: WatchedTextCache, project: str) -> None:
    """Prepare in a thread what the first preview needs, as a page with previews opens.

    Raises:
        NotFound: There is no such project.
    """
    with watched_texts.live_studio.studio.database.read() as connection:
        record = projects.find(connection, project)
    watched_texts.prepare(record.id)


def preview(
    watched_texts: WatchedTextCache, project: str, repairs: Sequence[Repair]
) -> list[Blast]:
    """Return what each of some repairs would do on its own; nothing is saved.

    Where its labels wait for the next training, only what it touches is told.

    Raises:
        Conflict: A repair is impossible; for example, a name is taken.
        InvalidInput: A value does not fit.
        NotFound: There is no model, or an utterance or intent was deleted.
    """
    live_studio = watched_texts.live_studio
    record, live = open_live(live_studio, project)
    if not live.joins:
        return preview_untold(live_studio.studio.database, record, live, repairs)
    return open_previews(watched_texts, project).of(repairs)


def open_previews(watched_texts: WatchedTextCache, project: str) -> "Previews":
    """Read once what all previews of a request share: the labels of now, and present answers.

    Raises:
        InvalidInput: Labels do not join the model, so that no effect can be told.
        NotFound: There is no model, or no such project.
    """
    database = watched_texts.live_studio.studio.database
    with database.read() as connection:
        record = projects.find(connection, project)
    prepared = watched_texts.open(record)
    with database.read() as connection:
        record = projects.find(connection, project)
        touched = events.touched_since(connection, record.id, prepared.live.revision)
        ids = sorted(key for subject, key in touched if subject == "utterance")
        records = utterances.by_ids(connection, record.id, ids)
        intents = dataset.intents(connection, record.id)
        head = events.head(connection, record.id)
    names = {intent.id: intent.name for intent in intents}
    now = Snapshot(prepared.live.columns, {key: records.get(key) for key in ids}, names)
    now = replace(now, columns=_columns(now, prepared))
    embed = Embedder(database, prepared)
    before = watched_texts.answers(prepared, head, lambda: _answers(embed, prepared, now))
    return Previews(database, record, embed, prepared, now, before, head)


@dataclass(frozen=True, slots=True, eq=False)
class Previews:
    """Previews of repairs at one moment of a project.

    Attributes:
        before: The answers of that moment.
        revision: The revision of the project at that moment.
    """

    database: Database
    project: ProjectRecord
    embed: Embedder
    prepared: PreparedTexts
    now: Snapshot
    before: Answers
    revision: int

    def of(self, repairs: Sequence[Repair]) -> list[Blast]:
        """Return what each of some repairs would do on its own; nothing is saved.

        Raises:
            Conflict: A repair is impossible; for example, a name is taken.
            InvalidInput: A value does not fit, or no example would be left.
            NotFound: An utterance or intent was deleted.
        """
        with self.database.read() as connection:
            planned = [changes_of(connection, self.project, repair) for repair in repairs]
            changed = {c.subject_id for of in planned for c in of if c.subject == "utterance"}
            known = {key: record for key, record in self.now.records.items() if record}
            unread = sorted(changed - known.keys())
            originals = known | utterances.by_ids(connection, self.project.id, unread)
        return [
            seen_at(self.revision, _blast(self, repair, changes, originals))
            for repair, changes in zip(repairs, planned, strict=True)
        ]


@dataclass(frozen=True, slots=True, eq=False)
class _ScopeRule:
    """Decides scope by limits per intent or of familiarity; `beside`: other signals, (n, 2)."""

    calibration: Calibration
    beside: ScoreArray | None

    def margins(self, scores: ScoreArray) -> ScoreArray:
        """Return how far texts are inside, by scores (n, intents); (n,), negative out of scope."""
        thresholds = self.calibration.limits(scores.shape[1])[scores.argmax(1)]
        measure = self.calibration.familiarity_measure
        held: ScoreArray = scores.max(1)
        if measure is not None and self.beside is not None:
            held = measure.fence.familiarity(np.column_stack([held, self.beside]))
        margins: ScoreArray = held - thresholds
        return margins

    def unsure(self, scores: ScoreArray) -> NDArray[np.bool_]:
        """Whether a small error of the scores could put a text on the other side; (n,)."""
        measure = self.calibration.familiarity_measure
        per_score = 1.0 if measure is None else measure.fence.slope
        return np.asarray(np.abs(self.margins(scores)) < _UNSURE * per_score)


def _blast(
    previews: Previews,
    repair: Repair,
    changes: Sequence[Change],
    originals: Mapping[str, UtteranceRecord],
) -> Blast:
    """Return what a repair's changes do; `originals` are the utterances that repairs change."""
    prepared, then = previews.prepared, _snapshot_after(previews, changes, originals)
    touched = touched_by(changes, originals)
    if finds_no_room(prepared.live, touched, then.records):
        return untold(prepared.live, repair, changes, originals)
    before = _padded(previews.before, len(then.columns))
    after = before
    if any(change.subject == "utterance" for change in changes):
        after = _answers(previews.embed, prepared, then)
    judged = JudgedAnswers(prepared, previews.now, then, before, after)
    blast = judged.blast(set(touched.before), _counted_as_one(repair, changes))
    blast = replace(blast, touched=touched.counts)
    if repair.kind == "add":
        row = previews.embed([normalise(repair.value)])
        near = new_example(prepared.live.pipeline, repair, row, _examples_now(previews))
        return replace(blast, **near)
    return blast


def _counted_as_one(repair: Repair, changes: Sequence[Change]) -> dict[str, str]:
    """Return intents that a repair joins or parts, as `JudgedAnswers.blast` needs them."""
    if repair.kind == "merge":
        return {repair.intent: repair.value}
    if repair.kind != "split":
        return {}
    made = (c.subject_id for c in changes if c.subject == "intent" and c.field == "row")
    return dict.fromkeys(made, repair.intent)


def _snapshot_after(
    previews: Previews, changes: Sequence[Change], originals: Mapping[str, UtteranceRecord]
) -> Snapshot:
    now, names = previews.now, dict(previews.now.names)
    records = {**now.records, **touched_by(changes, originals).after}
    for change in changes:
        if change.subject == "intent" and change.field in ("row", "name"):
            name = change.after["name"] if change.field == "row" else change.after
            names[change.subject_id] = name
    closed = {c.subject_id for c in changes if c.field == "archived" and c.after}
    then = Snapshot(now.columns, records, names, frozenset(closed))
    return replace(then, columns=_columns(then, previews.prepared))


def _columns(snapshot: Snapshot, prepared: PreparedTexts) -> tuple[str, ...]:
    """Return the ids of all intents that vote, or that a text is labelled with."""
    labels = [key for r in snapshot.records.values() if r for key in r.labels or ()]
    expected = [key for text in prepared.texts for key in text.labels or ()]
    return tuple(dict.fromkeys((*snapshot.columns, *labels, *expected)))


def _padded(answers: Answers, wide: int) -> Answers:
    return np.pad(answers, [(0, 0), (0, wide - answers.shape[1])])


def _answers(embed: Embedder, prepared: PreparedTexts, snapshot: Snapshot) -> Answers:
    """Answer the watched texts as they would be answered at a snapshot, (n, columns)."""
    from core.explain.blast_radius import blast_radius
    from core.explain.decisions import OUT_OF_SCOPE, decided

    live, wide = prepared.live, len(snapshot.columns)
    calibration, task = live.pipeline.calibration, live.pipeline.task
    said = {key: exemplar_of(record, task) for key, record in snapshot.records.items()}
    said = {key: now for key, now in said.items() if live.votes_as(key) != now}
    scoped = task == "single-label" and (
        len(calibration.thresholds) > 0 or calibration.familiarity_measure is not None
    )
    threshold = calibration.threshold if task == "single-label" and not scoped else None
    change = _vote_change(embed, prepared, said, snapshot) if said else None
    scope = _scope(prepared, change) if scoped else None
    scores = prepared.watched.scores
    verdicts = None if task == "multi-label" else decided(scores, threshold)
    if change is not None:
        unsure = None if scope is None else scope.unsure
        try:
            radius = blast_radius(prepared.votes, prepared.watched, change, threshold, unsure)
        except ValueError as error:
            raise InvalidInput(
                "No example would be left.", "Keep one at least, or add others first."
            ) from error
        scores, verdicts = radius.scores, None if verdicts is None else radius.after
    answers = np.zeros((len(scores), wide), dtype=bool)
    if verdicts is None:
        answers[:, : scores.shape[1]] = scores >= calibration.limits(scores.shape[1])
    else:
        if scope is not None:
            verdicts = np.where(scope.margins(scores) < 0, OUT_OF_SCOPE, verdicts)
        rows = np.flatnonzero(verdicts != OUT_OF_SCOPE)
        answers[rows, verdicts[rows]] = True
    _answer_exactly(prepared, said, snapshot.columns, answers)
    return answers


def _scope(prepared: PreparedTexts, change: "ExemplarChange | None") -> _ScopeRule:
    from core.explain.familiarity_after import beside_scores

    around = prepared.around
    beside = None if around is None else beside_scores(around, change)
    return _ScopeRule(prepared.live.pipeline.calibration, beside)


def _answer_exactly(
    prepared: PreparedTexts,
    said: Mapping[str, Said | None],
    columns: Sequence[str],
    answers: Answers,
) -> None:
    """Answer texts that exemplars say word for word by the exemplars' label, where they agree."""
    column = {key: at for at, key in enumerate(columns)}
    said_now = defaultdict[str, list[tuple[str, ...]]](list)
    for now in said.values():
        if now:
            said_now[match_key(now[0])].append(now[1])
    for key in prepared.keys.keys() & (prepared.twins.keys() | said_now.keys()):
        labels = [had for by, had in prepared.twins.get(key, {}).items() if by not in said]
        labels += said_now.get(key, ())
        if labels and len(set(labels)) == 1:
            rows = np.array(prepared.keys[key])
            answers[rows] = False
            for intent in labels[0]:
                answers[rows, column[intent]] = True


def _vote_change(
    embed: Embedder,
    prepared: PreparedTexts,
    said: Mapping[str, Said | None],
    snapshot: Snapshot,
) -> "ExemplarChange":
    """Return the exemplars at a snapshot minus those at the anchor; `said` holds changed votes."""
    from core.explain.blast_radius import ExemplarChange

    live, voters, columns = prepared.live, prepared.voters, snapshot.columns
    had = {key: live.votes_as(key) for key in said}
    relabelled: dict[str, tuple[str, ...]] = {}
    added: list[Said] = []
    for key, now in said.items():
        then = had[key]
        if now and then and key in voters and then[0] == now[0]:
            relabelled[key] = now[1]
        elif now:
            added.append(now)
    column = {key: at for at, key in enumerate(columns)}

    def targets(labels: Sequence[tuple[str, ...]]) -> NDArray[np.float64]:
        values = np.zeros((len(labels), len(columns)))
        for row, of_text in enumerate(labels):
            values[row, [column[key] for key in of_text]] = 1.0
        return values

    return ExemplarChange(
        voices=_name_scores_change(prepared, had, said, snapshot),
        added=embed([text for text, _ in added]),
        heard=embed.heard([text for text, _ in added]),
        labels=targets([labels for _, labels in added]),
        removed=tuple(voters[key] for key in said if key in voters and key not in relabelled),
        relabelled=tuple(voters[key] for key in relabelled),
        relabels=targets(list(relabelled.values())),
    )


def _name_scores_change(
    prepared: PreparedTexts,
    had: Mapping[str, Said | None],
    said: Mapping[str, Said | None],
    snapshot: Snapshot,
) -> NDArray[np.float64] | None:
    """Return the change of what names add to scores, (n, columns), or None if there is none.

    A name decides alone until its intent has an example.
    """
    trained = prepared.live.base.said
    before = Counter(key for _, labels in trained.values() for key in labels)
    before.update(_gained(trained, prepared.live.changes))
    after = before.copy()
    after.update(_gained(had, said))
    moved = np.zeros((len(prepared.texts), len(snapshot.columns)))
    for key, (alone, taught) in prepared.spoken.items():
        if bool(before[key]) != bool(after[key]):
            without = 0.0 if key in snapshot.closed else alone
            moved[:, snapshot.columns.index(key)] = (
                taught - alone if after[key] else without - taught
            )
    return moved if moved.any() else None


def _gained(had: Mapping[str, Said | None], said: Mapping[str, Said | None]) -> Counter[str]:
    """Count how many examples each intent gains; negative where it loses some."""
    gained = Counter(label for now in said.values() if now for label in now[1])
    gained.subtract(label for key in said if (then := had.get(key)) for label in then[1])
    return gained


def _examples_now(previews: Previews) -> ExamplesNow:
    """Return the examples of the moment with their embeddings."""
    live = previews.prepared.live
    pipeline, records = live.pipeline, previews.now.records
    fresh = {key: exemplar_of(record, pipeline.task) for key, record in records.items()}
    stay = [row for row, one in enumerate(pipeline.exemplars) if one.id not in fresh]
    old = [pipeline.exemplars[row] for row in stay]
    found = {one.id: live.votes_as(one.id) or (one.text, ()) for one in old}
    new = {key: said for key, said in fresh.items() if said}
    added = unit_rows(previews.embed([text for text, _ in new.values()]))
    rows = np.concatenate([pipeline.embeddings[stay], added])
    return ExamplesNow(found | new, rows, previews.revision)
