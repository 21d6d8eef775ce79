"""Routes for versions of data and models: compare, promote, export, import."""

import tempfile
from functools import partial
from pathlib import Path

from fastapi import UploadFile
from fastapi.responses import FileResponse

from app.api.http import schemas
from app.api.http.bodies import RollBackBody
from app.api.http.downloads import BYTES, download
from app.api.http.repeats import Once
from app.api.http.routers import rest_router
from app.api.http.server_state import Live, OpenStudio
from app.services.reports.versions_now import compare_now
from app.services.studio import Studio
from app.services.versions import comparison, registry, shapes
from app.services.versions.bundles import Handover, export_encoder, export_model, take_in_bundle
from app.services.versions.intact import damaged_versions
from app.services.versions.registry import ChampionChange, DeletionView, LineageView
from app.services.versions.timeline import TimelineEntry, list_versions, timeline
from app.services.versions.verdict import advice_on
from core.errors import InvalidInput
from core.text import size_words
from storage.log.diff import DatasetDiff
from storage.people.request_keys import Keep

router = rest_router("versions")
_PIECE = 1 << 20
_MOST_BYTES = 2_000_000_000


@router.get("/projects/{project}/versions")
def versions(studio: OpenStudio, project: str) -> schemas.Versions:
    """List dataset versions and model versions, oldest first."""
    data, models = list_versions(studio, project)
    states = registry.model_states(studio, project)
    previous = registry.version_before(studio, project)
    damaged = damaged_versions(studio, project)
    return schemas.Versions(data, models, states, previous, damaged)


@router.get("/projects/{project}/models")
def model_states(studio: OpenStudio, project: str) -> dict[int, str]:
    """Map the numbers of the model versions to their states."""
    return registry.model_states(studio, project)


@router.get("/projects/{project}/diff")
def diff(studio: OpenStudio, project: str, older: int = 0, newer: int = 0) -> DatasetDiff:
    """Return the changes between two dataset versions; 0 means the empty project, or now."""
    return comparison.compare_versions(studio, project, older or None, newer or None)


@router.get("/projects/{project}/compare")
def compare(
    live_studio: Live, project: str, candidate: int, champion: int | None = None
) -> schemas.Compared:
    """Compare a candidate with the champion, both as they would answer now; return the verdict."""
    compared = compare_now(live_studio, project, candidate, champion)
    older = int(compared.champion.rpartition("@")[2])
    sides = registry.sides_of(live_studio.studio, project, candidate, older)
    return schemas.Compared(compared, comparison.gate(compared), advice_on(compared, sides))


@router.post("/projects/{project}/models/{number}/promote")
def promote(studio: OpenStudio, project: str, number: int) -> ChampionChange:
    """Make a version the champion."""
    return registry.promote(studio, project, number)


@router.post("/projects/{project}/models/{number}/discard")
def discard(studio: OpenStudio, project: str, number: int) -> schemas.Discarded:
    """Discard a candidate; it is kept, and can be promoted later."""
    registry.discard(studio, project, number)
    return schemas.Discarded(number)


@router.post("/projects/{project}/rollback")
def roll_back(studio: OpenStudio, project: str, body: RollBackBody | None = None) -> ChampionChange:
    """Return to the previous champion; refused if the champion has changed since."""
    champion = None if body is None else body.champion
    return registry.roll_back(studio, project, champion=champion)


@router.get("/projects/{project}/models/{number}/lineage")
def lineage(studio: OpenStudio, project: str, number: int) -> LineageView:
    """Return a version's origin: data, recipe and base."""
    return registry.lineage(studio, project, number)


@router.get("/projects/{project}/models/{number}/shape")
def shape(studio: OpenStudio, project: str, number: int) -> shapes.Shape:
    """Return uniformity and alignment of a version's space; 0 is the untuned encoder."""
    return shapes.shape_of(studio, project, number)


@router.get("/projects/{project}/models/{number}/deletion")
def deletion(studio: OpenStudio, project: str, number: int) -> DeletionView:
    """Return the space that deleting a version would free, and the reasons against it."""
    return registry.deletion_preview(studio, project, number)


@router.delete("/projects/{project}/models/{number}")
def delete(studio: OpenStudio, project: str, number: int, even_so: bool = False) -> DeletionView:
    """Delete a version and the files that no other version uses."""
    return registry.delete_model(studio, project, number, even_so=even_so)


@router.get("/projects/{project}/timeline")
def events(studio: OpenStudio, project: str) -> tuple[TimelineEntry, ...]:
    """List data versions, model versions and changes of the champion in order."""
    return timeline(studio, project)


@router.get("/projects/{project}/models/{number}/bundle", responses=BYTES)
def bundle(
    studio: OpenStudio, project: str, number: int, without_texts: bool = False
) -> FileResponse:
    """Download a model version as one verified zip, with or without the texts of its examples."""
    reference, how = f"{project}@{number}", Handover(without_texts=without_texts)
    return download(
        f"{project}-v{number}.zip", lambda out: export_model(studio, reference, out, how)
    )


@router.get("/projects/{project}/models/{number}/encoder", responses=BYTES)
def encoder(studio: OpenStudio, project: str, number: int) -> FileResponse:
    """Download an encoder version as a zip of a sentence-transformers folder."""
    reference = f"{project}@{number}"
    return download(
        f"{project}-v{number}-encoder.zip",
        lambda out: export_encoder(studio, reference, out),
    )


@router.post("/projects/{project}/bundles", status_code=201)
def take_in(studio: OpenStudio, once: Once, project: str, file: UploadFile) -> schemas.Imported:
    """Verify an uploaded bundle, and add it as a model version."""
    act = partial(_take_in, studio, project, file)
    return once.answer_as(file.file, act, schemas.Imported)


def _take_in(studio: Studio, project: str, file: UploadFile, keep: Keep[str]) -> str:
    with tempfile.TemporaryDirectory(prefix="bundle-") as folder:
        path = Path(folder) / "bundle.zip"
        size = 0
        with path.open("wb") as stream:
            while piece := file.file.read(_PIECE):
                size += len(piece)
                if size > _MOST_BYTES:
                    raise InvalidInput(
                        f"The bundle has more than {size_words(_MOST_BYTES)}.",
                        "Ask for one of a smaller encoder.",
                    )
                stream.write(piece)
        name = file.filename or "The upload"
        return take_in_bundle(studio, project, path, name, keep)
