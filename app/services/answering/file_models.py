"""What can answer the texts of a file: the studio's own models, and bundles that are one graph."""

import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from core.deciding import Decided, Decider
from core.errors import InvalidInput
from core.files import file_sha256, has_large_directory, is_file
from core.types import EncodingPrecision

if TYPE_CHECKING:
    from core.heads.base import Head
    from core.pipeline import IntentPipeline
    from core.runtime.engine import Engine

Decide = Callable[[Sequence[str]], list[Decided]]
"""Answers texts in their order, without evidence."""


@dataclass(frozen=True, slots=True, eq=False)
class FileModel:
    """A model that answers a file's texts.

    Attributes:
        identity: Words that name all that the answers depend on.
        precision: In which the texts are encoded.
        exact: Answers in float32, to compare with; None where there is nothing to compare.
    """

    decide: Decide
    identity: tuple[str, ...]
    precision: EncodingPrecision
    exact: Decide | None = None


def model_of_pipeline(
    model: "IntentPipeline",
    revision: int | None,
    precision: EncodingPrecision = "float32",
    bundle: str = "",
) -> FileModel:
    """Let a pipeline answer; `revision` is that of the labels that vote, None without any.

    `bundle` is the SHA-256 of the file that it is from; "" for a version of a project. `bfloat16`
    and `int8` round inside the encoder, where the processor multiplies such numbers.
    """
    quick = model
    if precision != "float32":
        from core.encoders.quick.copies import quick_copy  # imports torch

        quick = replace(model, encoder=quick_copy(model.encoder, precision))
    spoken = _digest_of_names(model.head)
    words = quick.encoder.fingerprint, str(revision), spoken, bundle, *_words_of(quick.decider)
    if quick.encoder is model.encoder:
        return FileModel(quick.decide, words, "float32")
    return FileModel(quick.decide, words, precision, model.decide)


def model_of_graph(reference: str, threads: int = 0) -> FileModel | None:
    """Let a bundle that is one graph answer; None for any other model, as of `open_graph`.

    Raises:
        ArtifactDamaged: The bundle is not what was written.
        InvalidInput: Another bundle took its place meanwhile.
    """
    if not _holds_graph(Path(reference)):
        return None
    with unreplaced(reference) as digest:
        engine = open_graph(reference, threads)
    if engine is None:
        return None
    words = (digest, *_words_of(engine.decider))
    return FileModel(engine.decide, words, "int8" if engine.precision == "int8" else "float32")


@contextmanager
def unreplaced(reference: str) -> Iterator[str]:
    """Yield the SHA-256 of a bundle that is opened in the block; "" for a version of a project.

    Raises:
        InvalidInput: Another bundle took its place meanwhile.
    """
    before = _digest(reference)
    yield before
    if before != _digest(reference):
        name = Path(reference).name
        raise InvalidInput(f"{name} was replaced while it was opened.", "Try again.")


def _digest(reference: str) -> str:
    return file_sha256(Path(reference)) if is_file(reference) else ""


def _words_of(decider: Decider) -> tuple[str, ...]:
    names = decider.model_version, decider.dataset_version, len(decider.exemplars), decider.measure
    return (*map(str, names), *decider.intents, decider.limits.tobytes().hex())


def _digest_of_names(head: "Head") -> str:
    """Return the SHA-256 of what names add to scores; their wording may change any time."""
    from core.heads.mixture import MixtureHead
    from core.heads.points import PointHead

    arrays: tuple[NDArray[Any], ...] = ()
    if isinstance(head, MixtureHead):
        arrays = head.names.points, head.weights, head.taus
    elif isinstance(head, PointHead):
        arrays = (head.points,)
    return sha256(b"".join(one.tobytes() for one in arrays)).hexdigest()


def open_graph(reference: str, threads: int = 0) -> "Engine | None":
    """Open a bundle that is one graph, under the name of its file; None for any other model.

    torch is not needed. `threads` compute, 0 for one a processor.

    Raises:
        ArtifactDamaged: The bundle is not what was written.
    """
    path = Path(reference)
    if not _holds_graph(path):
        return None
    from core.bundle.archive import open_bundle

    with open_bundle(path) as (folder, _):
        return engine_of(folder, path.name, threads)


def engine_of(folder: Path, name: str, threads: int = 0) -> "Engine":
    """Open the graph of an unpacked bundle under a name; `threads` are those of `open_graph`.

    Raises:
        ArtifactDamaged: A file is missing or not readable.
        InvalidInput: The library that runs graphs is not installed.
    """
    try:
        from core.runtime.engine import open_engine
    except ImportError as error:
        raise InvalidInput(
            f"Graphs need the package {error.name}, which is not installed.",
            "Install Intent Studio with its extra onnx.",
        ) from error
    engine = open_engine(folder, threads)
    return replace(engine, decider=replace(engine.decider, model_version=name))


def _holds_graph(path: Path) -> bool:
    """Whether a file is a zip with a graph; what is wrong with others is told by their reader."""
    try:
        if not path.is_file() or has_large_directory(path):
            return False
        with zipfile.ZipFile(path) as archive:
            return "model.onnx" in archive.namelist()
    except (OSError, ValueError, zipfile.BadZipFile):
        return False
