"""The model that a server answers by: a bundle's graph, its name and its versions."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.serving.limits import Serving
from core.bundle.archive import open_bundle
from core.bundle.facts import is_graph
from core.errors import InvalidInput
from core.runtime.engine import Engine, open_engine

_FIRST = "hello"


@dataclass(frozen=True, slots=True, eq=False)
class ServedModel:
    """An opened graph under its name in addresses; versions are None where the bundle has none."""

    name: str
    engine: Engine
    model_version: str | None
    dataset_version: str | None

    @property
    def facts(self) -> dict[str, Any]:
        """What each reply says about the model."""
        return {
            "model": self.name,
            "model_version": self.model_version,
            "dataset_version": self.dataset_version,
        }


def open_model(serving: Serving) -> ServedModel:
    """Verify a bundle, open its graph, and let it answer a first text.

    Raises:
        InvalidInput: There is no such file, or it holds no graph.
        ArtifactDamaged: The bundle does not match its manifest, or cannot be read.
    """
    with open_bundle(Path(serving.bundle)) as (folder, manifest):
        if not is_graph(manifest.facts):
            raise InvalidInput(
                f"{serving.bundle} holds an encoder for torch, and no graph.",
                "Export it by `intent-studio bundle export MODEL OUT.zip --runtime onnx`.",
            )
        engine = open_engine(folder, serving.threads)
    engine.predict([_FIRST])
    decider = engine.decider
    name = serving.name or str(manifest.facts.get("project") or Path(serving.bundle).stem)
    return ServedModel(name, engine, decider.model_version, decider.dataset_version)
