"""The state with which a resumed run ends bit for bit as an uninterrupted one."""

import hashlib
import json
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import get_args

import numpy as np
from numpy.typing import ArrayLike
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from core.files import sync_folder, write_synced
from core.types import AskedPrecision, Precision

_KEPT = 2


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The state after `step` steps: trainable weights, optimiser moments and random state.

    Attributes:
        step: Steps of its stage, from 1.
        before: Steps of the run's earlier stages.
        finished: The last checkpoints of earlier stages.
        rows: Digest of what the stage learns from, by `digest_of`; "" where it cannot change.
        precision: Number format of the run; `auto` where it has none, or an earlier release ran.
    """

    stage: str
    step: int
    tensors: Mapping[str, Tensor] = field(repr=False)
    before: int = 0
    finished: tuple["Checkpoint", ...] = field(default=(), repr=False)
    rows: str = ""
    precision: AskedPrecision = "auto"

    def of(self, stage: str) -> "Checkpoint | None":
        """Return the last checkpoint of a stage; None if there is none."""
        return next((one for one in (self, *self.finished) if one.stage == stage), None)


def digest_of(texts: Sequence[str], labels: ArrayLike) -> str:
    """Return what stands for the rows of a tuning: texts and what they are labelled with."""
    digest = hashlib.sha256(json.dumps(list(texts)).encode())
    digest.update(np.ascontiguousarray(labels).tobytes())
    return digest.hexdigest()


def keep_checkpoint(folder: Path, checkpoint: Checkpoint) -> None:
    """Write a checkpoint atomically, even if the process is killed.

    Only the newest two and the last of each earlier stage are kept.
    """
    folder.mkdir(parents=True, exist_ok=True)
    content = save(dict(checkpoint.tensors))
    facts = {
        "stage": checkpoint.stage,
        "step": checkpoint.step,
        "before": checkpoint.before,
        "rows": checkpoint.rows,
        "precision": checkpoint.precision,
        "sha256": hashlib.sha256(content).hexdigest(),
    }
    part = folder / f".part-{os.getpid()}"
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir()
    write_synced(part / "state.safetensors", content)
    write_synced(part / "checkpoint.json", json.dumps(facts).encode())
    target = folder / f"step-{checkpoint.before + checkpoint.step:08d}"
    shutil.rmtree(target, ignore_errors=True)
    part.rename(target)
    sync_folder(folder)
    stored = sorted(folder.glob("step-*"))
    last = {_stage_of(one): one for one in stored}
    for old in stored[:-_KEPT]:
        if old not in last.values():
            shutil.rmtree(old, ignore_errors=True)


def forget_stage(folder: Path, stage: str) -> None:
    """Delete the checkpoints of a stage, which begins anew."""
    for one in sorted(folder.glob("step-*")):
        if _stage_of(one) == stage:
            shutil.rmtree(one, ignore_errors=True)


def latest_checkpoint(folder: Path) -> Checkpoint | None:
    """Read the newest undamaged checkpoint, with the last one of each stage before it."""
    found: dict[str, Checkpoint] = {}
    for candidate in sorted(folder.glob("step-*"), reverse=True):
        if _stage_of(candidate) not in found:
            checkpoint = _read(candidate)
            found |= {} if checkpoint is None else {checkpoint.stage: checkpoint}
    if not found:
        return None
    newest, *finished = found.values()
    return replace(newest, finished=tuple(finished))


def _stage_of(folder: Path) -> str:
    try:
        facts = json.loads((folder / "checkpoint.json").read_text(encoding="utf-8"))
        return str(facts["stage"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def _read(folder: Path) -> Checkpoint | None:
    try:
        facts = json.loads((folder / "checkpoint.json").read_text(encoding="utf-8"))
        content = (folder / "state.safetensors").read_bytes()
        if hashlib.sha256(content).hexdigest() != facts["sha256"]:
            return None
        return Checkpoint(
            str(facts["stage"]),
            int(facts["step"]),
            load(content),
            int(facts.get("before", 0)),
            rows=str(facts.get("rows", "")),
            precision=_known_precision(facts.get("precision")),
        )
    except (OSError, ValueError, KeyError, SafetensorError):
        return None


def _known_precision(stored: object) -> AskedPrecision:
    formats: tuple[Precision, ...] = get_args(Precision)
    return next((one for one in formats if one == stored), "auto")
