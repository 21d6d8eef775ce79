"""Several processes take the step of one; a GPU computes the same bits each time."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import distributed

from core.encoders.base import Tuning, TuningOptions
from core.encoders.loading import load_folder
from core.encoders.opening import open_tuning
from core.recipes.labels import ConvfitRecipe
from core.training import loop
from core.training.devices import Share, device_of_process, repeatable, share_of_process
from core.training.loop import FitOptions, fit
from core.training.objectives import Objective, build_objective
from tests.builders.forked_command import run_in_two
from tests.builders.tiny_encoder import tiny_transformer
from tests.conftest import SENTENCES

TEXTS = [text for texts in SENTENCES.values() for text in texts]
LABELS = [place for place, texts in enumerate(SENTENCES.values()) for _ in texts]
RECIPE = ConvfitRecipe(
    epochs=2, frozen_layers=1, learning_rate=1e-3, intents_per_batch=3, prototype_weight=1.0
)


def trained(folder: Path, device: str = "cpu", *, dropout: bool) -> tuple[Tuning, list[float]]:
    options = TuningOptions(frozen_layers=1, device=device)
    tuning = open_tuning(load_folder(folder), TEXTS, options)
    for module in tuning.modules():
        if not dropout and isinstance(module, torch.nn.Dropout):
            module.p = 0.0
        if not dropout and hasattr(module, "attention_dropout"):
            module.attention_dropout = 0.0
    return tuning, [step.loss for step in fit(tuning, LABELS, RECIPE, FitOptions())]


def train_as_one_of_two(rank: int, folder: Path, out: Path) -> None:
    """Body of a process; writes its weights with and without dropout."""
    torch.set_num_threads(1)
    distributed.init_process_group("gloo", f"file://{out}/meet", rank=rank, world_size=2)
    assert share_of_process() == Share(rank, 2)
    for dropout in (False, True):
        tuning, losses = trained(folder, dropout=dropout)
        weights = {name: p.detach() for name, p in tuning.trainable()}
        save_file({**weights, "losses": torch.tensor(losses)}, out / f"{rank}-{dropout}")
    distributed.barrier()
    distributed.destroy_process_group()
    os._exit(0)  # the threads of gloo have been seen to abort an interpreter that says farewell


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["packed", "distilbert"])
def test_two_processes_end_where_one_does(tiny_path: Path, tmp_path: Path, kind: str) -> None:
    folder = tiny_path if kind == "packed" else tiny_transformer(tmp_path / "model", kind)
    run_in_two(train_as_one_of_two, (folder, tmp_path))
    alone, losses = trained(folder, dropout=False)
    together = load_file(tmp_path / "0-False")
    assert together["losses"].tolist() == pytest.approx(losses, abs=1e-4)
    for name, weight in alone.trainable():
        assert torch.allclose(together[name], weight, atol=2e-5), name
    for dropout in (False, True):
        first, second = (load_file(tmp_path / f"{rank}-{dropout}") for rank in (0, 1))
        assert all(torch.equal(first[name], second[name]) for name in first)


class _Doubling:
    """Stands for an encoder; its embeddings tell which rows it was asked for."""

    def __call__(self, rows: torch.Tensor) -> torch.Tensor:
        return torch.stack([rows.double(), 2 * rows.double()], dim=1)


@pytest.mark.parametrize(("n_rows", "count"), [(5, 2), (2, 3), (7, 4), (1, 2)])
def test_shares_put_together_are_the_batch(monkeypatch, n_rows: int, count: int) -> None:
    rows = torch.arange(10, 10 + n_rows)
    asked: list[torch.Tensor] = []

    def ask(tuning_rows: torch.Tensor) -> torch.Tensor:
        asked.append(tuning_rows)
        return _Doubling()(tuning_rows)

    monkeypatch.setattr(distributed, "all_gather", lambda parts, own: None)
    for index in range(count):
        whole = Share(index, count).embed(ask, rows)
        assert whole.shape == (n_rows, 2)
    assert len({len(part) for part in asked}) == 1
    assert torch.equal(torch.cat(asked)[:n_rows], rows)


def test_a_process_alone_computes_as_if_there_were_no_others() -> None:
    rows = torch.arange(3)
    assert share_of_process() == Share(0, 1)
    assert torch.equal(Share().embed(_Doubling(), rows), _Doubling()(rows))
    state = torch.get_rng_state()
    Share().seed_step(0, 1)
    assert torch.equal(torch.get_rng_state(), state)


def test_processes_draw_different_dropout_that_depends_on_the_step_alone() -> None:
    def drawn(index: int, step: int) -> float:
        Share(index, 2).seed_step(7, step)
        return float(torch.rand(()))

    assert drawn(0, 3) == drawn(0, 3)
    assert len({drawn(0, 3), drawn(1, 3), drawn(0, 4), drawn(1, 4)}) == 4


def test_a_run_on_the_cpu_leaves_accelerate_alone(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "accelerate", None)  # importing it would fail
    assert device_of_process("cpu") == "cpu"


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("kind", ["packed", "mpnet"])
def test_one_seed_gives_the_same_bits_on_a_gpu(tiny_path: Path, tmp_path: Path, kind: str) -> None:
    folder = tiny_path if kind == "packed" else tiny_transformer(tmp_path / "model", kind)
    device = device_of_process("cuda")
    (one, _), (other, _) = (trained(folder, device, dropout=True) for _ in range(2))
    pairs = zip(one.trainable(), other.trainable(), strict=True)
    assert all(torch.equal(left, right) for (_, left), (_, right) in pairs)
    assert not torch.are_deterministic_algorithms_enabled()


def test_prototypes_are_summed_as_repeatably_as_steps(
    monkeypatch: pytest.MonkeyPatch, tiny_path: Path
) -> None:
    """On a GPU they were summed in no fixed order, so that two equal runs ended 0.0006 apart."""
    entered: list[str] = []

    @contextmanager
    def noted(device: torch.device) -> Iterator[None]:
        entered.append(device.type)
        yield
        entered.pop()

    def build(*arguments: Any) -> Objective:
        assert entered == ["cpu"]
        return build_objective(*arguments)

    monkeypatch.setattr(loop, "repeatable", noted)
    monkeypatch.setattr(loop, "build_objective", build)
    assert trained(tiny_path, dropout=False)[1]


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_prototypes_of_many_rows_have_the_same_bits_on_a_gpu() -> None:
    generator = torch.Generator().manual_seed(0)
    rows = torch.randn(4_000, 384, generator=generator).cuda()
    labels = (torch.arange(4_000) % 4).cuda()
    with repeatable(rows.device):
        first, *others = (
            build_objective(RECIPE, rows, labels).weights["prototypes"] for _ in range(5)
        )
    assert all(torch.equal(first, other) for other in others)


def test_repeatable_changes_nothing_on_the_cpu() -> None:
    with repeatable(torch.device("cpu")):
        assert not torch.are_deterministic_algorithms_enabled()
