"""What needs each stored file, in the words that people use."""

from collections import defaultdict
from collections.abc import Iterable

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from storage.artifacts import ArtifactStore
from storage.tables import conversation_log, layout, model_version, project, tree

_SHOWN = 3


def file_damage(connection: Connection, store: ArtifactStore) -> dict[str, str]:
    """Describe by SHA-256 each file that is missing or changed: "version 2 of 'p': FILE is ..."."""
    damaged = store.damaged(connection)
    if not damaged:
        return {}
    places = _places(connection, damaged)
    return {
        sha256: f"{_listed(places[sha256]) or f'a file that nothing needs, {sha256[:12]},'} {how}"
        for sha256, how in damaged.items()
    }


def of_maps_alone(connection: Connection, names: Iterable[str]) -> set[str]:
    """Return which of some files belong to maps and to nothing else."""
    others = sa.union(
        sa.select(model_version.c.tree_sha256), sa.select(conversation_log.c.tree_sha256)
    )
    blobs = sa.select(tree.c.blob_sha256).where(tree.c.blob_sha256.in_(list(names)))
    needed = set(connection.execute(blobs.where(tree.c.sha256.in_(others))).scalars())
    maps = sa.select(layout.c.tree_sha256)
    return set(connection.execute(blobs.where(tree.c.sha256.in_(maps))).scalars()) - needed


def without_files(connection: Connection) -> list[str]:
    """Name the versions whose files are not known: the rows that list them are lost."""
    known = sa.select(tree.c.sha256)
    query = sa.select(project.c.name, model_version.c.number).join(
        project, project.c.id == model_version.c.project_id
    )
    lost = query.where(model_version.c.tree_sha256 != "", model_version.c.tree_sha256.not_in(known))
    return [f"{version_words(*row)}: its files are not known" for row in connection.execute(lost)]


def version_words(name: str, number: int) -> str:
    """Name a version of a project."""
    return f"version {number} of '{name}'"


def _places(connection: Connection, names: Iterable[str]) -> dict[str, list[str]]:
    """Return the owners of some files and how these are called there, by SHA-256."""
    owners = _owners(connection)
    query = sa.select(tree).where(tree.c.blob_sha256.in_(list(names)))
    found = defaultdict[str, list[str]](list)
    for row in connection.execute(query.order_by(tree.c.sha256, tree.c.path)):
        found[row.blob_sha256] += [f"{owner}: {row.path}" for owner in owners[row.sha256]]
    return found


def _owners(connection: Connection) -> dict[str, list[str]]:
    """Return in words what each tree belongs to."""
    owners = defaultdict[str, list[str]](list)
    versions = sa.select(model_version.c.tree_sha256, project.c.name, model_version.c.number)
    versions = versions.join(project, project.c.id == model_version.c.project_id)
    for sha256, name, number in connection.execute(versions.order_by(model_version.c.id)):
        owners[sha256].append(version_words(name, number))
    maps = sa.select(layout.c.tree_sha256, project.c.name, layout.c.method)
    maps = maps.join(project, project.c.id == layout.c.project_id)
    for sha256, name, method in connection.execute(maps):
        owners[sha256].append(f"a map of '{name}' ({method})")
    logs = sa.select(conversation_log.c.tree_sha256, project.c.name, conversation_log.c.source)
    logs = logs.join(project, project.c.id == conversation_log.c.project_id)
    for sha256, name, source in connection.execute(logs):
        owners[sha256].append(f"conversations {source} of '{name}'")
    return owners


def _listed(places: list[str]) -> str:
    more = f" and {len(places) - _SHOWN} more" if len(places) > _SHOWN else ""
    return ", ".join(places[:_SHOWN]) + more
