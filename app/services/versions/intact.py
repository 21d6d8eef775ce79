"""Whether the files of model versions are as they were written."""

from app.services.studio import Studio
from core.errors import ArtifactDamaged, Conflict
from storage import models, projects
from storage.records import ModelVersionRecord


def require_intact(studio: Studio, project: str, version: ModelVersionRecord) -> None:
    """Read all files of a version that is about to answer.

    Raises:
        Conflict: One is missing or was changed.
    """
    try:
        with studio.database.read() as connection:
            studio.artifacts.verify(connection, version.tree_sha256)
    except ArtifactDamaged as error:
        raise Conflict(
            f"Version {version.number} of '{project}' is damaged, so it cannot be made live. "
            f"{error.message}",
            "Nothing was changed. Choose another version, train a new one, or restore a backup.",
        ) from error


def damaged_versions(studio: Studio, project: str) -> list[int]:
    """List the numbers of versions that are known to be damaged; sound ones are not read."""
    with studio.database.read() as connection:
        made = models.list_all(connection, projects.find(connection, project).id)
        return [
            one.number
            for one in made
            if studio.artifacts.known_damaged(connection, one.tree_sha256)
        ]
