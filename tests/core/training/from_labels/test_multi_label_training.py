"""Training where an utterance may carry several intents, or none."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from app.cli import main
from core.benchmarks.multi_label import choose_folds
from core.bundle.layout import load_pipeline, save_pipeline
from core.encoders.packed.encoder import TransformerEncoder
from core.errors import InvalidInput
from core.recipes.labels import ConvfitRecipe, chosen_epochs
from core.recipes.read import read_recipe, task_defaults
from core.training.batches import even_batches
from core.training.events import drain
from core.training.from_labels.inputs import RunInputs
from core.training.from_labels.runs import RunResult, run_recipe
from core.training.from_labels.tuning import tuning_rows
from core.training.loop import plan_batches
from core.training.objectives import build_objective
from core.types import Exemplar, Intent

LABELLED: list[tuple[str, tuple[str, ...]]] = [
    ("cancel my card", ("cancel", "card")),
    ("please cancel the card", ("cancel", "card")),
    ("cancel it", ("cancel",)),
    ("I want to cancel", ("cancel",)),
    ("just cancel that", ("cancel",)),
    ("a new card", ("card", "new")),
    ("send me a new card please", ("card", "new")),
    ("my card is here", ("card",)),
    ("where is the card", ("card",)),
    ("open a new account", ("account", "new")),
    ("I would like a new account", ("account", "new")),
    ("what is on my account", ("account",)),
    ("my account", ("account",)),
    ("john smith", ()),
    ("on monday at ten", ()),
    ("the third of may", ()),
]
EXEMPLARS = tuple(Exemplar(str(at), text, names) for at, (text, names) in enumerate(LABELLED))
INTENTS = tuple(Intent(name) for name in ("account", "cancel", "card", "new"))
SMALL = {"epochs": 12, "frozen_layers": 0, "learning_rate": 2e-3, "batch_size": 8}


def recipe(**settings: object) -> ConvfitRecipe:
    made = read_recipe("convfit", {**SMALL, **settings}, "multi-label")
    assert isinstance(made, ConvfitRecipe)
    return made


def inputs(encoder: TransformerEncoder) -> RunInputs:
    return RunInputs(EXEMPLARS, INTENTS, encoder, task="multi-label")


def run(made: ConvfitRecipe, given: RunInputs) -> RunResult:
    return drain(run_recipe(made, given), lambda event: None)


def test_rows_to_tune_on_hold_all_intents_of_an_utterance_and_none(
    tiny: TransformerEncoder,
) -> None:
    texts, labels = tuning_rows(recipe(), inputs(tiny))
    assert texts[-4:] == ["account", "cancel", "card", "new"]
    np.testing.assert_array_equal(labels[0], [0, 1, 1, 0])
    np.testing.assert_array_equal(labels[13:16], np.zeros((3, 4)))
    np.testing.assert_array_equal(labels[-4:], np.eye(4))
    single = replace(inputs(tiny), exemplars=EXEMPLARS[:13], task="single-label")
    assert tuning_rows(recipe(), single)[1] == [1, 1, 1, 1, 1, 2, 2, 2, 2, 0, 0, 0, 0, 0, 1, 2, 3]


def test_a_part_of_the_labels_is_tuned_on_and_the_head_learns_from_all(
    tiny: TransformerEncoder,
) -> None:
    texts, labels = tuning_rows(recipe(tuned_on=10, names=False), inputs(tiny))
    assert len(texts) == len(labels) == 10
    assert set(texts) < {e.text for e in EXEMPLARS}
    result = run(recipe(tuned_on=10, epochs=1), inputs(tiny))
    assert len(result.pipeline.exemplars) == 16
    others, _ = tuning_rows(recipe(tuned_on=10, names=False, seed=1), inputs(tiny))
    assert others != texts


def test_batches_deal_every_row_once_and_evenly() -> None:
    batches = even_batches(70, 32, np.random.default_rng(0))
    assert sorted(len(batch) for batch in batches) == [23, 23, 24]
    assert sorted(np.concatenate(batches).tolist()) == list(range(70))
    plan = plan_batches(np.zeros((40, 3)), recipe(epochs=2, batch_size=32))
    assert [epoch for epoch, _ in plan] == [1, 1, 2, 2]


def test_the_task_chooses_defaults_and_a_setting_is_stronger() -> None:
    many, one = (read_recipe("convfit", {}, task) for task in ("multi-label", "single-label"))
    assert (many.objective, one.objective) == ("overlap", "ocl")
    assert one == ConvfitRecipe()
    assert read_recipe("convfit", {"objective": "ocl"}, "multi-label").objective == "ocl"
    assert task_defaults("convfit", "single-label") == {}
    # What was read once is read again to the same, whatever the task.
    assert read_recipe("convfit", many.model_dump(exclude={"kind"}, mode="json")) == many
    epochs = [chosen_epochs(n, ConvfitRecipe(), "multi-label") for n in (20, 250, 1_000, 25_000)]
    assert epochs == [20, 20, 10, 2]


def test_prototypes_begin_at_the_means_of_their_intents() -> None:
    rows = torch.tensor([[2.0, 0.0], [0.0, 3.0], [1.0, 0.0]])
    labels = torch.tensor([[1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
    weights = build_objective(recipe(), rows, labels).weights
    expected = torch.tensor([[0.5, 0.5], [0.0, 1.0], [2 / 3, 1 / 3]])
    torch.testing.assert_close(weights["prototypes"].detach(), expected)
    assert weights["offsets"].shape == (3,)


@pytest.mark.parametrize("objective", ["ocl", "cos", "smax", "supcon", "overlap", "prototype"])
def test_every_objective_tunes_utterances_of_several_intents(
    tiny: TransformerEncoder, objective: str
) -> None:
    result = run(recipe(objective=objective, calibration="leave-one-out"), inputs(tiny))
    answers = result.pipeline.scores([e.text for e in EXEMPLARS])
    targets = result.pipeline.head.targets
    assert ((answers >= 0.5) == (targets > 0)).mean() > 0.9


def test_a_run_answers_with_several_intents_one_or_none_and_exact_reasons(
    tiny: TransformerEncoder, tmp_path: Path
) -> None:
    made = replace(run(recipe(), inputs(tiny)).pipeline, n_neighbours=16)
    assert made.task == "multi-label"
    assert len(made.calibration.thresholds) == 4
    asked = ["cancel the card now", "john miller", "on my account please", "John Smith."]
    answers = made.predict(asked)
    scores = made.scores(asked)
    for answer, row in zip(answers, scores, strict=True):
        for reason in answer.reasons:
            total = reason.prior + sum(n.vote for n in reason.neighbours)
            assert total == pytest.approx(reason.score, abs=1e-6)
            column = made.head.intents.index(reason.intent)
            assert reason.score == pytest.approx(row[column], abs=1e-9)
    assert (answers[3].decision.rule, answers[3].decision.intents) == ("exact", ())
    save_pipeline(made, {}, tmp_path / "model")
    assert load_pipeline(tmp_path / "model").predict(asked) == answers


def test_the_same_labels_give_the_same_model_and_no_intent_is_one_of_them(
    tiny: TransformerEncoder,
) -> None:
    one, other = (run(recipe(epochs=2), inputs(tiny)) for _ in range(2))
    assert one.pipeline.encoder.fingerprint == other.pipeline.encoder.fingerprint
    assert one.pipeline.calibration == other.pipeline.calibration
    # Three more texts without intent lower every prior: they count as labels.
    fewer = replace(inputs(tiny), exemplars=EXEMPLARS[:13])
    prior = run(recipe(epochs=1), fewer).pipeline.head.prior
    np.testing.assert_allclose(one.pipeline.head.prior, prior * 13 / 16)


@pytest.mark.parametrize("kind", ["votes", "mlp", "linear"])
def test_instant_serves_several_intents_with_each_head(tiny: TransformerEncoder, kind: str) -> None:
    head = {"kind": kind, "epochs": 20, "hidden": 16} if kind == "mlp" else {"kind": kind}
    made = read_recipe("instant", {"head": head, "theta": 0.3}, "multi-label")
    result = drain(run_recipe(made, inputs(tiny)), lambda event: None)
    assert result.pipeline.calibration.threshold == 0.3
    assert len(result.held_out.scores) == 16
    answers = result.pipeline.predict(["cancel the card"])
    assert answers[0].decision.rule in ("votes", "no-intent")


def test_folds_take_turns_and_the_smaller_side_bears_the_number() -> None:
    assert choose_folds(3, 1) == [([0], [1, 2]), ([1], [0, 2]), ([2], [0, 1])]
    assert choose_folds(3, 2) == [([1, 2], [0]), ([0, 2], [1]), ([0, 1], [2])]
    assert choose_folds(4, 2)[3] == ([0, 3], [1, 2])
    with pytest.raises(InvalidInput, match="cannot be trained on"):
        choose_folds(3, 3)


def test_the_bench_prints_f1_exact_and_seconds_of_each_fold(
    tiny_path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for fold in range(3):
        rows = [{"text": text, "intents": names} for text, names in LABELLED]
        lines = "\n".join(json.dumps(row) for row in rows)
        (tmp_path / f"fold{fold}.jsonl").write_text(lines, encoding="utf-8")
    settings = ["epochs=1", "frozen_layers=1"]
    flags = [flag for setting in settings for flag in ("--set", setting)]
    command = ["bench", "multi-label", "--folds", str(tmp_path), "--base", str(tiny_path), *flags]
    assert main([*command, "--only", "0,2", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    # Every text is an exemplar, too, and so is answered as it is labelled.
    assert (found["f1"], found["exact"], found["none_recall"]) == (100.0, 100.0, 100.0)
    assert [one["fold"] for one in found["per_fold"]] == [0, 2]
    assert found["adapter_mb"] is None
    assert all(one["seconds"] >= one["train_seconds"] > 0 for one in found["per_fold"])
    assert main([*command, "--only", "7"]) == 2
    assert main([*command, "--train-folds", "3"]) == 2
