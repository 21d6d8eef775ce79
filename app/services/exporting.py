"""Hand model versions over as bundles, and take them in."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.services.prediction import checked_out
from app.services.studio import Studio
from core.errors import Conflict, NotFound
from storage import models, projects
from storage.artifacts import record_tree

if TYPE_CHECKING:  # bundles hold encoders, whose library takes seconds to load
    from core.bundle.archive import Manifest

_ADDED_BY_EXPORT = ("README.md", "predict.py")


def export_model(studio: Studio, reference: str, out: Path) -> "Manifest":
    """Write a model version as one zip."""
    from core.bundle.archive import export_bundle

    with checked_out(studio, reference) as (folder, _):
        return export_bundle(folder, out)


def import_bundle(studio: Studio, path: Path, project: str | None = None) -> str:
    """Add a verified bundle as a model version; return its name `PROJECT@N`.

    Exporting that version gives files of the same digests.

    Raises:
        ArtifactDamaged: A promise of the bundle does not hold.
    """
    from core.bundle.archive import open_bundle
    from core.bundle.layout import load_pipeline

    with open_bundle(path) as (folder, manifest):
        load_pipeline(folder)  # what cannot be loaded is not taken in
        for name in _ADDED_BY_EXPORT:
            (folder / name).unlink(missing_ok=True)
        files = studio.artifacts.put_files(folder)
        facts = manifest.facts
        name = project or str(facts.get("project", path.stem))
        with studio.database.write() as connection:
            try:
                record = projects.find(connection, name)
            except NotFound:
                record = projects.create(connection, name)
            tree = record_tree(connection, studio.artifacts, files)
            for known in models.list_all(connection, record.id):
                if known.tree_sha256 == tree:
                    raise Conflict(
                        f"This bundle is there already, as {name}@{known.number}.",
                        "Nothing needs to be done.",
                    )
            made = models.add(connection, _values(record.id, tree, facts))
            if models.champion(connection, record.id) is None:
                models.point(connection, made, actor=studio.settings.actor)
        return f"{name}@{made.number}"


def _values(project_id: int, tree: str, facts: dict[str, Any]) -> dict[str, Any]:
    lineage = {key: value for key, value in facts.items() if key not in ("metrics", "pins")}
    return {
        "project_id": project_id,
        "tree_sha256": tree,
        "dataset_version_id": None,
        "job_id": None,
        "lineage": {**lineage, "imported": True},
        "metrics": facts.get("metrics", {}),
        "pins": facts.get("pins", {"kept": 0, "broken": []}),
    }
