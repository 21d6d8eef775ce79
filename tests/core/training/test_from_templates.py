"""Learning from templates: who is paired with whom, and what a run makes."""

import numpy as np
import pytest
import torch

from core.encoders.loading import load_folder
from core.errors import InvalidInput
from core.losses.template import TemplateWeights, Views, template_loss
from core.recipes.read import read_recipe
from core.recipes.templates import TemplatesRecipe, utterances_alone
from core.templates.slots import Slot, SlottedText, slotted, template_of
from core.training.events import CheckpointReady, StageBegunAnew, StageStarted, StepDone
from core.training.from_templates import (
    TemplateInputs,
    TemplateObjective,
    pair_up,
    plan_course,
    run_templates,
)
from core.vectors import unit_rows
from tests.builders.tiny_encoder import tiny_folder

CITIES = ("rome", "oslo", "york", "bern")
WORDS = ("fly to {} now", "hotels in {} please", "is it warm in {}", "taxi from {} at six")
CPU = torch.device("cpu")


def marked(pattern: str, city: str) -> SlottedText:
    start = pattern.index("{")
    return slotted(pattern.format(city), [Slot(start, start + len(city), "city")])


SAID = [marked(pattern, city) for pattern in WORDS for city in CITIES]
RECIPE = TemplatesRecipe(epochs=6, batch_size=8, learning_rate=2e-3, frozen_layers=0, augment=False)


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory):
    return load_folder(tiny_folder(tmp_path_factory.mktemp("base") / "tiny"))


def drain(run):
    events = []
    while True:
        try:
            events.append(next(run))
        except StopIteration as end:
            return end.value, events


def test_an_utterance_is_paired_with_its_own_template_alone() -> None:
    """In every batch, whatever the order: the blocks of a step lie row by row beside each other."""
    pairing = pair_up([*SAID, SlottedText("hello")], RECIPE.model_copy(update={"augment": True}))
    of_text = {one.text: template_of(one) for one in SAID} | {"hello": "hello"}
    objective = TemplateObjective(RECIPE, 4, CPU)
    seen = []
    for _, rows in plan_course(pairing, RECIPE, 4, CPU).plan:
        blocks = rows.reshape(sum(objective.blocks), -1)
        for template, again, utterance, other in blocks.T:
            assert (template, utterance) == (again, other)
            text = pairing.texts[utterance]
            expected = of_text.get(text) or text.replace(city_in(text), "{SLOT}")
            assert pairing.texts[template] == expected
            seen.append(text)
    assert sorted(set(seen)) == sorted(pairing.texts[: len(pairing.template_rows)])
    assert len(seen) == RECIPE.epochs * len(pairing.template_rows)


def city_in(text: str) -> str:
    return next(city for city in CITIES if city in text)


def test_synthetic_utterances_come_behind_those_that_somebody_said() -> None:
    few = [SAID[0], SAID[1], SAID[6]]
    pairing = pair_up(few, RECIPE.model_copy(update={"augment": True, "per_template": 5}))
    n_utterances = len(pairing.template_rows)
    assert pairing.texts[: pairing.said] == tuple(one.text for one in few)
    synthetic = pairing.texts[pairing.said : n_utterances]
    assert set(synthetic) == {"fly to york now", "hotels in rome please", "hotels in oslo please"}
    assert not set(synthetic) & {one.text for one in few}
    assert pairing.texts[n_utterances:] == ("fly to {SLOT} now", "hotels in {SLOT} please")


def test_a_part_is_drawn_the_same_each_time() -> None:
    recipe = RECIPE.model_copy(update={"tuned_on": 5, "augment": True})
    first, second = pair_up(SAID, recipe), pair_up(SAID, recipe)
    assert first.texts == second.texts
    assert len(first.template_rows) == 5
    assert first.said <= 5


def test_equal_texts_count_once_and_slots_are_asked_for() -> None:
    assert len(pair_up([*SAID, *SAID], RECIPE).template_rows) == len(SAID)
    with pytest.raises(InvalidInput, match="slots"):
        pair_up([SlottedText("hello"), SlottedText("bye")], RECIPE)
    with pytest.raises(InvalidInput, match="two different"):
        pair_up([SAID[0], SAID[0]], RECIPE)


def test_the_objective_is_the_loss_of_the_views_with_twins_spared() -> None:
    generator = torch.Generator().manual_seed(0)
    blocks = torch.randn(4, 3, 5, generator=generator)
    twins = torch.tensor([[True, False, True], [False, True, False], [True, False, True]])
    labels = torch.tensor([7, 8, 7]).repeat(4)
    weights = TemplateWeights(1.0, 1.0, 1.0)
    found = TemplateObjective(RECIPE, 5, CPU)(blocks.flatten(0, 1), labels)
    torch.testing.assert_close(found, template_loss(Views(*blocks), weights, twins))
    paper = RECIPE.model_copy(update={"twins": "negatives", "template_layer": True})
    found = TemplateObjective(paper, 5, CPU)(blocks.flatten(0, 1), labels)
    torch.testing.assert_close(found, template_loss(Views(*blocks), weights))


@pytest.mark.parametrize(
    ("template", "utterance", "pair", "blocks"),
    [(1, 1, 1, (2, 2)), (0, 1, 0, (0, 2)), (1, 0, 0, (2, 0)), (0, 1, 1, (1, 2)), (0, 0, 1, (1, 1))],
)
def test_only_what_a_weight_asks_for_is_computed(template, utterance, pair, blocks) -> None:
    weights = {
        "template_weight": template,
        "utterance_weight": utterance,
        "pair_weight": pair,
    }
    objective = TemplateObjective(RECIPE.model_copy(update=weights), 4, CPU)
    assert objective.blocks == blocks
    embeddings = torch.eye(4).repeat(sum(blocks), 1)
    assert torch.isfinite(objective(embeddings, torch.arange(4).repeat(sum(blocks))))


def test_a_run_brings_utterances_nearer_to_their_templates(encoder) -> None:
    def own_cosine(of) -> float:
        texts = [one.text for one in SAID]
        templates = [template_of(one) for one in SAID]
        left, right = unit_rows(of.encode(texts)), unit_rows(of.encode(templates))
        others = left @ right.T
        return float(np.diag(others).mean() - others.mean())

    tuned, events = drain(run_templates(RECIPE, TemplateInputs(SAID, encoder)))
    losses = [event.loss for event in events if isinstance(event, StepDone)]
    assert [event.stage for event in events if isinstance(event, StageStarted)] == [
        "reading",
        "contrasting",
    ]
    assert len(losses) == 12
    assert np.mean(losses[-3:]) < 0.9 * np.mean(losses[:3])
    assert own_cosine(tuned) > own_cosine(encoder) + 0.05
    assert tuned.fingerprint != encoder.fingerprint


def test_a_resumed_run_ends_bit_for_bit_alike_with_its_own_layer(encoder) -> None:
    recipe = RECIPE.model_copy(update={"template_layer": True, "epochs": 2})
    whole, events = drain(run_templates(recipe, TemplateInputs(SAID, encoder, checkpoint_every=2)))
    kept = [event.checkpoint for event in events if isinstance(event, CheckpointReady)]
    assert "weight.objective.layer" in kept[0].tensors
    resumed, _ = drain(run_templates(recipe, TemplateInputs(SAID, encoder), kept[0]))
    assert resumed.fingerprint == whole.fingerprint


def test_a_run_resumed_with_other_utterances_begins_anew(encoder) -> None:
    """One of them was erased meanwhile, and the others took each other's places."""
    _, events = drain(run_templates(RECIPE, TemplateInputs(SAID, encoder, checkpoint_every=2)))
    kept = [event.checkpoint for event in events if isinstance(event, CheckpointReady)]
    left = TemplateInputs(SAID[1:], encoder)
    resumed, rest = drain(run_templates(RECIPE, left, kept[0]))
    assert resumed.fingerprint == drain(run_templates(RECIPE, left))[0].fingerprint
    assert [event for event in rest if isinstance(event, StageBegunAnew)]


def test_the_baseline_differs_in_its_weights_alone() -> None:
    alone = utterances_alone(RECIPE)
    assert (alone.template_weight, alone.utterance_weight, alone.pair_weight) == (0, 1, 0)
    assert pair_up(SAID, alone).texts == pair_up(SAID, RECIPE).texts


def test_faulty_settings_are_named() -> None:
    with pytest.raises(InvalidInput, match=r"batch_size.*tokens|tokens.*batch_size"):
        read_recipe("templates", {"tokens": "many", "batch_size": 1})
    with pytest.raises(InvalidInput, match="above 0"):
        read_recipe("templates", {"template_weight": 0, "utterance_weight": 0, "pair_weight": 0})
    assert read_recipe("templates", {"epochs": "3"}).epochs == 3
