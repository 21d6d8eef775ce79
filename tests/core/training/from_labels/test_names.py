"""Training with names: batches, the objective, each variant, and the command that measures."""

import json
from collections.abc import Generator
from pathlib import Path

import numpy as np
import pytest
import torch

from app.cli import main
from core.encoders.base import Encoder
from core.encoders.dual.encoder import DualEncoder, names_side
from core.encoders.dual.static import StaticEncoder
from core.encoders.packed.encoder import TransformerEncoder
from core.errors import InvalidInput
from core.intent_names import names_head
from core.losses.naming import name_cross_entropy
from core.recipes.labels import LabelEncoderRecipe
from core.recipes.read import read_recipe
from core.training.checkpoints import Checkpoint
from core.training.events import CheckpointReady, Event, StepDone
from core.training.from_labels.inputs import RunInputs
from core.training.from_labels.names import (
    NamingObjective,
    plan_naming,
    tune_to_names,
)
from core.types import Exemplar, Intent
from tests.conftest import SENTENCES

QUICK = {"epochs": 6, "batch_size": 8, "learning_rate": 5e-3, "width": 8, "frozen_layers": 0}
INTENTS = tuple(Intent(name) for name in SENTENCES)
EXEMPLARS = tuple(
    Exemplar(f"{intent}-{at}", text, (intent,))
    for intent, texts in SENTENCES.items()
    for at, text in enumerate(texts)
)


def _trained(
    recipe: LabelEncoderRecipe, inputs: RunInputs, resume: Checkpoint | None = None
) -> tuple[Encoder, list[Event]]:
    run: Generator[Event, None, Encoder] = tune_to_names(recipe, inputs, resume)
    events: list[Event] = []
    while True:
        try:
            events.append(next(run))
        except StopIteration as end:
            return end.value, events


def _accuracy(encoder: Encoder, recipe: LabelEncoderRecipe) -> float:
    head = names_head(encoder, INTENTS, recipe.similarity)
    best = head.scores(encoder.encode([e.text for e in EXEMPLARS])).argmax(1)
    return float(
        np.mean([INTENTS[k].name == e.intents[0] for k, e in zip(best, EXEMPLARS, strict=True)])
    )


def test_a_batch_holds_the_names_of_its_utterances_and_some_others_once() -> None:
    labels = [0, 0, 1, 1, 2, 2, 3, 3]
    recipe = LabelEncoderRecipe(batch_size=3, epochs=2, negatives=1)
    plan = plan_naming(labels, 5, recipe)
    for epoch in (1, 2):
        dealt = [row for number, rows in plan if number == epoch for row in rows if row < 8]
        assert sorted(dealt) == list(range(8))
    for _, rows in plan:
        own = {labels[row] for row in rows if row < 8}
        named = [row - 8 for row in rows if row >= 8]
        assert len(named) == len(set(named)) == len(own) + 1
        assert own < set(named) <= set(range(5))
    again = plan_naming(labels, 5, recipe)
    assert all((one == other).all() for (_, one), (_, other) in zip(plan, again, strict=True))


def test_the_objective_finds_each_utterances_name_wherever_it_stands() -> None:
    recipe = LabelEncoderRecipe(temperature=0.5)
    rows = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8], [1.0, 1.0]])
    labels = torch.tensor([-1 - 4, 7, -1 - 7, 4])  # name of 4, text of 7, name of 7, text of 4
    scores = torch.tensor([[0.0, 0.8], [0.5**0.5, 1.4 * 0.5**0.5]])
    expected = name_cross_entropy(scores, torch.tensor([1, 0]), 0.5)
    torch.testing.assert_close(NamingObjective(recipe)(rows, labels), expected)


@pytest.mark.parametrize(
    "settings",
    [
        {"variant": "siamese"},
        {"variant": "non-siamese"},
        {"variant": "heterogeneous"},
        {"variant": "non-siamese", "similarity": "dot", "temperature": 1.0, "names_rate": 1.0},
        {"variant": "heterogeneous", "loss": "mse", "negatives": 3, "epochs": 15},
    ],
)
def test_each_variant_brings_utterances_to_their_names(
    tiny: TransformerEncoder, settings: dict[str, object]
) -> None:
    recipe = read_recipe("label-encoder", {**QUICK, **settings})
    before = tiny.encode(["hello"])
    found, events = _trained(recipe, RunInputs(EXEMPLARS, INTENTS, tiny))
    assert (tiny.encode(["hello"]) == before).all()
    steps = [event for event in events if isinstance(event, StepDone)]
    assert steps[-1].step == steps[-1].total == 3 * recipe.epochs
    assert steps[-1].loss < steps[0].loss
    assert _accuracy(found, recipe) >= 0.6 > 0.45 > _accuracy(tiny, recipe)
    assert isinstance(found, DualEncoder) is (recipe.variant != "siamese")
    assert isinstance(names_side(found), StaticEncoder) is (recipe.variant == "heterogeneous")


def test_frozen_names_stay_as_they_were(tiny: TransformerEncoder) -> None:
    recipe = read_recipe("label-encoder", {**QUICK, "epochs": 1, "names_rate": 0.0})
    found, _ = _trained(recipe, RunInputs(EXEMPLARS, INTENTS, tiny))
    assert (names_side(found).encode(["refund"]) == tiny.encode(["refund"])).all()
    assert not (found.encode(["refund"]) == tiny.encode(["refund"])).all()


def test_a_run_goes_on_where_it_stopped_and_the_seed_decides(tiny: TransformerEncoder) -> None:
    recipe = read_recipe("label-encoder", {**QUICK, "variant": "heterogeneous", "epochs": 2})
    inputs = RunInputs(EXEMPLARS, INTENTS, tiny, checkpoint_every=2)
    whole, events = _trained(recipe, inputs)
    kept = next(event for event in events if isinstance(event, CheckpointReady)).checkpoint
    resumed, later = _trained(recipe, inputs, kept)
    assert resumed.fingerprint == whole.fingerprint
    assert next(event for event in later if isinstance(event, StepDone)).step == kept.step + 1
    other, _ = _trained(recipe.model_copy(update={"seed": 1}), inputs)
    assert other.fingerprint != whole.fingerprint


def test_unknown_settings_are_named() -> None:
    with pytest.raises(InvalidInput, match=r"variant.*temperature"):
        read_recipe("label-encoder", {"variant": "triplet", "temperature": 0})


def test_the_command_prints_figures(
    tiny_path: Path, labelled_csv: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["bench", "label-encoder", "--train", str(labelled_csv), "--test", str(labelled_csv)]
    command += ["--base", str(tiny_path), "--seeds", "0,1", "--shots", "3", "--json"]
    settings = [f"{key}={value}" for key, value in {**QUICK, "epochs": 1}.items()]
    command += [part for setting in settings for part in ("--set", setting)]
    assert main(command) == 0
    found = json.loads(capsys.readouterr().out)
    variants = found["variants"]
    assert list(variants) == ["siamese", "non-siamese", "heterogeneous"]
    assert variants["siamese"]["share_of_homogeneous"] == 50.0
    assert variants["heterogeneous"]["share_of_homogeneous"] < 70
    assert set(variants["siamese"]["per_seed"]) == {"0", "1"}
    # All five greetings and two refunds share no word with their intent, nor with another.
    assert (found["test_rows"], found["borderline_rows"]) == (20, 0)
    assert found["no_word_shared_with_own"] == 35.0
    assert variants["siamese"]["borderline"] is None
    mixture = {"examples", "with_names", "names_as_exemplars", "per_seed"}
    assert mixture == set(found["mixture"])
    assert 0 <= found["zero_shot"]["accuracy"] <= 100
