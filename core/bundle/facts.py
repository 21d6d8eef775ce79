"""The facts about a stored pipeline, read and written without its encoder."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from core.errors import MALFORMED, ArtifactDamaged

RUNTIME, ONNX = "runtime", "onnx"
"""Fact of a bundle that is one graph: by what it is run."""


def is_graph(facts: Mapping[str, Any]) -> bool:
    """Whether a bundle is one graph for ONNX Runtime, without an encoder for torch."""
    return facts.get(RUNTIME) == ONNX


def is_unmeasured(facts: Mapping[str, Any]) -> bool:
    """Whether a graph in 8 bits was not compared with float32, for want of test texts."""
    return is_graph(facts) and facts.get("precision") == "int8" and not facts.get("precisions")


def read_facts(folder: Path) -> dict[str, Any]:
    """Read the facts about a stored pipeline.

    Raises:
        ArtifactDamaged: The facts are missing or not JSON.
    """
    try:
        return dict(json.loads((folder / "facts.json").read_text(encoding="utf-8")))
    except MALFORMED as error:
        raise ArtifactDamaged(
            f"{folder.name} holds no readable facts.json: {error}.", "Export it again."
        ) from error


def add_facts(folder: Path, more: Mapping[str, object]) -> None:
    """Replace facts of a stored pipeline, whose file may be a hard link."""
    known = read_facts(folder)
    (folder / "facts.json").unlink()
    write_json(folder / "facts.json", {**known, **more})


def write_json(path: Path, value: object) -> None:
    """Write JSON in sorted order, so that equal values are equal bytes."""
    path.write_text(as_json(value), encoding="utf-8")


def as_json(value: object) -> str:
    """Return the content of a file as `write_json` writes it."""
    return json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
