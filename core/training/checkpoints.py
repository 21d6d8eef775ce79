"""The state with which a resumed run ends bit for bit as an uninterrupted one."""

import hashlib
import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from core.files import sync_folder, write_synced

_KEPT = 2


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The state after `step` steps: trainable weights, optimiser moments and random state."""

    stage: str
    step: int
    tensors: Mapping[str, Tensor] = field(repr=False)


def keep_checkpoint(folder: Path, checkpoint: Checkpoint) -> None:
    """Write a checkpoint atomically, even if the process is killed; keep only the newest two."""
    folder.mkdir(parents=True, exist_ok=True)
    content = save(dict(checkpoint.tensors))
    facts = {
        "stage": checkpoint.stage,
        "step": checkpoint.step,
        "sha256": hashlib.sha256(content).hexdigest(),
    }
    part = folder / f".part-{os.getpid()}"
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir()
    write_synced(part / "state.safetensors", content)
    write_synced(part / "checkpoint.json", json.dumps(facts).encode())
    target = folder / f"step-{checkpoint.step:08d}"
    shutil.rmtree(target, ignore_errors=True)
    part.rename(target)
    sync_folder(folder)
    for old in sorted(folder.glob("step-*"))[:-_KEPT]:
        shutil.rmtree(old, ignore_errors=True)


def latest_checkpoint(folder: Path) -> Checkpoint | None:
    """Read the newest undamaged checkpoint."""
    for candidate in sorted(folder.glob("step-*"), reverse=True):
        checkpoint = _read(candidate)
        if checkpoint is not None:
            return checkpoint
    return None


def _read(folder: Path) -> Checkpoint | None:
    try:
        facts = json.loads((folder / "checkpoint.json").read_text(encoding="utf-8"))
        content = (folder / "state.safetensors").read_bytes()
        if hashlib.sha256(content).hexdigest() != facts["sha256"]:
            return None
        return Checkpoint(str(facts["stage"]), int(facts["step"]), load(content))
    except (OSError, ValueError, KeyError, SafetensorError):
        return None
