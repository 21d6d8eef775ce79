"""One optimiser for all training loops: which weights decay, and what a checkpoint brings back."""

import math

import pytest
import torch
from torch import nn

from core.encoders.base import TuningOptions
from core.encoders.opening import open_tuning
from core.encoders.packed.encoder import TransformerEncoder
from core.errors import RunFailed
from core.formats.dialogues import Pair
from core.recipes.conversations import ConvertRecipe, DialoguesRecipe
from core.recipes.labels import ConvfitRecipe
from core.training.events import CheckpointReady, StepDone
from core.training.from_conversations.loop import RankOptions, rank
from core.training.from_conversations.towers import EncoderTowers
from core.training.loop import FitOptions, fit
from core.training.optimiser import Optimiser, build_optimiser, require_finite

Recipe = DialoguesRecipe | ConvertRecipe
CPU = torch.device("cpu")
SETTINGS = {"learning_rate": 1e-2, "weight_decay": 0.1}
RECIPES = (DialoguesRecipe(**SETTINGS), ConvertRecipe(**SETTINGS, optimizer="adadelta"))


def build(recipe: Recipe = RECIPES[0]) -> Optimiser:
    torch.manual_seed(0)
    names = ("layer.weight", "layer.bias", "LayerNorm.weight", "objective.points", "names.weight")
    weights = [(name, nn.Parameter(torch.randn(3))) for name in names]
    return build_optimiser(weights, recipe, CPU, {"names.": 30.0})


def take_steps(optimiser: Optimiser, count: int) -> None:
    for _ in range(count):
        noise = torch.randn(len(optimiser.parameters), 3)
        for (_, weight), gradient in zip(optimiser.parameters, noise, strict=True):
            weight.grad = gradient.clone()
        optimiser.step(optimiser.weights())


def test_biases_norms_and_weights_of_the_objective_do_not_decay() -> None:
    optimiser = build()
    names = {id(weight): name for name, weight in optimiser.parameters}
    decay = {
        names[id(weight)]: (group["weight_decay"], group["factor"])
        for group in optimiser.algorithm.param_groups
        for weight in group["params"]
    }
    assert decay == {
        "layer.weight": (0.1, 1.0),
        "layer.bias": (0.0, 1.0),
        "LayerNorm.weight": (0.0, 1.0),
        "objective.points": (0.0, 1.0),
        "names.weight": (0.1, 30.0),
    }
    optimiser.set_rate(0.5)
    rates = {group["factor"]: group["lr"] for group in optimiser.algorithm.param_groups}
    assert rates == {1.0: pytest.approx(0.005), 30.0: pytest.approx(0.15)}


@pytest.mark.parametrize("recipe", RECIPES, ids=["adamw", "adadelta"])
def test_a_restored_optimiser_goes_on_bit_for_bit(recipe: Recipe) -> None:
    through = build(recipe)
    take_steps(through, 3)
    state = through.state()
    take_steps(through, 3)
    resumed = build(recipe)
    resumed.restore(state)
    take_steps(resumed, 3)
    for (_, one), (_, other) in zip(through.parameters, resumed.parameters, strict=True):
        assert torch.equal(one, other)


def test_the_papers_optimizer_is_adadelta() -> None:
    weights = [
        ("a.weight", torch.nn.Parameter(torch.ones(2))),
        ("a.bias", torch.nn.Parameter(torch.ones(2))),
    ]
    recipe = ConvertRecipe(optimizer="adadelta", learning_rate=1.0)
    found = build_optimiser(weights, recipe, CPU).algorithm
    assert isinstance(found, torch.optim.Adadelta)
    assert found.defaults["rho"] == 0.9
    assert [group["weight_decay"] for group in found.param_groups] == [1e-5, 0.0]


TEXTS = ["hello", "good day", "where is my parcel", "my parcel is late"]


def spoil(weights: list[tuple[str, nn.Parameter]]) -> None:
    """Do to the first weight what a step that is too large does to all."""
    with torch.no_grad():
        weights[0][1].fill_(math.nan)


def test_a_training_on_labels_ends_at_the_first_loss_that_is_no_number(
    tiny: TransformerEncoder,
) -> None:
    """All steps went on, and a version whose scores are no numbers was stored."""
    tuning = open_tuning(tiny, TEXTS, TuningOptions(frozen_layers=1))
    events = fit(tuning, [0, 0, 1, 1], ConvfitRecipe(epochs=5), FitOptions(checkpoint_every=1))
    first, kept = next(events), next(events)
    assert isinstance(first, StepDone)
    assert isinstance(kept, CheckpointReady)
    assert first.total == 5
    spoil(tuning.trainable())
    with pytest.raises(RunFailed, match="lost its way") as told:
        next(events)
    assert told.value.hint == "Choose a smaller learning rate, or another base encoder."


def test_a_training_on_conversations_ends_so_too(tiny: TransformerEncoder) -> None:
    recipe = DialoguesRecipe(minutes=None, batch_size=3, epochs=2)
    tuning = open_tuning(tiny, ["a"], TuningOptions(frozen_layers=1))
    pairs = [Pair(f"where is parcel {n}", f"parcel {n} is late") for n in range(6)]
    towers = EncoderTowers(tuning, recipe, tiny.dim)
    events = rank(towers, lambda: iter(pairs), recipe, RankOptions())
    first = next(events)
    assert isinstance(first, StepDone)
    spoil(tuning.trainable())
    with pytest.raises(RunFailed, match="lost its way"):
        next(events)


def test_a_large_loss_is_a_number() -> None:
    require_finite(3e38)
    require_finite(-1e4)
    for lost in (math.inf, -math.inf, math.nan):
        with pytest.raises(RunFailed, match="no number any more"):
            require_finite(lost)
