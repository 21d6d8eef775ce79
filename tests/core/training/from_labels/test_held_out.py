"""Models without a test split are judged by heads and encoders that never saw the texts."""

from collections.abc import Sequence

import numpy as np
import pytest

from core.encoders.base import Encoder
from core.encoders.packed.encoder import TransformerEncoder
from core.errors import InvalidInput
from core.heads.votes.fit import VoteHead
from core.pipeline import hashes_of
from core.recipes.heads import NeighboursConfig, VotesConfig
from core.recipes.labels import ConvfitRecipe, InstantRecipe
from core.recipes.read import read_recipe
from core.splits import stratified_folds
from core.training.checkpoints import Checkpoint
from core.training.events import CheckpointReady, Event, StageStarted, StepDone, drain
from core.training.from_labels.held_out import fit_head_on, held_out_parts, score_part
from core.training.from_labels.inputs import RunInputs
from core.training.from_labels.runs import RunResult, run_recipe
from core.types import Exemplar, FloatArray, Intent
from tests.builders.tiny_encoder import HashingEncoder
from tests.conftest import SENTENCES

INTENTS = tuple(Intent(name) for name in sorted(SENTENCES))
EXEMPLARS = tuple(
    Exemplar(text, text, (name,)) for name, texts in SENTENCES.items() for text in texts
)
SHUFFLED = np.random.default_rng(1).permutation([e.intents[0] for e in EXEMPLARS])
NOISE = tuple(
    Exemplar(e.id, e.text, (str(name),)) for e, name in zip(EXEMPLARS, SHUFFLED, strict=True)
)
"""The same texts, their labels dealt anew: nothing can be learnt but the rows themselves."""
QUICK = {"epochs": 2, "frozen_layers": 1, "learning_rate": 1e-3}
NEAREST = NeighboursConfig(k=1)


def run(recipe: InstantRecipe | ConvfitRecipe, inputs: RunInputs, resume: Checkpoint | None = None):
    events: list[Event] = []
    return drain(run_recipe(recipe, inputs, resume), events.append), events


def shares_right(result: RunResult, exemplars: Sequence[Exemplar]) -> tuple[float, float]:
    """Accuracy of the honest scores, and of the finished head on the same rows, seen in fitting."""
    names = np.array([exemplars[row].intents[0] for row in result.held_out.rows])
    order = np.array(result.pipeline.head.intents)
    seen = result.pipeline.head.scores(result.pipeline.embeddings[result.held_out.rows])
    return (
        float((order[result.held_out.scores.argmax(1)] == names).mean()),
        float((order[seen.argmax(1)] == names).mean()),
    )


def paired_inputs(encoder: TransformerEncoder) -> RunInputs:
    """Ten directions with two texts each, of unlike intents: the nearest other text misleads."""
    exemplars = tuple(Exemplar(f"t{row}", f"t{row}", ("ab"[row % 2],)) for row in range(20))

    def embed(_: Encoder, texts: Sequence[str]) -> FloatArray:
        rows = [int(text[1:]) for text in texts]
        places = np.zeros((len(rows), 11), dtype=np.float32)
        places[np.arange(len(rows)), [row // 2 for row in rows]] = 1.0
        places[:, 10] = [0.1 * (row % 2) for row in rows]
        return places

    return RunInputs(exemplars, (Intent("a"), Intent("b")), encoder, embed=embed)


@pytest.mark.parametrize("head", [NEAREST, VotesConfig(tau=0.05, ridge=0.01)], ids=lambda h: h.kind)
def test_a_row_is_judged_by_its_misleading_twin_and_never_by_itself(
    tiny: TransformerEncoder, head: NeighboursConfig | VotesConfig
) -> None:
    result, _ = run(InstantRecipe(head=head, folds=20), paired_inputs(tiny))
    assert shares_right(result, paired_inputs(tiny).exemplars) == (0.0, 1.0)
    assert result.held_out.judged_on == "20-fold cross-validation over 20 texts"
    alone, _ = run(InstantRecipe(head=head, folds=5, seed=3), paired_inputs(tiny))
    fold_of = np.empty(20)
    for number, fold in enumerate(stratified_folds(["a", "b"] * 10, 5, seed=3)):
        fold_of[fold] = number
    misled = np.flatnonzero(fold_of != fold_of[np.arange(20) ^ 1])
    assert len(misled) >= 10
    assert (alone.held_out.scores.argmax(1)[misled] != misled % 2).all()


def test_a_tuned_encoder_is_judged_on_texts_that_neither_it_nor_its_head_saw(
    tiny: TransformerEncoder, tuned_on: list[list[str]]
) -> None:
    recipe = ConvfitRecipe(folds=3, head=NEAREST, names=False, **QUICK)
    result, _ = run(recipe, RunInputs(NOISE, INTENTS, tiny))
    texts = [e.text for e in NOISE]
    whole, *parts = map(set, tuned_on)
    assert whole == set(texts)
    held_out = [whole - part for part in parts]
    assert sorted(len(fold) for fold in held_out) == [6, 7, 7]
    assert sorted(text for fold in held_out for text in fold) == sorted(texts)
    assert result.held_out.rows.tolist() == list(range(20))
    honest, seen = shares_right(result, NOISE)
    assert seen == 1.0
    assert honest <= 0.5  # shuffled labels: a quarter is chance
    assert result.held_out.judged_on == "3-fold cross-validation over 20 texts"


def test_one_seed_gives_the_same_scores_and_calibration_resumed_or_not(
    tiny: TransformerEncoder,
) -> None:
    recipe = ConvfitRecipe(folds=3, **QUICK)
    inputs = RunInputs(EXEMPLARS, INTENTS, tiny, checkpoint_every=3)
    first, events = run(recipe, inputs)
    again, _ = run(recipe, inputs)
    kept = [event.checkpoint for event in events if isinstance(event, CheckpointReady)]
    after_tuning, rest = run(recipe, inputs, kept[-1])
    other, _ = run(recipe.model_copy(update={"seed": 1}), inputs)
    for same in (again, after_tuning):
        np.testing.assert_array_equal(first.held_out.scores, same.held_out.scores)
        assert first.pipeline.calibration == same.pipeline.calibration
        assert first.pipeline.encoder.fingerprint == same.pipeline.encoder.fingerprint
    assert not np.array_equal(first.held_out.scores, other.held_out.scores)
    steps = [event for event in events if isinstance(event, StepDone)]
    left = [event for event in rest if isinstance(event, StepDone)]
    assert left == steps[-len(left) :]  # only the tunings of the folds are done again
    assert left[0].step == kept[-1].step + 1


@pytest.mark.parametrize("folds", [1, 3])
def test_steps_count_through_all_tunings_of_a_run(tiny: TransformerEncoder, folds: int) -> None:
    recipe = ConvfitRecipe(folds=folds, **{**QUICK, "epochs": 4})
    result, events = run(recipe, RunInputs(EXEMPLARS, INTENTS, tiny))
    steps = [event for event in events if isinstance(event, StepDone)]
    assert [event.step for event in steps] == list(range(1, len(steps) + 1))
    assert {event.total for event in steps} == {len(steps)}
    words = [event.words for event in events if isinstance(event, StageStarted)]
    one, three = ["calibrating"], [f"calibrating {part} of 3" for part in (1, 2, 3)]
    assert words == ["tuning", "encoding", *(one if folds == 1 else three)]
    last_epochs = [a.epoch for a, b in zip(steps, [*steps[1:], None], strict=True)
                   if b is None or b.epoch < a.epoch]  # fmt: skip
    assert last_epochs == [4, 2] if folds == 1 else [4, 4, 4, 4]
    assert len(result.held_out.scores) == (4 if folds == 1 else 20)


def test_how_a_run_was_judged_is_said_in_words(tiny: TransformerEncoder) -> None:
    inputs = RunInputs(EXEMPLARS, INTENTS, tiny)
    found = {
        "5-fold cross-validation over 20 texts": InstantRecipe(),
        "leave-one-out over 20 texts": InstantRecipe(folds=1),
        "4 of 20 texts, held out": ConvfitRecipe(**QUICK),
        "leave-one-out over 20 texts that the encoder was tuned on": ConvfitRecipe(
            calibration="leave-one-out", **QUICK
        ),
    }
    assert {run(recipe, inputs)[0].held_out.judged_on: recipe for recipe in found.values()} == found


def test_held_out_texts_that_the_encoder_has_learned_before_are_told(
    tiny: TransformerEncoder,
) -> None:
    learned = hashes_of([f"{EXEMPLARS[0].text}!", "nobody said this here"])
    inputs = RunInputs(EXEMPLARS, INTENTS, tiny, learned=learned)
    result, _ = run(InstantRecipe(), inputs)
    words = "5-fold cross-validation over 20 texts; the base has learned 1 of them"
    assert (result.held_out.judged_on, result.held_out.n_learned) == (words, 1)
    assert result.pipeline.learned == learned
    tuned, _ = run(ConvfitRecipe(**QUICK), inputs)
    assert tuned.pipeline.learned == learned
    other = RunInputs(EXEMPLARS, INTENTS, tiny, learned=hashes_of(["nobody said this here"]))
    result, _ = run(InstantRecipe(), other)
    assert result.held_out.judged_on == "5-fold cross-validation over 20 texts"


def test_a_handful_of_labels_is_judged_by_leave_one_out(tiny: TransformerEncoder) -> None:
    """Held out, the only text of an intent would leave the rest with nothing to tell apart."""
    few = (EXEMPLARS[0], EXEMPLARS[1], EXEMPLARS[5])
    inputs = RunInputs(few, (Intent("parcel"), Intent("refund")), tiny)
    for folds in (1, 3):
        result, _ = run(ConvfitRecipe(folds=folds, **QUICK), inputs)
        assert result.held_out.judged_on == (
            "leave-one-out over 3 texts that the encoder was tuned on"
        )
    result, _ = run(InstantRecipe(), inputs)
    assert result.held_out.judged_on == "3-fold cross-validation over 3 texts"


def test_folds_and_leave_one_out_are_not_asked_for_together() -> None:
    with pytest.raises(InvalidInput, match="folds=3 needs calibration held-out"):
        read_recipe("convfit", {"folds": 3, "calibration": "leave-one-out"})
    with pytest.raises(InvalidInput, match="folds"):
        read_recipe("instant", {"folds": 0})


def test_beyond_the_sample_a_fifth_of_it_is_judged_by_a_sample_of_the_others() -> None:
    """A second encoder embedded all of 100,000 texts, for thresholds that 5,000 of them give."""
    exemplars = tuple(Exemplar(f"u{i}", f"t{i}", ("ab"[i % 2],)) for i in range(100))
    inputs = RunInputs(exemplars, (Intent("a"), Intent("b")), HashingEncoder())
    [part] = held_out_parts(ConvfitRecipe(tuned_on=30), inputs)
    assert (len(part.inputs.exemplars), len(part.held_out)) == (30, 6)
    judged = {exemplars[row].id for row in part.held_out}
    assert judged.isdisjoint(one.id for one in part.inputs.exemplars)
    assert judged == {one.id for one in part.inputs.watched}
    every_label = held_out_parts(ConvfitRecipe(tuned_on=30, folds=2), inputs)
    assert sum(len(fold.held_out) for fold in every_label) == 100


def test_a_scored_part_keeps_no_inverse_of_its_votes() -> None:
    """The inverses of ten folds of 9,003 texts took 6.5 GB together, and nobody read them."""
    encoder, recipe = HashingEncoder(), ConvfitRecipe(folds=3, head=VotesConfig(tau=0.4, ridge=0.1))
    given = RunInputs(EXEMPLARS, INTENTS, encoder)
    whole = fit_head_on(recipe, given, encoder, encoder.encode([e.text for e in EXEMPLARS]))
    assert isinstance(whole.head, VoteHead)
    assert whole.head.root is not None
    assert whole.head.root.shape == (20, 20)
    for part in held_out_parts(recipe, given):
        scored = score_part(part, encoder, whole)
        votes = scored.fitted.head
        assert isinstance(votes, VoteHead)
        assert votes.root is None
        assert len(votes.exemplars) == 20 - len(part.held_out)
        unseen = encoder.encode([e.text for e in part.inputs.watched])
        np.testing.assert_array_equal(scored.scores, votes.scores(unseen))
