"""Bases, the encoders that trainings start from: by name, loaded, and what they have learned."""

from contextlib import suppress
from pathlib import Path

from app.services.answering.ancestry import ancestors
from app.services.answering.opened import laid_out
from app.services.answering.stored import checked_out, find_model
from app.services.live.live_model import exemplar_of
from app.services.studio import Studio
from app.services.training.frozen import frozen_state
from core.encoders.base import Encoder
from core.errors import ArtifactDamaged, NotFound
from core.files import named_folder
from core.pipeline import hashes_of
from core.recipes.labels import LEARN_FROM_LABELS
from storage import jobs, models, projects
from storage.database import Transaction
from storage.log import versions
from storage.records import ModelVersionRecord, ProjectRecord

BUNDLED = "bundled"


def load_base(studio: Studio, base: str) -> Encoder:
    """Load `bundled`, a folder, a hub id, or the encoder of a model version `PROJECT@N`."""
    from core.encoders.loading import load_encoder, load_folder

    if not _is_version(base):
        return load_encoder(base)
    with checked_out(studio, base) as (folder, _):
        return load_folder(folder / "encoder", bases=studio.bases)


def learned_by(studio: Studio, base: str) -> frozenset[str]:
    """Return the hashes of the texts that trainings on labels have taught a base; often none.

    Raises:
        NotFound: There is no such version.
    """
    if not _is_version(base):
        return frozenset()
    with studio.database.read() as connection:
        record = find_model(connection, base)[1]
        line = (record, *(parent for parent, _ in ancestors(connection, record)))
    return frozenset[str]().union(*(_taught(studio, one) for one in line))


def _taught(studio: Studio, version: ModelVersionRecord) -> frozenset[str]:
    """Return the hashes of the texts that the encoder of a version has learned from labels.

    One whose files are gone has learned the examples of its data.
    """
    from core.bundle.layout import LABEL_FILES, learned_in

    is_tuned = version.lineage.get("recipe", {}).get("kind") in LEARN_FROM_LABELS
    with studio.database.read() as connection:
        project = projects.get(connection, version.project_id)
    if version.kind == "intents" and version.tree_sha256:
        files = laid_out(studio, version.tree_sha256, LABEL_FILES)
        with suppress(ArtifactDamaged), files as folder:
            return learned_in(folder, with_examples=is_tuned)
    if not is_tuned or version.dataset_version_id is None:
        return frozenset()
    with studio.database.read() as connection:
        data = versions.get(connection, version.dataset_version_id)
        rows = frozen_state(connection, project.id, data).utterance_records()
    return hashes_of(row.text for row in rows if exemplar_of(row, project.task))


def _is_version(base: str) -> bool:
    return "@" in base and named_folder(base) is None


def base_name(base: str) -> str:
    """Return what a base is called: of a folder the last part, a hub id with its owner."""
    folder = named_folder(base)
    return base if folder is None else folder.name


def live_base(connection: Transaction, project: ProjectRecord) -> tuple[str, str]:
    """Return the base of the live version's training, if it can be used again, and its words."""
    live = models.champion(connection, project.id)
    if live is None or live.job_id is None:
        return BUNDLED, ""
    base = str(jobs.get(connection, live.job_id).payload.get("base", BUNDLED))
    is_folder = base.startswith("/")
    try:
        settled_base(connection, base)
    except NotFound:  # the version that it started from was deleted
        return BUNDLED, ""
    if base == BUNDLED or (is_folder and not Path(base).is_dir()):
        return BUNDLED, ""
    return base, f"{base_name(base)}, as version {live.number}"


def settled_base(connection: Transaction, base: str) -> str:
    """Return what a training starts from for good: a version by its number, a folder's whole path.

    `PROJECT@champion` would be another version after a promotion, also for a training that goes on.

    Raises:
        NotFound: There is no such version.
    """
    if _is_version(base):
        project, version = find_model(connection, base)
        return f"{project.name}@{version.number}"
    folder = named_folder(base)
    return base if folder is None else str(folder.absolute())
