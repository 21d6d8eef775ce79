"""The versions of a project's data and models."""

from dataclasses import dataclass
from itertools import pairwise

from app.services.studio import Studio
from app.services.views import ModelView
from storage import models, projects, versions


@dataclass(frozen=True, slots=True)
class DatasetVersionView:
    """A dataset version with what changed since its parent."""

    number: int
    n_rows: int
    sha256: str
    created_at: str
    message: str
    changes: str


def list_versions(studio: Studio, name: str) -> tuple[list[DatasetVersionView], list[ModelView]]:
    """Dataset versions and model versions of a project, oldest first."""
    with studio.database.read() as connection:
        project = projects.find(connection, name)
        frozen = versions.list_all(connection, project.id)
        states = [versions.state_at(connection, project.id, v.revision) for v in frozen]
        made = models.list_all(connection, project.id)
        champion = models.champion(connection, project.id)
    changes = ["the first"] + [versions.diff_in_words(old, new) for old, new in pairwise(states)]
    views = [
        DatasetVersionView(v.number, v.n_rows, v.sha256, v.created_at, v.message, words)
        for v, words in zip(frozen, changes, strict=False)
    ]
    return views, [
        ModelView(
            name=f"{name}@{m.number}",
            project=name,
            number=m.number,
            recipe=str(m.lineage.get("recipe", {}).get("kind", "")),
            base=str(m.lineage.get("base", "")),
            dataset_version=str(m.lineage.get("dataset_version", "")),
            created_at=m.created_at,
            champion=champion is not None and champion.id == m.id,
            metrics=m.metrics,
        )
        for m in made
    ]
