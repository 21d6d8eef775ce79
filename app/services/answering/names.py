"""Names that answer: of a project that has no model yet, and those that came with a model."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from app.services.answering.opened import Space, open_space
from app.services.studio import Studio
from core.pipeline import IntentPipeline
from storage import models, projects
from storage.queries import dataset
from storage.records import ModelVersionRecord

if TYPE_CHECKING:
    from core.intent_names import NameCache

_FEWEST = 2


def names_pipeline(
    studio: Studio, project: str, cache: "NameCache | None" = None
) -> IntentPipeline | None:
    """Answer with the nearest intent name where a project has no model.

    None where it has one, where a text may have several intents, or with fewer than two intents.

    Raises:
        NotFound: There is no such project.
    """
    with studio.database.read() as connection:
        found = projects.find(connection, project)
        champion = models.champion(connection, found.id)
        intents = dataset.open_intents(connection, found.id)
    if champion is not None or found.task == "multi-label" or len(intents) < _FEWEST:
        return None
    from core.intent_names import names_alone

    encoder = open_space(studio, Space(found, None)).encoder
    pipeline = names_alone(encoder, list(intents.values()), cache)
    return replace(pipeline, model_version=f"{project}, names alone")


def brought_names(
    version: ModelVersionRecord, columns: Sequence[str], names: Sequence[str]
) -> frozenset[str]:
    """Return the names of an imported version that its project does not know.

    Nobody has said in this project what they are; they speak as they did where it was made.

    Args:
        version: Any.
        columns: Intent id of each score column, "" where the project has no such intent.
        names: Of the columns.
    """
    if not version.lineage.get("imported"):
        return frozenset()
    return frozenset(name for name, key in zip(names, columns, strict=True) if not key)
