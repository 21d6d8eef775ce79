"""The versions of a project's data and models, as lists and as a timeline."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from app.services.answering.ancestry import chain_of
from app.services.studio import Studio
from core.bundle.textless import LEFT_OUT
from core.metrics.in_words import measured_on, untested_of
from core.recipes.read import title_of, work_of
from core.text import percent
from storage import models, projects
from storage.database import Transaction
from storage.log import versions
from storage.log.diff import diff_states
from storage.records import AliasRecord, DatasetVersionRecord, ModelKind, ModelVersionRecord

_RANKS = {"data": 0, "model": 1}


@dataclass(frozen=True, slots=True)
class DatasetVersionView:
    """A dataset version with what changed since its parent."""

    number: int
    n_rows: int
    sha256: str
    created_at: str
    message: str
    changes: str


@dataclass(frozen=True, slots=True)
class ModelView:
    """A model version with its origin and metrics.

    An `encoder` is a base for others and answers nothing.

    Attributes:
        base: `bundled`, a folder's name, a hub id or `PROJECT@N`, or empty.
        title: The recipe's name on pages.
        work: How the recipe learns, in plain words.
        examples: Number of labelled texts that it learned from.
        changes: What changed in the data since version `changes_since`, in words.
        changes_since: The version before that learned from this project's data; None for the
            first, and for one that was imported.
        imported: Whether it came as a bundle, with data of its own.
        measured_on: On which texts its figures were measured, and when, in words.
        untested: How many intents these leave out, in words; empty where none is.
        texts_left_out: Whether it came without the texts of its examples, with hashes of them.
    """

    name: str
    project: str
    number: int
    recipe: str
    base: str
    dataset_version: str
    created_at: str
    champion: bool
    metrics: dict[str, object]
    kind: ModelKind = "intents"
    chain: tuple[str, ...] = ()
    title: str = ""
    work: str = ""
    examples: int | None = None
    changes: tuple[str, ...] = ()
    changes_since: int | None = None
    imported: bool = False
    measured_on: str = ""
    untested: str = ""
    texts_left_out: bool = False


@dataclass(frozen=True, slots=True)
class TimelineEntry:
    """An event of a project's versions; `actor` is empty for a job.

    `kind` is `data`, `model`, `champion`, `roll-back`, `discarded` or `deleted`; `number` is that
    of a dataset version for `data`, else of a model version.
    """

    at: str
    kind: str
    number: int
    title: str
    details: tuple[str, ...]
    actor: str


def list_versions(studio: Studio, name: str) -> tuple[list[DatasetVersionView], list[ModelView]]:
    """Return the dataset versions and model versions of a project, oldest first."""
    with studio.database.read() as connection:
        project = projects.find(connection, name)
        frozen = versions.list_all(connection, project.id)
        changes = _changes(studio, connection, project.id, frozen)
        made = models.list_all(connection, project.id)
        champion = models.champion(connection, project.id)
        chains = {record.number: chain_of(connection, record) for record in made}
        before = _learners_before(made)
        learned = _changes_of_models(studio, connection, made, before)
    told = [("the first",), *changes[1:]]
    views = [
        DatasetVersionView(v.number, v.n_rows, v.sha256, v.created_at, v.message, ", ".join(words))
        for v, words in zip(frozen, told, strict=False)
    ]
    return views, [
        ModelView(
            name=f"{name}@{m.number}",
            project=name,
            number=m.number,
            recipe=str(m.lineage.get("recipe", {}).get("kind", "")),
            base=str(m.lineage.get("base", "")),
            dataset_version=_learned_from(m),
            created_at=m.created_at,
            champion=champion is not None and champion.id == m.id,
            metrics=m.metrics,
            kind=m.kind,
            chain=chains[m.number],
            title=title_of(m.lineage.get("recipe", {})),
            work=work_of(m.lineage.get("recipe", {})),
            examples=m.lineage.get("n_exemplars"),
            changes=learned.get(m.number, ()),
            changes_since=before.get(m.number),
            imported=bool(m.lineage.get("imported")),
            measured_on=measured_on(m.metrics),
            untested=untested_of(m.metrics),
            texts_left_out=bool(m.lineage.get(LEFT_OUT)),
        )
        for m in made
    ]


def _learners_before(made: list[ModelVersionRecord]) -> dict[int, int]:
    """Return the number of the version before, of each that learned from the project's data."""
    learners = [one.number for one in made if one.dataset_version_id and one.kind != "encoder"]
    return dict(zip(learners[1:], learners, strict=False))


def _changes_of_models(
    studio: Studio,
    connection: Transaction,
    made: list[ModelVersionRecord],
    before: Mapping[int, int],
) -> dict[int, tuple[str, ...]]:
    """Return what changed in the data of each model version since those of the one before."""
    changes: dict[int, tuple[str, ...]] = {}
    data = {one.number: one.dataset_version_id for one in made if one.dataset_version_id}
    for number, earlier in before.items():
        older, newer = data[earlier], data[number]
        words = partial(_words_between, connection, made[0].project_id, (older, newer))
        key = ("changes between", older, newer)
        changes[number] = studio.cache.get(key, words, lambda told: 100 * len(told))
    return changes


def _words_between(
    connection: Transaction, project_id: int, pair: tuple[int, int]
) -> tuple[str, ...]:
    older, newer = (versions.get(connection, key).revision for key in pair)
    if newer <= older:
        return ()
    return diff_states(*versions.states_between(connection, project_id, older, newer)).words


def _learned_from(record: ModelVersionRecord) -> str:
    facts = record.lineage
    return str(facts.get("dataset_version") or facts.get("conversations", ""))


def timeline(studio: Studio, name: str) -> tuple[TimelineEntry, ...]:
    """Return all events of a project's versions of data and models, oldest first.

    Raises:
        NotFound: There is no such project.
    """
    with studio.database.read() as connection:
        project = projects.find(connection, name)
        frozen = versions.list_all(connection, project.id)
        changes = _changes(studio, connection, project.id, frozen)
        made = models.list_all(connection, project.id, deleted=True)
        moves = models.moves(connection, project.id)
    entries = [
        *(_data_entry(*pair) for pair in zip(frozen, changes, strict=True)),
        *(_model_entry(name, record) for record in made),
        *_move_entries(name, moves),
    ]
    # In the same millisecond, data are listed before models, and models before decisions.
    return tuple(sorted(entries, key=lambda entry: (entry.at, _RANKS.get(entry.kind, 2))))


def _changes(
    studio: Studio, connection: Transaction, project_id: int, frozen: list[DatasetVersionRecord]
) -> list[tuple[str, ...]]:
    """Return what each version changed, computed once, since frozen versions do not change."""
    if not frozen:
        return []
    return studio.cache.get_newest(
        ("changes", project_id),
        frozen[-1].id,
        lambda: [d.words for d in versions.successive_diffs(connection, project_id)],
        lambda made: 200 * len(made),
    )


def _data_entry(version: DatasetVersionRecord, words: tuple[str, ...]) -> TimelineEntry:
    title = f"Data version {version.number}: {version.message}"
    return TimelineEntry(version.created_at, "data", version.number, title, words, "")


def _model_entry(name: str, record: ModelVersionRecord) -> TimelineEntry:
    facts = record.lineage
    how = "imported" if facts.get("imported") else "trained"
    recipe = str(facts.get("recipe", {}).get("kind", ""))
    details = [words for words in (recipe, _learned_from(record)) if words]
    if record.right_share is not None:
        details.append(_figures(record.metrics, record.right_share))
    title = f"{name}@{record.number} {how}"
    return TimelineEntry(record.created_at, "model", record.number, title, tuple(details), "")


def _figures(metrics: Mapping[str, Any], right_share: float) -> str:
    parts = [f"right answers {percent(right_share, 1)}"]
    if metrics.get("task") == "multi-label":
        parts = [
            f"F1 {percent(metrics['micro_f1'], 1)}",
            f"exact match {percent(metrics['accuracy'], 1)}",
        ]
    return f"{', '.join(parts)} {measured_on(metrics)}"


def _move_entries(name: str, moves: list[AliasRecord]) -> Iterator[TimelineEntry]:
    before: int | None = None
    rolled_back = False
    for move in moves:
        this = f"{name}@{move.number}"
        if move.name == models.ROLLED_BACK:
            rolled_back = True
        elif move.name == models.CHAMPION:
            kind = "roll-back" if rolled_back else "champion"
            title = f"Back to {this}" if rolled_back else f"{this} is the champion"
            details = () if before in (None, move.number) else (f"instead of {name}@{before}",)
            yield TimelineEntry(move.at, kind, move.number, title, details, move.actor)
            before, rolled_back = move.number, False
        else:
            yield TimelineEntry(
                move.at, move.name, move.number, f"{this} {move.name}", (), move.actor
            )
