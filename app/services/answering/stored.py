"""Find and load a model by its reference: `PROJECT`, `PROJECT@N`, or the file of a bundle."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from app.services.answering.as_project import (
    answer_as_project,
    answer_by_names_alone,
    ids_by_name,
    read_now,
)
from app.services.answering.opened import Space, laid_out, open_space, require_pipeline
from app.services.studio import Studio
from core.errors import InvalidInput, NotFound
from core.files import is_file
from core.pipeline import Answerer, IntentPipeline
from core.text import whole_number
from storage import models, projects
from storage.database import Transaction
from storage.log import versions
from storage.records import ModelVersionRecord, ProjectRecord

_Model = TypeVar("_Model", bound=Answerer)


def find_model(connection: Transaction, reference: str) -> tuple[ProjectRecord, ModelVersionRecord]:
    """Find `PROJECT` or `PROJECT@champion`, or `PROJECT@N` (version N).

    Raises:
        NotFound: There is no such project, version or champion.
        InvalidInput: N is not a number.
    """
    name, at, number = reference.partition("@")
    project = projects.find(connection, name)
    if at and number != "champion":
        found = whole_number(number)
        if found is None:
            raise InvalidInput(
                f"'{number[:40]}' is no version of '{name}'.", "Write PROJECT@3, say."
            )
        return project, models.find(connection, project.id, found)
    champion = models.champion(connection, project.id)
    if champion is None:
        raise no_model_yet(name)
    return project, champion


def no_model_yet(project: str) -> NotFound:
    """Return the error for a project without a trained model version."""
    return NotFound(
        f"'{project}' has no trained model yet.",
        "Train one on the Train page.",
    )


@contextmanager
def checked_out(studio: Studio, reference: str) -> Iterator[tuple[Path, str]]:
    """Yield a folder with the files of a model version or a bundle, and the model's name.

    The folder is deleted afterwards.
    """
    if is_bundle(reference):
        from core.bundle.archive import open_bundle

        with open_bundle(Path(reference)) as (folder, _):
            yield folder, Path(reference).name
        return
    with studio.database.read() as connection:
        project, record = find_model(connection, reference)
    with laid_out(studio, record.tree_sha256) as folder:
        yield folder, f"{project.name}@{record.number}"


def load_model(studio: Studio, reference: str) -> IntentPipeline:
    """Load a bundle, or a model version with its project's names and fence.

    A project without a model answers by the names of its intents.

    Raises:
        InvalidInput: It is an encoder version.
        NotFound: It does not exist.
        ArtifactDamaged: Its files are missing or changed.
    """
    if is_bundle(reference):
        with checked_out(studio, reference) as (folder, name):
            return load_unpacked(studio, folder, name)
    if "@" not in reference:
        with studio.database.read() as connection:
            project = projects.find(connection, reference)
            now = read_now(connection, project, models.champion(connection, project.id))
        untrained = answer_by_names_alone(studio, now)
        if untrained is not None:
            return untrained
    require_answers(studio, reference)
    with studio.database.read() as connection:
        space = Space(*find_model(connection, reference))
    trained = require_pipeline(open_space(studio, space))
    return by_project(studio, space.name, replace(trained, model_version=space.name))


def load_unpacked(studio: Studio, folder: Path, name: str) -> IntentPipeline:
    """Load the pipeline of a bundle that is checked out, under the bundle's name."""
    from core.bundle.layout import load_pipeline

    return replace(load_pipeline(folder, bases=studio.bases), model_version=name)


def trained_at(studio: Studio, reference: str) -> int | None:
    """Return the revision of the labels that a version was trained on; None for a bundle."""
    if is_bundle(reference):
        return None
    with studio.database.read() as connection:
        return versions.learned_at(connection, find_model(connection, reference)[1])


def by_project(studio: Studio, reference: str, trained: IntentPipeline) -> IntentPipeline:
    """Apply the project's names and fence to a version, `PROJECT` or `PROJECT@N`, as trained."""
    with studio.database.read() as connection:
        now = read_now(connection, *find_model(connection, reference))
        ids = ids_by_name(connection, now)
    columns = columns_of(trained, ids)
    return answer_as_project(studio, now, called_now(trained, columns, now.names), columns)


def columns_of(trained: Answerer, ids: Mapping[str, str]) -> list[str]:
    """Return the intent id of each score column by its name; "" where there is no such intent."""
    return [ids.get(name, "") for name in trained.intents]


def called_now(trained: _Model, columns: Sequence[str], names: Mapping[str, str]) -> _Model:
    """Call the intents of a version as the project calls them now."""
    old = trained.intents
    new = tuple(names.get(key, name) for key, name in zip(columns, old, strict=True))
    if new == old or len(set(new)) < len(new):
        return trained
    return trained.renamed(new)


def require_answers(studio: Studio, reference: str) -> None:
    """Raise `InvalidInput` for an encoder version, and `NotFound` for a missing one."""
    if not is_bundle(reference):
        with studio.database.read() as connection:
            project, record = find_model(connection, reference)
            models.find_answering(connection, project.id, record.number)


def is_bundle(reference: str) -> bool:
    """Whether a reference is the path of a bundle, rather than a model version."""
    return reference.endswith(".zip") or is_file(reference)
