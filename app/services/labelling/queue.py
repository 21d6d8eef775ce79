"""The labelling queue: leases utterances to browser tabs, so that no two get the same one."""

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from app.services.embedding import embed_texts
from app.services.live.live_model import LiveModel
from app.services.live.live_studio import LiveStudio
from app.services.live.pool import Pool, judged
from core.review.labelling_order import Order as OrderByScores
from core.review.labelling_order import rank, rank_many, spread
from core.templates.slots import Slot
from core.types import FloatArray, ScoreArray
from core.vectors import unit_rows
from storage import projects
from storage.database import Transaction
from storage.queries import dataset, utterances
from storage.records import UtteranceRecord

Order = Literal["helps", "asked", "unsure", "torn", "unlike", "newest", "random"]
"""`asked` begins with what stands for most of the traffic and is least settled."""

STANDARD: Order = "helps"
_BY_MODEL: frozenset[Order] = frozenset({"helps", "asked", "unsure", "torn", "unlike"})
ModelState = Literal["ready", "loading", "none"]
_LEASE_SECONDS = 600.0
_SUGGESTIONS = 5
_UNLABELLED = utterances.Filter(state="unlabelled")


@dataclass(frozen=True, slots=True)
class Suggestion:
    """An intent that may fit, with the live model's probability.

    `marked` means that it is part of the answer; in a single-label project, only the first is.
    """

    intent_id: str
    intent: str
    probability: float
    marked: bool = False


@dataclass(frozen=True, slots=True)
class QueueItem:
    """An utterance to decide on; `suggestions` is None until the model is loaded.

    `out_of_scope` means that the model answers with no intent; `synthetic` is the id of the
    utterance whose template it fills, or empty. `likely` holds the numbers of the open intents that
    the model knows, the likeliest first.
    """

    id: str
    text: str
    split: str
    labels: tuple[str, ...] | None
    flagged: str
    suggestions: tuple[Suggestion, ...] | None
    out_of_scope: bool = False
    slots: tuple[Slot, ...] = ()
    synthetic: str = ""
    likely: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class QueueView:
    """The next utterances, the number of unlabelled ones, and the state of the model."""

    items: tuple[QueueItem, ...]
    waiting: int
    model: ModelState
    order: Order


@dataclass(frozen=True, slots=True)
class QueueRequest:
    """The utterances that a browser tab, `client`, asks for; it has those `without` already.

    A tab's own leases do not withhold items from it.
    """

    client: str
    order: Order = STANDARD
    n: int = 20
    without: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class _Scored:
    """A pool, and the unit embeddings of what the tab has or has just decided, (n, d)."""

    pool: Pool
    known: FloatArray | None = field(default=None, repr=False)


@dataclass(slots=True)
class Queues:
    """Leases utterances to label; one object a server. Leases are only in memory."""

    live_studio: LiveStudio
    leases: dict[int, dict[str, tuple[str, float]]] = field(default_factory=dict)
    released: dict[tuple[int, str], float] = field(default_factory=dict)
    guard: threading.Lock = field(default_factory=threading.Lock)

    def next(self, project: str, request: QueueRequest) -> QueueView:
        """Lease the next utterances to a browser tab.

        Raises:
            NotFound: There is no such project.
        """
        began = time.monotonic()
        with self.live_studio.studio.database.read() as connection:
            project_id = projects.find(connection, project).id
            waiting = utterances.count_all(connection, project_id, _UNLABELLED)
        scored = self._scored(project_id, request)
        with self.guard, self.live_studio.studio.database.read() as connection:
            taken = self._taken(project_id, request)
            chosen = _choose(connection, project_id, request, scored, taken)
            if self.released.get((project_id, request.client), -1.0) <= began:
                self._lease(project_id, request, [record.id for record in chosen])
        live = self.live_studio.models.loaded(project_id)
        items = self._items(project_id, chosen, live)
        loading = self.live_studio.pools.loading(project_id)
        # By the doubts of another version, or of before many labels, sure texts come first.
        ranks = live is not None and (not loading or self.live_studio.pools.holds(project_id))
        state: ModelState = "ready" if ranks else "loading" if loading else "none"
        return QueueView(items, waiting, state, request.order)

    def suggest(self, project: str, ids: Sequence[str]) -> tuple[QueueItem, ...]:
        """Suggest intents for some utterances; waits for the live model to load."""
        with self.live_studio.studio.database.read() as connection:
            project_id = projects.find(connection, project).id
            records = utterances.by_ids(connection, project_id, ids)
        live = self.live_studio.models.get(project_id)
        return self._items(project_id, [records[key] for key in ids if key in records], live)

    def release(self, project: str, client: str) -> None:
        """End the leases of a tab that is closed; what it is still being answered is not leased."""
        with self.live_studio.studio.database.read() as connection:
            project_id = projects.find(connection, project).id
        with self.guard:
            leases = self.leases.get(project_id, {})
            self.leases[project_id] = {k: v for k, v in leases.items() if v[0] != client}
            now = time.monotonic()
            recent = {k: at for k, at in self.released.items() if at > now - _LEASE_SECONDS}
            self.released = {**recent, (project_id, client): now}

    def _scored(self, project_id: int, request: QueueRequest) -> "_Scored | None":
        pool = self.live_studio.pools.get(project_id)
        if pool is None:
            return None
        if not request.without or request.order not in _BY_MODEL:
            return _Scored(pool)
        database = self.live_studio.studio.database
        with database.read() as connection:
            records = utterances.by_ids(connection, project_id, sorted(request.without))
        texts = [record.text for record in records.values()]
        rows = embed_texts(database, pool.live.pipeline.encoder, texts)
        return _Scored(pool, unit_rows(rows))

    def _taken(self, project_id: int, request: QueueRequest) -> set[str]:
        now = time.monotonic()
        valid = {k: v for k, v in self.leases.get(project_id, {}).items() if v[1] > now}
        self.leases[project_id] = valid
        others = {key for key, (client, _) in valid.items() if client != request.client}
        return others | request.without

    def _lease(self, project_id: int, request: QueueRequest, chosen: Sequence[str]) -> None:
        """Lease the chosen utterances, and those that the tab still has and no other tab holds."""
        leases = self.leases.setdefault(project_id, {})
        until = time.monotonic() + _LEASE_SECONDS
        leases.update(dict.fromkeys(chosen, (request.client, until)))
        for key in request.without:
            leases.setdefault(key, (request.client, until))
            if leases[key][0] == request.client:
                leases[key] = (request.client, until)

    def _items(
        self, project_id: int, records: Sequence[UtteranceRecord], live: LiveModel | None
    ) -> tuple[QueueItem, ...]:
        plain = [_plain_item(record) for record in records]
        if live is None or not records:
            return tuple(plain)
        with self.live_studio.studio.database.read() as connection:
            numbers = _numbers_of_open(connection, project_id)
        rows = embed_texts(
            self.live_studio.studio.database, live.pipeline.encoder, [r.text for r in records]
        )
        fresh = judged(live, tuple(records), rows)
        answers = zip(plain, fresh.probabilities, fresh.margins, fresh.outside, strict=True)
        return tuple(
            replace(
                item,
                suggestions=_suggestions(live, numbers, shares, margins),
                out_of_scope=bool(is_out),
                likely=_likely(live, numbers, shares),
            )
            for item, shares, margins, is_out in answers
        )


def _choose(
    connection: Transaction,
    project_id: int,
    request: QueueRequest,
    scored: _Scored | None,
    taken: set[str],
) -> list[UtteranceRecord]:
    ranked: list[UtteranceRecord] = []
    if request.order in _BY_MODEL and scored is not None:
        ranked = _by_model(connection, project_id, request, scored, taken)
    taken = taken | {record.id for record in ranked}
    page = utterances.Page(0, request.n + len(taken))
    if request.order == "newest":
        records, _ = utterances.read_page(connection, project_id, _UNLABELLED, "newest", page)
    else:
        records = utterances.sample_unlabelled(connection, project_id, page.limit)
    more = [record for record in records if record.id not in taken]
    return (ranked + more)[: request.n]


def _plain_item(record: UtteranceRecord) -> QueueItem:
    return QueueItem(
        id=record.id,
        text=record.text,
        split=record.split,
        labels=record.labels,
        flagged=record.flagged,
        suggestions=None,
        slots=record.slots,
        synthetic=record.synthetic,
    )


def _by_model(
    connection: Transaction,
    project_id: int,
    request: QueueRequest,
    scored: _Scored,
    taken: set[str],
) -> list[UtteranceRecord]:
    pool = scored.pool
    ids = [record.id for record in pool.records]
    waiting = utterances.waiting(connection, project_id, ids)  # some may be labelled by now
    ranking = _ranking(pool, request.order)
    free = np.array([ids[row] in waiting and ids[row] not in taken for row in ranking], dtype=bool)
    rows = spread(ranking[free], pool.embeddings, request.n, pool.alike_from, scored.known)
    chosen = [ids[row] for row in rows]
    records = utterances.by_ids(connection, project_id, chosen)  # current texts
    return [records[key] for key in chosen]


def _ranking(pool: Pool, order: Order) -> NDArray[np.int64]:
    """Return the rows of the pool in an order that goes by the model, best first."""
    worth = pool.worth
    if order == "asked" and pool.asked is not None and worth is not None:
        return np.lexsort((-worth, -pool.asked))  # what nobody said comes last, in the usual order
    if order in ("asked", "helps") and worth is not None:
        return np.argsort(-worth, kind="stable")
    match order:
        case "torn" | "unlike":
            by: OrderByScores = order
        case _:  # until the worth of each label is computed, too
            by = "unsure"
    if pool.task == "multi-label":
        return rank_many(by, pool.margins, pool.familiarity)
    return rank(by, pool.probabilities, pool.familiarity)


def _suggestions(
    live: LiveModel, usable: Mapping[str, int], shares: ScoreArray, margins: ScoreArray
) -> tuple[Suggestion, ...]:
    """Return the most probable open intents, those in the answer first.

    Beside the answer, an intent without an example is none of them: `/` finds it.
    """
    names, ids = live.pipeline.head.intents, live.columns
    empty = set(live.pipeline.by_name) if live.pipeline.exemplars else set()
    ordered = _by_probability(live, usable, shares)
    best = [column for column in ordered if column == ordered[0] or names[column] not in empty]
    if live.pipeline.task == "single-label":
        marked = set(best[:1])
    else:
        marked = {j for j in best if margins[j] >= 0}
        best.sort(key=lambda j: j not in marked)
    shown = best[: max(_SUGGESTIONS, len(marked))]
    return tuple(Suggestion(ids[j], names[j], float(shares[j]), j in marked) for j in shown)


def _numbers_of_open(connection: Transaction, project_id: int) -> dict[str, int]:
    """Return each open intent's number in the project's list, by id."""
    listed = enumerate(dataset.intents(connection, project_id), start=1)
    return {intent.id: number for number, intent in listed if not intent.archived}


def _likely(live: LiveModel, numbers: Mapping[str, int], shares: ScoreArray) -> tuple[int, ...]:
    """Return the numbers of the open intents, the most probable first."""
    return tuple(numbers[live.columns[j]] for j in _by_probability(live, numbers, shares))


def _by_probability(live: LiveModel, usable: Mapping[str, int], shares: ScoreArray) -> list[int]:
    """Return the columns of the open intents, the most probable first."""
    order = np.argsort(-shares, kind="stable").tolist()
    return [column for column in order if live.columns[column] in usable]
