"""A pipeline as a folder of plain files, and back: what is stored, versioned and bundled.

encoder/                a sentence-transformers folder; with an adapter, its untouched base
encoder/adapter/        the adapter, where there is one: its weights, and where they belong
head.json               kind of the head, its intents and settings
head.safetensors        its arrays, and the exemplars' embeddings
calibration.json        task, temperature and thresholds
exemplars.jsonl         id, text and intents of the exemplars, in the order of the embeddings
exact.json              texts that are answered as labelled, by match key
facts.json              versions, lineage, metrics, intents with descriptions
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from core.encoders.loading import load_folder
from core.encoders.shared import SharedBases
from core.errors import ArtifactDamaged
from core.heads.build import head_from_arrays, head_to_arrays
from core.heads.decision import Calibration, calibration_from_json, calibration_to_json
from core.pipeline import IntentPipeline
from core.types import Exemplar

_SHARED = "exemplars"


def save_pipeline(pipeline: IntentPipeline, facts: Mapping[str, Any], folder: Path) -> None:
    """Write a pipeline and the facts about it; equal pipelines write equal bytes.

    Raises:
        InvalidInput: The encoder cannot be stored.
    """
    folder.mkdir(parents=True, exist_ok=True)
    pipeline.encoder.save(folder / "encoder")
    head, arrays = head_to_arrays(pipeline.head)
    # The voting rows are the shown ones; storing them once keeps both the same for ever.
    arrays = {name: value for name, value in arrays.items() if name != _SHARED}
    arrays["embeddings"] = pipeline.embeddings
    ordered = {name: np.ascontiguousarray(arrays[name]) for name in sorted(arrays)}
    save_file(ordered, folder / "head.safetensors")
    _write_json(folder / "head.json", head)
    decision = {**calibration_to_json(pipeline.calibration), "neighbours": pipeline.n_neighbours}
    _write_json(folder / "calibration.json", decision)
    lines = [
        json.dumps({"id": e.id, "text": e.text, "intents": e.intents}, ensure_ascii=False)
        for e in pipeline.exemplars
    ]
    (folder / "exemplars.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    _write_json(folder / "exact.json", {key: list(v) for key, v in pipeline.exact.items()})
    _write_json(folder / "facts.json", dict(facts))


def load_pipeline(
    folder: Path, device: str = "cpu", bases: SharedBases | None = None
) -> IntentPipeline:
    """Read a pipeline; it answers bit for bit as the one that was saved.

    Args:
        folder: Where it lies.
        device: Where its encoder computes.
        bases: Encoders in use, one of which an adapter may join.

    Raises:
        ArtifactDamaged: A file is missing or is not what it should be.
    """
    facts = read_facts(folder)
    try:
        head_facts = json.loads((folder / "head.json").read_text(encoding="utf-8"))
        arrays = load_file(folder / "head.safetensors")
        decision = json.loads((folder / "calibration.json").read_text(encoding="utf-8"))
        exact = json.loads((folder / "exact.json").read_text(encoding="utf-8"))
        exemplars = _read_exemplars(folder / "exemplars.jsonl")
        embeddings = arrays.pop("embeddings")
    except (OSError, ValueError, KeyError, SafetensorError) as error:
        raise ArtifactDamaged(
            f"The model in {folder.name} cannot be read: {error}.", "Export or train it again."
        ) from error
    return IntentPipeline(
        encoder=load_folder(folder / "encoder", device, bases),
        head=head_from_arrays(head_facts, {**arrays, _SHARED: embeddings}),
        calibration=calibration_from_json(decision),
        exemplars=exemplars,
        embeddings=embeddings,
        n_neighbours=int(decision["neighbours"]),
        exact={key: tuple(names) for key, names in exact.items()},
        model_version=facts.get("model_version"),
        dataset_version=facts.get("dataset_version"),
    )


def read_facts(folder: Path) -> dict[str, Any]:
    """Read what is known about a stored pipeline.

    Raises:
        ArtifactDamaged: The facts are missing or no JSON.
    """
    try:
        return dict(json.loads((folder / "facts.json").read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        raise ArtifactDamaged(
            f"{folder.name} holds no readable facts.json: {error}.", "Export it again."
        ) from error


def read_limits(folder: Path) -> tuple[Calibration, tuple[str, ...]]:
    """Read how a stored pipeline answers, and the intents of its score columns, without the rest.

    Raises:
        ArtifactDamaged: A file is missing or is not what it should be.
    """
    try:
        decision = json.loads((folder / "calibration.json").read_text(encoding="utf-8"))
        intents = json.loads((folder / "head.json").read_text(encoding="utf-8"))["intents"]
    except (OSError, ValueError, KeyError) as error:
        raise ArtifactDamaged(
            f"The model in {folder.name} cannot be read: {error}.", "Export or train it again."
        ) from error
    return calibration_from_json(decision), tuple(intents)


def keep_limits(folder: Path, calibration: Calibration) -> None:
    """Let a stored pipeline answer by other limits; files that share its bytes stay as they are."""
    decision = json.loads((folder / "calibration.json").read_text(encoding="utf-8"))
    changed = {**calibration_to_json(calibration), "neighbours": decision["neighbours"]}
    if changed == decision:
        return
    facts = {**read_facts(folder), "fenced": True}
    for name, value in (("calibration.json", changed), ("facts.json", facts)):
        (folder / name).unlink()  # it may be a link to a file of the studio's own
        _write_json(folder / name, value)


def _read_exemplars(path: Path) -> tuple[Exemplar, ...]:
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
    return tuple(Exemplar(row["id"], row["text"], tuple(row["intents"])) for row in rows)


def _write_json(path: Path, value: object) -> None:
    content = json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True)
    path.write_text(content + "\n", encoding="utf-8")
