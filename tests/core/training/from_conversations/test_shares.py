"""Two processes that rank responses together take the steps of one."""

import os
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import distributed

from core.encoders.base import TuningOptions
from core.encoders.loading import load_folder
from core.encoders.opening import open_tuning
from core.formats.dialogues import Pair
from core.recipes.conversations import DialoguesRecipe
from core.training.events import StepDone
from core.training.from_conversations.loop import RankOptions, rank
from core.training.from_conversations.towers import EncoderTowers
from tests.builders.forked_command import run_in_two

PAIRS = [Pair(f"where is parcel {n}", f"parcel {n} is late") for n in range(21)]
RECIPE = DialoguesRecipe(minutes=None, batch_size=7, chunk=3, learning_rate=1e-3)


def trained(folder: Path, recipe: DialoguesRecipe = RECIPE) -> dict[str, torch.Tensor]:
    tuning = open_tuning(load_folder(folder), ["a"], TuningOptions(frozen_layers=0))
    for module in tuning.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
        if hasattr(module, "attention_dropout"):
            module.attention_dropout = 0.0
    events = rank(
        EncoderTowers(tuning, recipe, tuning.base.dim), lambda: iter(PAIRS), recipe, RankOptions()
    )
    losses = [event.loss for event in events if isinstance(event, StepDone)]
    weights = {name: weight.detach() for name, weight in tuning.trainable()}
    return {**weights, "losses": torch.tensor(losses)}


def train_as_one_of_two(index: int, folder: Path, out: Path) -> None:
    """Body of a process; the second one has a slower clock, and both stop together."""
    torch.set_num_threads(1)
    distributed.init_process_group("gloo", f"file://{out}/meet", rank=index, world_size=2)
    save_file(trained(folder), out / f"weights-{index}")
    limited = RECIPE.model_copy(update={"minutes": 1.0, "epochs": 50})
    tuning = open_tuning(load_folder(folder), ["a"], TuningOptions(frozen_layers=1))
    ticks = iter(range(0, 10_000, 5 + 5 * index))
    options = RankOptions(seconds=lambda: float(next(ticks)))
    events = list(
        rank(EncoderTowers(tuning, limited, tuning.base.dim), lambda: iter(PAIRS), limited, options)
    )
    save_file({"steps": torch.tensor([len(events)])}, out / f"steps-{index}")
    distributed.barrier()
    distributed.destroy_process_group()
    os._exit(0)


@pytest.mark.slow
def test_two_processes_end_where_one_does(tiny_path: Path, tmp_path: Path) -> None:
    run_in_two(train_as_one_of_two, (tiny_path, tmp_path))
    alone = trained(tiny_path)
    for index in range(2):
        together = load_file(tmp_path / f"weights-{index}")
        assert together["losses"].tolist() == pytest.approx(alone["losses"].tolist(), abs=1e-4)
        for name, weight in alone.items():
            assert torch.allclose(together[name], weight, atol=2e-3), name
        assert load_file(tmp_path / f"steps-{index}")["steps"].tolist() == [6]
