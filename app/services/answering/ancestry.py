"""What a model version was trained from, and that from: its ancestors and their recipes."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from core.errors import NotFound
from core.recipes.labels import LEARN_FROM_LABELS
from core.text import whole_number
from storage import jobs, models, projects
from storage.database import Transaction
from storage.log import versions
from storage.records import ModelVersionRecord, ProjectRecord


@dataclass(frozen=True, slots=True)
class AncestorView:
    """A model version from which another was trained, directly or through others."""

    name: str
    recipe: str
    dataset_version: int | None
    deleted: bool


def ancestors(
    connection: Transaction, record: ModelVersionRecord
) -> Iterator[tuple[ModelVersionRecord, AncestorView]]:
    """Follow bases `PROJECT@N` as far as they are known, the nearest first."""
    seen = {record.id}
    while (base := _base_version(connection, record)) is not None and base[1].id not in seen:
        project, record = base
        seen.add(record.id)
        data = record.dataset_version_id
        yield (
            record,
            AncestorView(
                name=f"{project.name}@{record.number}",
                recipe=str(record.lineage.get("recipe", {}).get("kind", "")),
                dataset_version=None if data is None else versions.get(connection, data).number,
                deleted=not record.tree_sha256,
            ),
        )


def chain_of(connection: Transaction, record: ModelVersionRecord) -> tuple[str, ...]:
    """Return a version's first base, then each training with its recipe."""
    line = [record, *(parent for parent, _ in ancestors(connection, record))]
    names = [projects.get(connection, one.project_id).name for one in line]
    steps = [
        f"{name}@{one.number} {one.lineage.get('recipe', {}).get('kind', '')}".strip()
        for name, one in zip(names, line, strict=True)
    ]
    first = str(line[-1].lineage.get("base", ""))
    return (*([first] if first else []), *reversed(steps))


def recipes_behind(
    connection: Transaction, record: ModelVersionRecord
) -> Iterator[Mapping[str, Any]]:
    """Yield the recipe of a version, and those of the versions it was trained from."""
    for one in (record, *(parent for parent, _ in ancestors(connection, record))):
        yield one.lineage.get("recipe", {})


def base_before_labels(connection: Transaction, record: ModelVersionRecord) -> str | None:
    """Return the encoder from which a version's first training on labels started.

    None where no training changed the encoder by labels, as with the recipe `instant`.
    """
    base = None
    for one in (record, *(parent for parent, _ in ancestors(connection, record))):
        if one.lineage.get("recipe", {}).get("kind") in LEARN_FROM_LABELS:
            base = _place_of_base(connection, one)
    return base


def _place_of_base(connection: Transaction, record: ModelVersionRecord) -> str:
    """Return the base as it was asked for; of a folder the lineage tells only the name."""
    told = str(record.lineage.get("base", ""))
    if record.job_id is None:
        return told
    try:
        return str(jobs.get(connection, record.job_id).payload.get("base", told))
    except NotFound:
        return told


def _base_version(
    connection: Transaction, record: ModelVersionRecord
) -> tuple[ProjectRecord, ModelVersionRecord] | None:
    name, at, digits = str(record.lineage.get("base", "")).rpartition("@")
    number = whole_number(digits)
    if not at or number is None:
        return None
    try:
        project = projects.find(connection, name)
    except NotFound:
        return None
    version = models.recall(connection, project.id, number)
    return None if version is None else (project, version)
