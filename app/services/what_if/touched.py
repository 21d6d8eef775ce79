"""What a repair touches: the utterances that it changes, as they are before and after it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from app.services.live.live_model import LiveModel, exemplar_of
from app.services.what_if.repairs import Repair, changes_of
from app.services.what_if.views import Blast, CountedTests, NearExample, Told
from core.text import normalise
from core.types import FloatArray
from core.vectors import unit_rows
from storage.database import Database
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
        planned = [changes_of(connection, project, repair) for repair in repairs]
        ids = sorted({c.subject_id for of in planned for c in of if c.subject == "utterance"})
        originals = utterances.by_ids(connection, project.id, ids)
    return [
        _untold(live, repair, changes, originals)
        for repair, changes in zip(repairs, planned, strict=True)
    ]


def _untold(
    live: LiveModel,
    repair: Repair,
    changes: Sequence[Change],
    originals: Mapping[str, UtteranceRecord],
) -> Blast:
    touched, task = touched_by(changes, originals), live.pipeline.task
    before, after = (
        {key: exemplar_of(record, task) for key, record in records.items()}
        for records in (touched.before, touched.after)
    )
    closes = any(change.field == "archived" for change in changes)
    told: Told = "nothing" if before == after and not closes else "later"
    blast = replace(_UNTOLD, touched=touched.counts, told=told)
    if repair.kind != "add":
        return blast
    row = live.pipeline.encoder.encode([normalise(repair.value)])
    return replace(blast, **new_example(live, repair, row))


def new_example(live: LiveModel, repair: Repair, row: FloatArray) -> dict[str, Any]:
    """Return the examples nearest to a new one, embedded (1, d), and its text's answer now."""
    pipeline = live.pipeline
    [answer] = pipeline.predict([normalise(repair.value)], row)
    cosines = pipeline.embeddings @ unit_rows(row)[0]
    near = list[NearExample]()
    for place in np.argsort(-cosines, kind="stable")[:_NEAR].tolist():
        exemplar, cosine = pipeline.exemplars[place], float(cosines[place])
        said = live.votes_as(exemplar.id)
        intents = said[1] if said else ()
        conflict = cosine >= _CONFLICT and sorted(intents) != sorted(repair.intents)
        near.append(NearExample(exemplar.id, exemplar.text, intents, cosine, conflict))
    return {"near": tuple(near), "now": answer.decision.words}
