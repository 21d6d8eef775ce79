"""The model that a server answers by: a bundle's graph, its name and its versions."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

from app.serving.replacing import Stamp, stamp_of
from core.bundle.archive import open_bundle
from core.bundle.facts import is_graph
from core.errors import ArtifactDamaged, InvalidInput
from core.runtime.engine import Device, Engine, open_engine
from core.types import Prediction

_FIRST = "hello"


@dataclass(frozen=True, slots=True, eq=False)
class ServedModel:
    """An opened graph under its name in addresses; versions are None where the bundle has none.

    Attributes:
        stamp: Of the file, taken before it was opened.
        project: The project that it is of; "" where the bundle does not say.
    """

    name: str
    engine: Engine
    model_version: str | None
    dataset_version: str | None
    stamp: Stamp | None
    project: str

    @property
    def facts(self) -> dict[str, Any]:
        """What each reply says about the model."""
        return {
            "model": self.name,
            "model_version": self.model_version,
            "dataset_version": self.dataset_version,
        }

    @property
    def number(self) -> str:
        """The version in addresses: the number behind the @ of its name, or 1."""
        number = str(self.model_version or "").rpartition("@")[2]
        return number if number.isdecimal() else "1"


def open_model(
    bundle: str, name: str = "", threads: int = 0, device: Device = "cpu"
) -> ServedModel:
    """Verify a bundle, open its graph, and let it answer a first text.

    Without a name, it is called as its project, or as its file.

    Raises:
        InvalidInput: There is no such file, it holds no graph, or the device cannot compute.
        ArtifactDamaged: The bundle does not match its manifest, cannot be read, or answers by what
            is no number.
    """
    path = Path(bundle)
    stamp = stamp_of(path)
    with open_bundle(path) as (folder, manifest):
        if not is_graph(manifest.facts):
            raise InvalidInput(
                f"{bundle} holds an encoder for torch, and no graph.",
                "Export it by `intent-studio bundle export MODEL OUT.zip --runtime onnx`.",
            )
        engine = open_engine(folder, threads, device)
    [first] = engine.predict([_FIRST])
    if not all(map(isfinite, _numbers(first))):
        raise ArtifactDamaged(
            f"The graph in {path.name} answers by what is no number.", "Export it again."
        )
    decider = engine.decider
    project = str(manifest.facts.get("project") or "")
    versions = decider.model_version, decider.dataset_version
    return ServedModel(name or project or path.stem, engine, *versions, stamp, project)


def _numbers(answer: Prediction) -> Iterator[float]:
    """Yield the numbers of an answer, all of which a reply may tell."""
    yield from (answer.decision.held, answer.decision.threshold)
    for one in answer.ranked:
        yield from (one.score, one.probability)
    for reason in answer.reasons:
        yield from (reason.prior, reason.voice)
        for near in reason.neighbours:
            yield from (near.cosine, near.vote)
