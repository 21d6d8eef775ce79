"""The live model's answers to the labelled texts of the test split."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from app.services.embedding import embed_texts
from app.services.live.live_model import LiveModel
from core.pipeline import learned_texts
from core.text import match_key
from core.types import FloatArray, Pause, ScoreArray
from storage.database import Database, Transaction
from storage.log.versions import TestedText
from storage.queries import utterances
from storage.queries.utterances import Filter, Page
from storage.records import UtteranceRecord

MOST = 10_000
"""Of a larger test split, the oldest texts."""

_CHUNK = 256

Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class ScoredTests:
    """Labelled texts with their scores by a live model.

    Attributes:
        rows: Embeddings, (n, d) float32.
        scores: (n, intents) float64, in the order of the model's columns.
    """

    live: LiveModel
    records: tuple[UtteranceRecord, ...]
    rows: FloatArray = field(repr=False)
    scores: ScoreArray = field(repr=False)

    def exact(self) -> Flags:
        """Return which texts an example decides, because it says just the same; (n,)."""
        return said_exactly(self.live, [record.text for record in self.records])

    def let_in(self) -> Flags:
        """Return which texts are answered with an intent, not refused as out of scope; (n,)."""
        return self.exact() | self.live.pipeline.calibration.inside(self.rows, self.scores)

    def best_is_right(self) -> Flags:
        """Return for which texts the best intent, in scope or not, is one of the labels; (n,)."""
        ids, twins = self.live.columns, self._exact_ids()
        best = self.scores.argmax(1).tolist() if len(self.scores) else []
        pairs = zip(self.records, best, strict=True)
        return np.array(
            [
                bool(twins.get(match_key(record.text), {ids[column]}) & set(record.labels or ()))
                for record, column in pairs
            ],
            dtype=bool,
        )

    def answered_sets(self) -> list[set[str]]:
        """Return the ids of all intents that each text is answered with; for multi-label."""
        ids, twins = self.live.columns, self._exact_ids()
        chosen = self.scores >= self.live.pipeline.calibration.limits(len(ids))
        return [
            twins.get(match_key(record.text), {ids[at] for at in np.flatnonzero(row).tolist()})
            for record, row in zip(self.records, chosen, strict=True)
        ]

    def _exact_ids(self) -> Mapping[str, set[str]]:
        pipeline = self.live.pipeline
        keys = dict(zip(pipeline.head.intents, self.live.columns, strict=True))
        return {
            key: {keys[name] for name in names if name in keys}
            for key, names in pipeline.exact.items()
        }


def scored_tests(
    database: Database, live: LiveModel, records: tuple[UtteranceRecord, ...], pause: Pause
) -> ScoredTests:
    """Score some of the labelled texts of the test split by a live model; there is at least one."""
    rows, scores = [], []
    for start in range(0, len(records), _CHUNK):
        pause()
        texts = [record.text for record in records[start : start + _CHUNK]]
        rows.append(embed_texts(database, live.pipeline.encoder, texts))
        scores.append(live.pipeline.head.scores(rows[-1]))
    return ScoredTests(live, records, np.concatenate(rows), np.concatenate(scores))


def said_exactly(live: LiveModel, texts: Sequence[str]) -> Flags:
    """Return which texts say just what an example says, so that its label decides; (n,)."""
    exact = live.pipeline.exact
    return np.array([match_key(text) in exact for text in texts], dtype=bool)


def labelled_tests(
    database: Database, project_id: int, *, with_none: bool
) -> tuple[UtteranceRecord, ...]:
    """Return the labelled texts of the test split; `with_none` adds those of no intent."""
    page, found = Page(0, MOST), list[UtteranceRecord]()
    with database.read() as connection:
        for which in _filters(with_none=with_none):
            found += utterances.read_page(connection, project_id, which, "oldest", page)[0]
    return tuple(found)


def as_test(record: UtteranceRecord) -> TestedText | None:
    """Return what a labelled text of the test split asks of a model; None for any other text."""
    if record.split != "test" or record.labels is None:
        return None
    return record.text, tuple(sorted(record.labels))


def count_unread(connection: Transaction, project_id: int, *, with_none: bool) -> int:
    """Count the labelled texts of the test split that are too many for `labelled_tests`."""
    kinds = _filters(with_none=with_none)
    counts = [utterances.count_all(connection, project_id, which) for which in kinds]
    return sum(max(0, n - MOST) for n in counts)


def _filters(*, with_none: bool) -> tuple[Filter, ...]:
    labelled = Filter(split="test", state="labelled")
    return (labelled, Filter(split="test", state="out-of-scope")) if with_none else (labelled,)


def told_apart(
    live: LiveModel, records: Sequence[UtteranceRecord]
) -> tuple[tuple[UtteranceRecord, ...], int]:
    """Return the texts that test a model, and how many do not because it has learned them.

    Accuracy, the limit for out of scope and previews count the same texts.
    """
    learned = learned_texts(live.pipeline)
    fresh = tuple(record for record in records if record.text not in learned)
    return fresh, len(records) - len(fresh)
