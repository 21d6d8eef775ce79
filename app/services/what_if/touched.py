"""What a repair touches: the utterances that it changes, as they are before and after it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from app.services.live.joining import Said
from app.services.live.live_model import LiveModel, exemplar_of
from app.services.what_if.repairs import Repair, changes_of
from app.services.what_if.views import Blast, CountedTests, NearExample, Told
from core.pipeline import IntentPipeline
from core.text import normalise
from core.types import FloatArray
from core.vectors import unit_rows
from storage.database import Database
from storage.log import events
from storage.queries import utterances
from storage.records import Change, ProjectRecord, UtteranceRecord, row_of, utterance_record

_NEAR = 6
_CONFLICT = 0.8
"""Least cosine of an example of another intent that is shown as a conflict."""

_NO_TESTS = CountedTests(0, 0, 0)
_UNTOLD = Blast(0, 0, (0, 0, 0), 0, 0, 0, (0, 0), (), (), (), _NO_TESTS, _NO_TESTS)


@dataclass(frozen=True, slots=True)
class TouchedTexts:
    """Utterances that a repair changes, by id, before and after it; None where there is none."""

    before: Mapping[str, UtteranceRecord | None]
    after: Mapping[str, UtteranceRecord | None]

    @property
    def counts(self) -> tuple[int, int]:
        """How many there are, and how many of them are of the test set."""
        n_test = sum(one is not None and one.split == "test" for one in self.before.values())
        return len(self.before), n_test


def touched_by(
    changes: Sequence[Change], originals: Mapping[str, UtteranceRecord | None]
) -> TouchedTexts:
    """Return what changes touch; `originals` are the utterances as they are before."""
    mine = [change for change in changes if change.subject == "utterance"]
    before = {change.subject_id: originals.get(change.subject_id) for change in mine}
    after = dict(before)
    for change in mine:
        after[change.subject_id] = _changed(after[change.subject_id], change)
    return TouchedTexts(before, after)


def _changed(record: UtteranceRecord | None, change: Change) -> UtteranceRecord | None:
    if change.field == "row":
        row = change.after
        return None if row is None else utterance_record(change.subject_id, row)
    if record is None:
        return None
    return utterance_record(record.id, row_of(record) | {change.field: change.after})


def preview_untold(
    database: Database, project: ProjectRecord, live: LiveModel, repairs: Sequence[Repair]
) -> list[Blast]:
    """Return what each of some repairs touches, where labels do not join the model.

    Raises:
        Conflict: A repair is impossible; for example, a name is taken.
        InvalidInput: A value does not fit.
        NotFound: An utterance or intent was deleted.
    """
    with database.read() as connection:
        head = events.head(connection, project.id)
        planned = [changes_of(connection, project, repair) for repair in repairs]
        ids = sorted({c.subject_id for of in planned for c in of if c.subject == "utterance"})
        originals = utterances.by_ids(connection, project.id, ids)
    return [
        seen_at(head, untold(live, repair, changes, originals))
        for repair, changes in zip(repairs, planned, strict=True)
    ]


def seen_at(revision: int, blast: Blast) -> Blast:
    """Return what a repair does with the revision at which that was so, unless it has an older."""
    return blast if blast.revision else replace(blast, revision=revision)


def finds_no_room(
    live: LiveModel, touched: TouchedTexts, then: Mapping[str, UtteranceRecord | None]
) -> bool:
    """Whether a repair changes examples, and there are too many then for a label to count at once.

    `then` are the utterances that differ from those of the model, as they are after the repair.
    """
    before, after, so = (
        _exemplars(live, records) for records in (touched.before, touched.after, then)
    )
    return before != after and not live.has_room(so)


def _exemplars(
    live: LiveModel, records: Mapping[str, UtteranceRecord | None]
) -> dict[str, Said | None]:
    return {key: exemplar_of(one, live.pipeline.task) for key, one in records.items()}


def untold(
    live: LiveModel,
    repair: Repair,
    changes: Sequence[Change],
    originals: Mapping[str, UtteranceRecord],
) -> Blast:
    """Return what a repair touches, where its labels wait for a training."""
    touched = touched_by(changes, originals)
    before, after = (_exemplars(live, records) for records in (touched.before, touched.after))
    closes = any(change.field == "archived" for change in changes)
    told: Told = "nothing" if before == after and not closes else "later"
    blast = replace(_UNTOLD, touched=touched.counts, told=told)
    if repair.kind != "add":
        return blast
    pipeline = live.pipeline
    row = pipeline.encoder.encode([normalise(repair.value)])
    said = {one.id: live.votes_as(one.id) or (one.text, ()) for one in pipeline.exemplars}
    examples = ExamplesNow(said, pipeline.embeddings, live.shown_at(said))
    return replace(blast, **new_example(pipeline, repair, row, examples))


@dataclass(frozen=True, slots=True, eq=False)
class ExamplesNow:
    """Texts and intent ids of examples by id, their unit embeddings (m, d), and when they were so.

    Attributes:
        revision: The project's at which these were their labels.
    """

    said: Mapping[str, Said]
    embeddings: FloatArray
    revision: int


def new_example(
    pipeline: IntentPipeline, repair: Repair, row: FloatArray, examples: ExamplesNow
) -> dict[str, Any]:
    """Return the examples nearest to a new one, embedded (1, d), and its text's answer now."""
    [answer] = pipeline.predict([normalise(repair.value)], row)
    keys, cosines = list(examples.said), examples.embeddings @ unit_rows(row)[0]
    near, label = list[NearExample](), set(repair.intents)
    if repair.intent and pipeline.task == "multi-label":  # a text that is here keeps what it has
        same = normalise(repair.value)
        label |= {k for text, has in examples.said.values() if normalise(text) == same for k in has}
    for place in np.argsort(-cosines, kind="stable")[:_NEAR].tolist():
        key, cosine = keys[place], float(cosines[place])
        text, intents = examples.said[key]
        conflict = cosine >= _CONFLICT and set(intents) != label
        near.append(NearExample(key, text, intents, cosine, conflict))
    return {"near": tuple(near), "now": answer.decision.words, "revision": examples.revision}
