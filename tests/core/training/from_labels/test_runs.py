from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import get_linear_schedule_with_warmup

from core.bundle.layout import load_pipeline, save_pipeline
from core.encoders.base import Encoder
from core.encoders.loading import load_encoder, load_folder
from core.encoders.opening import open_tuning
from core.encoders.packed.encoder import TransformerEncoder
from core.errors import InvalidInput
from core.recipes.heads import NeighboursConfig
from core.recipes.labels import ConvfitRecipe, InstantRecipe
from core.recipes.read import read_recipe
from core.training.batches import _take_distinct, epoch_batches
from core.training.checkpoints import Checkpoint, keep_checkpoint, latest_checkpoint
from core.training.devices import tuning_options
from core.training.events import CheckpointReady, StepDone, drain
from core.training.from_labels.inputs import RunInputs
from core.training.from_labels.runs import run_recipe
from core.training.loop import FitOptions, fit
from core.training.schedule import linear_rate
from core.types import AskedPrecision, Exemplar, Intent
from tests.builders.tiny_encoder import tiny_transformer
from tests.conftest import SENTENCES

ROWS = [(text, place) for place, texts in enumerate(SENTENCES.values()) for text in texts]
TEXTS, LABELS = [text for text, _ in ROWS], [label for _, label in ROWS]
SMALL = {"epochs": 3, "frozen_layers": 1, "learning_rate": 1e-3}


def inputs(encoder: Encoder) -> RunInputs:
    exemplars = tuple(
        Exemplar(f"{name}-{n}", text, (name,))
        for name, texts in SENTENCES.items()
        for n, text in enumerate(texts)
    )
    return RunInputs(exemplars, tuple(Intent(name) for name in sorted(SENTENCES)), encoder)


def weights_after(
    tiny: TransformerEncoder, recipe: ConvfitRecipe, resume: Checkpoint | None = None
):
    tuning = open_tuning(tiny, TEXTS, tuning_options(recipe, "cpu"))
    options = FitOptions(resume=resume, checkpoint_every=2)
    events = list(fit(tuning, LABELS, recipe, options))
    return {n: p.detach().clone() for n, p in tuning.trainable()}, events


def equal(left: dict[str, torch.Tensor], right: dict[str, torch.Tensor]) -> bool:
    return all(torch.equal(left[name], right[name]) for name in left)


@settings(deadline=None, max_examples=40)
@given(st.lists(st.integers(0, 6), min_size=2, max_size=60), st.integers(0, 99))
def test_an_epoch_deals_each_row_exactly_once(labels: list[int], seed: int) -> None:
    batches = epoch_batches(labels, 3, 4, np.random.default_rng(seed))
    assert sorted(np.concatenate(batches).tolist()) == list(range(len(labels)))
    again = epoch_batches(labels, 3, 4, np.random.default_rng(seed))
    assert all(np.array_equal(a, b) for a, b in zip(batches, again, strict=True))
    if len(set(labels)) > 1:
        assert all(len({labels[row] for row in batch}) > 1 for batch in batches[1:])


def test_a_batch_holds_several_utterances_of_each_intent() -> None:
    labels = [intent for intent in range(77) for _ in range(11)]
    batches = epoch_batches(labels, 16, 4, np.random.default_rng(0))
    for batch in batches:
        _, counts = np.unique([labels[row] for row in batch], return_counts=True)
        assert counts.min() >= 3


def test_a_frequent_intent_makes_no_batch_of_thousands() -> None:
    """What was left of it when all others were dealt had become one batch, too large for memory."""
    labels = [0] * 3_000 + [intent for intent in range(1, 31) for _ in range(100)]
    batches = epoch_batches(labels, 16, 4, np.random.default_rng(0))
    assert sorted(np.concatenate(batches).tolist()) == list(range(6_000))
    assert max(len(batch) for batch in batches) <= 2 * 16 * 4
    assert all(len({labels[row] for row in batch}) > 1 for batch in batches)


class CountedNames:
    """Intent numbers that count how often one is read."""

    def __init__(self, names: list[int]) -> None:
        self.names, self.reads = names, 0

    def __getitem__(self, row: int) -> int:
        self.reads += 1
        return self.names[row]


def test_a_batch_looks_no_further_than_to_the_groups_that_it_takes() -> None:
    """Each batch went through all that waited: seven million looks at 25,000 uneven rows."""
    names = CountedNames([0, 0, 1, 2, *[0] * 996])
    groups = [np.array([row]) for row in range(1_000)]
    chosen, rest = _take_distinct(groups, names, 3)
    assert [group.tolist() for group in chosen] == [[0], [2], [3]]
    assert [group.tolist() for group in rest] == [[1], *([row] for row in range(4, 1_000))]
    assert names.reads == 4


@settings(deadline=None, max_examples=40)
@given(st.lists(st.integers(0, 4), min_size=2, max_size=80), st.integers(0, 99))
def test_batches_are_those_of_a_look_at_all_that_waits(labels: list[int], seed: int) -> None:
    names, generator = np.array(labels), np.random.default_rng(seed)
    groups = []
    for name in np.unique(names):
        rows = generator.permutation(np.flatnonzero(names == name))
        groups += np.array_split(rows, -(-len(rows) // 2))
    waiting = [groups[place].tolist() for place in generator.permutation(len(groups))]
    mixed: list[list[int]] = []
    while waiting:
        firsts = {labels[group[0]]: at for at, group in reversed(list(enumerate(waiting)))}
        taken = sorted(firsts.values())[:3]
        mixed.append([row for at in taken for row in waiting[at]])
        waiting = [group for at, group in enumerate(waiting) if at not in taken]
    found = epoch_batches(labels, 3, 2, np.random.default_rng(seed))
    several = [batch for batch in mixed if len({labels[row] for row in batch}) > 1]
    assert [
        batch.tolist()[: len(one)] for batch, one in zip(found, several, strict=False)
    ] == several


def test_the_rate_equals_that_of_transformers() -> None:
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1.0)
    schedule = get_linear_schedule_with_warmup(optimizer, 5, 50)
    for step in range(50):
        assert linear_rate(step, 50, 0.1) == pytest.approx(schedule.get_last_lr()[0])
        optimizer.step()
        schedule.step()


@pytest.mark.parametrize("objective", ["ocl", "cos", "smax", "supcon", "prototype"])
def test_every_objective_makes_its_loss_fall(tiny: TransformerEncoder, objective: str) -> None:
    recipe = ConvfitRecipe(objective=objective, **{**SMALL, "epochs": 25})
    _, events = weights_after(tiny, recipe)
    losses = [event.loss for event in events if isinstance(event, StepDone)]
    assert np.mean(losses[-5:]) < 0.9 * np.mean(losses[:5])


def test_one_seed_gives_identical_weights_and_another_does_not(tiny: TransformerEncoder) -> None:
    first, _ = weights_after(tiny, ConvfitRecipe(**SMALL))
    second, _ = weights_after(tiny, ConvfitRecipe(**SMALL))
    third, _ = weights_after(tiny, ConvfitRecipe(seed=1, **SMALL))
    assert equal(first, second)
    assert not equal(first, third)


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_a_resumed_run_ends_bit_for_bit_as_an_uninterrupted_one(
    tiny: TransformerEncoder, tmp_path: Path, precision: AskedPrecision
) -> None:
    recipe = ConvfitRecipe(**SMALL, precision=precision)
    whole, events = weights_after(tiny, recipe)
    kept = [event.checkpoint for event in events if isinstance(event, CheckpointReady)]
    assert len(kept) >= 2
    keep_checkpoint(tmp_path, kept[0])
    torch.manual_seed(12345)  # whatever else has drawn random numbers meanwhile
    resumed, rest = weights_after(tiny, recipe, latest_checkpoint(tmp_path))
    assert len(rest) < len(events)
    assert equal(whole, resumed)


def test_a_torn_checkpoint_is_passed_over_for_the_one_before(tmp_path: Path) -> None:
    for step in (2, 4, 6):
        keep_checkpoint(tmp_path, Checkpoint("tuning", step, {"x": torch.full((3,), float(step))}))
    assert sorted(p.name for p in tmp_path.iterdir()) == ["step-00000004", "step-00000006"]
    state = tmp_path / "step-00000006" / "state.safetensors"
    state.write_bytes(state.read_bytes()[:-1])
    found = latest_checkpoint(tmp_path)
    assert found is not None
    assert found.step == 4
    assert found.tensors["x"].tolist() == [4.0, 4.0, 4.0]


def test_training_needs_two_intents(tiny: TransformerEncoder) -> None:
    lonely = RunInputs((Exemplar("1", "hi", ("greeting",)),), (Intent("greeting"),), tiny)
    with pytest.raises(InvalidInput, match=r"at least two intents; found 1 \('greeting'\)"):
        drain(run_recipe(InstantRecipe(), lonely), lambda _: None)


def test_a_wrong_setting_is_named_with_its_recipe() -> None:
    with pytest.raises(InvalidInput, match=r"'convfit'.*epochs"):
        read_recipe("convfit", {"epochs": 0})
    with pytest.raises(InvalidInput, match="epoch_count"):
        read_recipe("convfit", {"epoch_count": 3})


def test_an_instant_run_answers_its_exemplars_exactly(tiny: TransformerEncoder) -> None:
    result = drain(run_recipe(InstantRecipe(), inputs(tiny)), lambda _: None)
    answers = result.pipeline.predict(["  HELLO there!!", "where is my parcel?"])
    assert [a.decision.rule for a in answers] == ["exact", "exact"]
    assert [a.decision.intents for a in answers] == [("greeting",), ("parcel",)]


def test_a_run_over_another_kind_of_encoder_is_stored_and_answers_the_same(tmp_path: Path) -> None:
    base = load_folder(tiny_transformer(tmp_path / "mpnet", "mpnet"))
    result = drain(run_recipe(ConvfitRecipe(**SMALL), inputs(base)), lambda _: None)
    assert result.pipeline.encoder.fingerprint != base.fingerprint
    save_pipeline(result.pipeline, {}, tmp_path / "model")
    again = load_pipeline(tmp_path / "model")
    asked = ["where is my money", "good day", "  HELLO there!!"]
    assert again.predict(asked) == result.pipeline.predict(asked)


def test_votes_shown_and_hidden_add_up_to_the_score(tiny: TransformerEncoder) -> None:
    recipe = InstantRecipe(neighbours=20)
    result = drain(run_recipe(recipe, inputs(tiny)), lambda _: None)
    for answer in result.pipeline.predict(["my money is late", "zzz"]):
        total = answer.reason.prior + sum(n.vote for n in answer.reason.neighbours)
        assert total == pytest.approx(answer.ranked[0].score, abs=1e-6)


def test_contradicting_exemplars_switch_the_exact_rule_off(tiny: TransformerEncoder) -> None:
    given_inputs = inputs(tiny)
    twin = Exemplar("twin", "Hi!", ("refund",))
    changed = RunInputs((*given_inputs.exemplars, twin), given_inputs.intents, tiny)
    result = drain(run_recipe(InstantRecipe(), changed), lambda _: None)
    assert result.pipeline.predict(["hi"])[0].decision.rule != "exact"


def test_neighbours_show_the_nearest_exemplars_whose_votes_are_the_score(
    tiny: TransformerEncoder,
) -> None:
    recipe = InstantRecipe(head=NeighboursConfig(k=3))
    result = drain(run_recipe(recipe, inputs(tiny)), lambda _: None)
    answer = result.pipeline.predict(["where is the parcel now"])[0]
    cosines = [n.cosine for n in answer.reason.neighbours]
    assert cosines == sorted(cosines, reverse=True)
    total = sum(n.vote for n in answer.reason.neighbours)
    assert total == pytest.approx(answer.ranked[0].score, abs=1e-9)


@pytest.mark.slow
def test_tuning_the_real_encoder_pulls_intents_together() -> None:
    from core.metrics.geometry import silhouette

    base = load_encoder("bundled")
    recipe = ConvfitRecipe(epochs=6, interpolation=1.0)
    result = drain(run_recipe(recipe, inputs(base)), lambda _: None)
    labels = [e.intents[0] for e in inputs(base).exemplars]
    texts = [e.text for e in inputs(base).exemplars]
    before = silhouette(base.encode(texts), labels)
    after = silhouette(result.pipeline.encoder.encode(texts), labels)
    assert after > before + 0.05
    assert len(result.held_out.rows) == 4
