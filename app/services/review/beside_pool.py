"""Unlabelled texts like those of a finding: labelling them is the first remedy of a confusion."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from app.services.live.pool import Pool
from app.services.review.findings import Evidence, Finding, Remedy
from app.services.studio import Studio
from core.types import FloatArray
from core.vectors import unit_rows
from storage import projects
from storage.queries import utterances

_LABELLED_AT_ONCE = 8
_KINDS = ("confusion", "thin")


def beside_pool(
    studio: Studio, evidence: Evidence, pool: Pool, findings: Sequence[Finding]
) -> list[Finding]:
    """Add a first remedy to confusions and thin intents: to label the most similar texts."""
    if not pool.records or not any(finding.kind in _KINDS for finding in findings):
        return list(findings)
    ids = [record.id for record in pool.records]
    with studio.database.read() as connection:
        project = projects.get(connection, evidence.version.project_id)
        waiting = utterances.waiting(connection, project.id, ids)
    free = np.array([row for row, key in enumerate(ids) if key in waiting], dtype=np.int64)
    row_of = _embedded(evidence)
    return [_beside(finding, pool, free, row_of) for finding in findings]


def _embedded(evidence: Evidence) -> dict[str, FloatArray]:
    """Return the unit embedding of each example and test text, by id."""
    rows = zip(evidence.exemplars, evidence.head.exemplars, strict=True)
    tests = zip(evidence.tests, unit_rows(evidence.test_rows), strict=True)
    return {one.id: row for one, row in rows} | {one.id: row for one, row in tests}


def _beside(
    finding: Finding,
    pool: Pool,
    free: NDArray[np.int64],
    row_of: dict[str, FloatArray],
) -> Finding:
    rows = [row_of[text.id] for text in finding.texts if text.id in row_of]
    if finding.kind not in _KINDS or not rows or not len(free):
        return finding
    answered = [pool.live.columns[column] for column in pool.probabilities[free].argmax(1)]
    between = np.array([key in finding.intents for key in answered])
    likeness = (pool.embeddings[free] @ np.stack(rows).T).max(1)
    # A text that is answered with one of the intents comes before all others.
    best = np.argsort(-(likeness + 2.0 * between), kind="stable")[:_LABELLED_AT_ONCE]
    ids = tuple(pool.records[row].id for row in free[best].tolist())
    which = "a similar unlabelled text"
    if len(ids) > 1:
        which = f"these {len(ids)} similar unlabelled texts"
    remedy = Remedy(f"Label {which}", None, label_ids=ids)
    return replace(finding, remedies=(remedy, *finding.remedies))
