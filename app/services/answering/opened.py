"""Open the encoder and pipeline of a model version, or the untuned encoder."""

import tempfile
from collections.abc import Container, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from app.services.cache import Belongs, of_version
from app.services.studio import Studio
from core.encoders.base import Encoder
from core.errors import ArtifactDamaged, InvalidInput
from core.pipeline import IntentPipeline
from storage import models, projects
from storage.database import Transaction
from storage.records import ModelVersionRecord, ProjectRecord

if TYPE_CHECKING:
    from core.responses import Ranker

UNTUNED = 0
"""The number of the bundled encoder, before any training."""

_ENCODER_BYTES = 100 << 20
_MODULES_BYTES = 2 << 20


@dataclass(frozen=True, slots=True)
class Space:
    """A model version's embedding space; without `version`, the bundled encoder's."""

    project: ProjectRecord
    version: ModelVersionRecord | None

    @property
    def number(self) -> int:
        """Number of the model version, or `UNTUNED`."""
        return UNTUNED if self.version is None else self.version.number

    @property
    def version_id(self) -> int | None:
        """Id of the model version, or None."""
        return None if self.version is None else self.version.id

    @property
    def name(self) -> str:
        """The name shown to users."""
        if self.version is None:
            return "the untuned encoder"
        return f"{self.project.name}@{self.version.number}"

    @property
    def key(self) -> tuple[Belongs | None, str | None]:
        """What names the space in a key of the cache; the bundled encoder belongs to nobody."""
        if self.version is None:
            return None, None
        return of_version(self.version), self.version.tree_sha256


@dataclass(frozen=True, slots=True, eq=False)
class Opened:
    """The encoder of a space, with the pipeline or the ranker of its version.

    An encoder version has no pipeline; only versions trained on conversations have a ranker.
    """

    encoder: Encoder
    pipeline: IntentPipeline | None = None
    ranker: "Ranker | None" = None


def find_space(connection: Transaction, project: str, number: int | None) -> Space:
    """Find a space by the number of its model version; `UNTUNED` is the bundled encoder.

    Without a number, it is the champion's, or the untuned encoder's if there is no champion.

    Raises:
        NotFound: There is no such project or version.
    """
    record = projects.find(connection, project)
    if number is None:
        return Space(record, models.champion(connection, record.id))
    if number == UNTUNED:
        return Space(record, None)
    return Space(record, models.find(connection, record.id, number))


def open_space(studio: Studio, space: Space, device: str = "cpu", *, keep: bool = True) -> Opened:
    """Load a space's encoder, and the pipeline or ranker of its model version.

    With `keep`, the result is cached. Adapters share the base encoders of the studio.

    Raises:
        ArtifactDamaged: Files are missing or changed.
    """
    if not keep:
        return _load(studio, space, device)
    key = ("space", *space.key, device)
    return studio.cache.get(key, lambda: _load(studio, space, device), _size)


@contextmanager
def _named(space: Space) -> Iterator[None]:
    """Say which version is damaged, and what answers again at once."""
    try:
        yield
    except ArtifactDamaged as error:
        raise ArtifactDamaged(
            f"The files of {space.name} are damaged. {error.message}",
            "Use another version on the Versions page, train a new one, or restore a backup.",
        ) from error


def _load(studio: Studio, space: Space, device: str) -> Opened:
    if space.version is None:
        from core.encoders.loading import BUNDLED, load_encoder

        return Opened(studio.bases.join(load_encoder(BUNDLED, device), device))
    with _named(space), laid_out(studio, space.version.tree_sha256) as folder:
        if space.version.kind == "encoder":
            from core.encoders.loading import load_folder
            from core.responses import load_ranker

            encoder = load_folder(folder / "encoder", device, studio.bases)
            return Opened(encoder, ranker=load_ranker(folder / "encoder", encoder))
        from core.bundle.layout import load_pipeline

        pipeline = load_pipeline(folder, device, studio.bases)
        return Opened(pipeline.encoder, pipeline)


def _size(opened: Opened) -> int:
    """Return the bytes of a cached space; an adapter's base is shared with other spaces."""
    from core.encoders.adapter.encoder import AdaptedEncoder

    if isinstance(opened.encoder, AdaptedEncoder):
        return opened.encoder.adapter.n_bytes + _MODULES_BYTES
    return _ENCODER_BYTES


@contextmanager
def laid_out(
    studio: Studio, tree_sha256: str, only: Container[str] | None = None
) -> Iterator[Path]:
    """Copy or link the files of a tree, or `only` some, into a folder that is deleted afterwards.

    Raises:
        ArtifactDamaged: Files are missing or changed.
    """
    home = studio.places.scratch  # beside the artifacts, so that files are linked, not copied
    home.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=home) as scratch:
        with studio.database.read() as connection:
            studio.artifacts.check_out(connection, tree_sha256, Path(scratch), only)
        yield Path(scratch)


def require_pipeline(opened: Opened) -> IntentPipeline:
    """Return the pipeline; raise `InvalidInput` for an encoder version."""
    if opened.pipeline is None:
        raise InvalidInput(
            "This is only a start for trainings: it gives no answers.",
            "Train a version first, or colour the map by something else.",
        )
    return opened.pipeline
