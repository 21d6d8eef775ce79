"""The model that somebody asks for: live, the champion as it was trained, a version, or a bundle.

One rule everywhere: without a choice, the live model answers, with every label given up to now.
"""

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from app.services.answering.stored import is_bundle, load_model, trained_at
from app.services.live.live_studio import LiveStudio, open_live_studio
from app.services.studio import Studio
from core.pipeline import IntentPipeline

Which: TypeAlias = Literal["live", "champion"] | int
"""The live model; the champion as it was trained; or the number of a version, as it was trained."""


@dataclass(frozen=True, slots=True)
class AskedModel:
    """What answers, with its project's names and fence.

    `label_revision` is the revision of the project up to which its labels vote; None for a bundle,
    and where names alone answer.
    """

    pipeline: IntentPipeline
    label_revision: int | None


def open_asked(studio: Studio, reference: str) -> AskedModel:
    """Return what `PROJECT`, `PROJECT@live`, `@champion`, `@N` or a bundle's file names.

    Raises:
        NotFound: It does not exist.
        InvalidInput: It is an encoder version, or no version's name.
        ArtifactDamaged: Its files are missing or damaged.
    """
    project = asks_live(reference)
    if project is None:
        return AskedModel(load_model(studio, reference), trained_at(studio, reference))
    _, live = open_settled(studio, project).models.open(project)
    if live is None:  # names may answer alone
        return AskedModel(load_model(studio, project), None)
    name = f"{project}@{live.version.number}"
    return AskedModel(replace(live.pipeline, model_version=name), live.joined_at)


def open_settled(studio: Studio, project: str) -> LiveStudio:
    """Open live models for one command, and wait until a project's newest labels have joined.

    Raises:
        NotFound: There is no such project.
    """
    live_studio = open_live_studio(studio)
    live_studio.models.settle(project)
    return live_studio


def asks_live(reference: str) -> str | None:
    """Return the project whose live model a reference names: `PROJECT` or `PROJECT@live`."""
    if is_bundle(reference):
        return None
    project, _, which = reference.partition("@")
    return project if which in ("", "live") else None
