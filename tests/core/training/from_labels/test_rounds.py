"""Two rounds: unlabelled texts teach the encoder, and labelled texts alone vote."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.encoders import precision
from core.encoders.base import Encoder
from core.encoders.packed.encoder import TransformerEncoder
from core.encoders.quick import copies
from core.recipes.labels import (
    AdapterRecipe,
    AnyModelRecipe,
    ConvfitRecipe,
    LabelEncoderRecipe,
    second_epochs,
)
from core.text import match_key
from core.training.checkpoints import (
    Checkpoint,
    forget_stage,
    keep_checkpoint,
    latest_checkpoint,
)
from core.training.devices import precision_of
from core.training.events import (
    CheckpointReady,
    Event,
    StageBegunAnew,
    StageStarted,
    StepDone,
    drain,
)
from core.training.from_labels import rounds, tuning
from core.training.from_labels.inputs import CoreLabels, RunInputs
from core.training.from_labels.rounds import is_worse, texts_to_learn, without_excess
from core.training.from_labels.runs import RunResult, run_recipe
from core.types import AskedEncodingPrecision, AskedPrecision, Exemplar, Intent
from tests.conftest import SENTENCES

pytestmark = pytest.mark.usefixtures("few_texts_teach")

INTENTS = tuple(Intent(name) for name in sorted(SENTENCES))
EXEMPLARS = tuple(
    Exemplar(text, text, (name,)) for name, texts in SENTENCES.items() for text in texts
)
QUICK: dict[str, object] = {"epochs": 2, "frozen_layers": 1, "learning_rate": 1e-3}
ENDS = ("now", "please", "today", "my friend", "again", "soon")
POOL = tuple(f"{e.text} {end}" for e in EXEMPLARS for end in ENDS)
"""120 texts; each labelled text with six ends."""
STAGES = ["tuning", "calibrating 1", "recalibrating 1", "retuning"]


def inputs(tiny: TransformerEncoder, pool: Sequence[str] = POOL) -> RunInputs:
    return RunInputs(EXEMPLARS, INTENTS, tiny, pool=tuple(pool), checkpoint_every=3)


def run(
    recipe: AnyModelRecipe, given: RunInputs, resume: Checkpoint | None = None
) -> tuple[RunResult, list[Event]]:
    events: list[Event] = []
    return drain(run_recipe(recipe, given, resume), events.append), events


def same(one: RunResult, other: RunResult) -> bool:
    asked = [*POOL[:5], "where is it", "zzz"]
    return (
        one.pipeline.encoder.fingerprint == other.pipeline.encoder.fingerprint
        and np.array_equal(one.pipeline.scores(asked), other.pipeline.scores(asked))
        and one.pipeline.calibration == other.pipeline.calibration
        and np.array_equal(one.held_out.scores, other.held_out.scores)
        and one.pool == other.pool
    )


def test_the_encoder_learns_from_unlabelled_texts_and_labelled_texts_alone_vote(
    tiny: TransformerEncoder,
) -> None:
    result, events = run(ConvfitRecipe(**QUICK), inputs(tiny))
    plain, _ = run(ConvfitRecipe(**QUICK), inputs(tiny, ()))
    assert plain.pool is None
    assert result.pool is not None
    assert result.pool.kept
    assert result.pool.n + result.pool.n_outside == len(POOL)
    assert result.pool.n_judged == len(result.held_out.rows) == 4
    assert result.pipeline.encoder.fingerprint != plain.pipeline.encoder.fingerprint
    assert result.pipeline.exemplars == EXEMPLARS
    whole = replace(result.pipeline, n_neighbours=len(EXEMPLARS))
    for answer in whole.predict(["my money is late", POOL[0], "zzz"]):
        assert {n.text for n in answer.reason.neighbours} == {e.text for e in EXEMPLARS}
        total = answer.reason.prior + sum(n.vote for n in answer.reason.neighbours)
        assert total == pytest.approx(answer.ranked[0].score, abs=1e-6)
    stages = [event.stage for event in events if isinstance(event, StageStarted)]
    learned = [s for s in stages if s not in ("encoding", "labelling")]
    assert learned == ["tuning", "calibrating", "recalibrating", "retuning"]


def test_texts_left_of_groups_decide_which_texts_a_round_learns_from(
    tiny: TransformerEncoder,
) -> None:
    """By labels that came with the cores of groups alone a third of the pool was left out."""
    strict = ConvfitRecipe(**QUICK, out_of_scope_rejection=0.2)
    cores = CoreLabels(frozenset(e.id for e in EXEMPLARS), POOL[::3], 1.0)
    alone, _ = run(strict, inputs(tiny))
    beside, _ = run(strict, replace(inputs(tiny), cores=cores))
    assert alone.pool is not None
    assert beside.pool is not None
    assert beside.pool.n_outside < alone.pool.n_outside
    assert beside.pool.n + beside.pool.n_outside == len(POOL)


def test_steps_are_counted_over_both_rounds(tiny: TransformerEncoder) -> None:
    _, events = run(ConvfitRecipe(**QUICK), inputs(tiny))
    steps = [event for event in events if isinstance(event, StepDone)]
    assert [event.step for event in steps] == list(range(1, len(steps) + 1))
    assert all(event.step <= event.total for event in steps)
    assert steps[-1].total <= 1.5 * len(steps)


def test_without_texts_or_with_the_tick_off_the_bits_are_those_of_the_labels_alone(
    tiny: TransformerEncoder,
) -> None:
    plain, _ = run(ConvfitRecipe(**QUICK), inputs(tiny, ()))
    for recipe, pool, why in (
        (ConvfitRecipe(**QUICK, pool=False), POOL, None),
        (ConvfitRecipe(**QUICK), POOL[:59], "59 differ from"),
        (ConvfitRecipe(**QUICK), [e.text.upper() + "!" for e in EXEMPLARS] * 9, "0 differ from"),
    ):
        other, _ = run(recipe, inputs(tiny, pool))
        assert same(plain, replace(other, pool=None))
        assert (other.pool is None) if why is None else other.pool.untried.startswith(why)


@pytest.mark.parametrize("recipe", [ConvfitRecipe, AdapterRecipe])
def test_a_run_killed_in_any_stage_resumes_to_the_same_bits(
    tiny: TransformerEncoder, tmp_path: Path, recipe: type[ConvfitRecipe | AdapterRecipe]
) -> None:
    whole, events = run(recipe(**QUICK), inputs(tiny))
    kept = [event.checkpoint for event in events if isinstance(event, CheckpointReady)]
    assert list(dict.fromkeys(one.stage for one in kept)) == STAGES
    total = sum(isinstance(event, StepDone) for event in events)
    ends = [at for at, one in enumerate(kept) if at + 1 == len(kept) or kept[at + 1].step == 3]
    for last in {0, *ends, *(end - 1 for end in ends[1:])}:  # in each stage, and between them
        folder = tmp_path / str(last)
        for one in kept[: last + 1]:
            keep_checkpoint(folder, one)
        found = latest_checkpoint(folder)
        assert found is not None
        assert found.stage == kept[last].stage
        resumed, rest = run(recipe(**QUICK), inputs(tiny), found)
        assert same(whole, resumed)
        steps = sum(isinstance(event, StepDone) for event in rest)
        assert steps == total - kept[last].before - kept[last].step  # nothing is learned twice


def test_a_run_resumed_with_other_unlabelled_texts_learns_its_second_rounds_anew(
    tiny: TransformerEncoder, tmp_path: Path
) -> None:
    """Texts were grouped anew after a stop: the optimiser went on with other rows."""
    recipe, fewer = ConvfitRecipe(**QUICK), inputs(tiny, POOL[10:])
    for event in run(recipe, inputs(tiny))[1]:
        if isinstance(event, CheckpointReady):
            keep_checkpoint(tmp_path, event.checkpoint)
    resumed, events = run(recipe, fewer, latest_checkpoint(tmp_path))
    whole, _ = run(recipe, fewer)
    assert same(whole, resumed)
    anew = [event.stage for event in events if isinstance(event, StageBegunAnew)]
    assert anew == ["recalibrating 1", "retuning"]


def test_a_run_of_an_earlier_release_goes_on_from_its_checkpoint(
    tiny: TransformerEncoder, tmp_path: Path
) -> None:
    """Checkpoints did not say which rows they have read: each stage began anew after an upgrade."""
    recipe = ConvfitRecipe(**QUICK)
    whole, events = run(recipe, inputs(tiny))
    kept = [event.checkpoint for event in events if isinstance(event, CheckpointReady)]
    for one in kept[: len(kept) // 2]:
        keep_checkpoint(tmp_path, replace(one, rows=""))
    resumed, rest = run(recipe, inputs(tiny), latest_checkpoint(tmp_path))
    assert same(whole, resumed)
    assert not [event for event in rest if isinstance(event, StageBegunAnew)]


@pytest.mark.parametrize("recipe", [ConvfitRecipe, LabelEncoderRecipe])
def test_a_resumed_run_goes_on_in_the_number_format_of_its_beginning(
    tiny: TransformerEncoder,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    recipe: type[ConvfitRecipe | LabelEncoderRecipe],
) -> None:
    """Each process measures which one is quick, and beside other programs found another."""
    monkeypatch.setattr(precision, "has_bfloat16", lambda: True)
    monkeypatch.setattr(precision, "bfloat16_gain", lambda: 2.0)
    whole, events = run(recipe(**QUICK), inputs(tiny))
    for event in events:
        if isinstance(event, CheckpointReady) and event.checkpoint.stage in ("tuning", "naming"):
            keep_checkpoint(tmp_path, event.checkpoint)
    found = latest_checkpoint(tmp_path)
    assert found is not None
    assert found.precision == "bfloat16"
    monkeypatch.setattr(precision, "bfloat16_gain", lambda: 1.0)
    resumed, _ = run(recipe(**QUICK), inputs(tiny), found)
    assert same(whole, resumed)
    assert precision_of(recipe(), "cpu", found) == "bfloat16"
    assert precision_of(recipe(), "cpu") == "float32"
    assert precision_of(recipe(precision="float32"), "cpu", found) == "float32"


def test_of_each_stage_the_last_checkpoint_stays_and_of_the_newest_two(tmp_path: Path) -> None:
    made = [("tuning", 2, 0), ("tuning", 4, 0), ("tuning", 6, 0)]
    made += [("retuning", 1, 6), ("retuning", 2, 6), ("retuning", 3, 6)]
    for stage, step, before in made:
        keep_checkpoint(tmp_path, Checkpoint(stage, step, {}, before))
    names = sorted(folder.name for folder in tmp_path.iterdir())
    assert names == ["step-00000006", "step-00000008", "step-00000009"]
    found = latest_checkpoint(tmp_path)
    assert found is not None
    assert (found.stage, found.step, found.before) == ("retuning", 3, 6)
    first = found.of("tuning")
    assert first is not None
    assert first.step == 6
    assert found.of("naming") is None
    forget_stage(tmp_path, "retuning")
    assert [folder.name for folder in tmp_path.iterdir()] == ["step-00000006"]


def test_a_text_of_the_test_set_or_with_a_label_never_teaches(
    tiny: TransformerEncoder, tuned_on: list[list[str]]
) -> None:
    watched = tuple(Exemplar(text, text, ("refund",)) for text in POOL[:7])
    twins = [text.upper() + "!" for text in (*POOL[:7], *(e.text for e in EXEMPLARS))]
    run(
        ConvfitRecipe(**QUICK, names=False), replace(inputs(tiny, [*twins, *POOL]), watched=watched)
    )
    first, part, part_again, second = tuned_on
    forbidden = {match_key(text) for text in POOL[:7]}
    assert not {match_key(text) for text in second} & forbidden
    assert second[:20] == first == [e.text for e in EXEMPLARS]
    assert len(second) == len({match_key(text) for text in second})
    held_out = set(first) - set(part)
    assert len(held_out) == 4
    assert not held_out & set(part_again)  # nor does a held-out label, in its own two rounds


def test_texts_below_the_threshold_stay_out(
    tiny: TransformerEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    result, _ = run(ConvfitRecipe(**QUICK), inputs(tiny))
    monkeypatch.setattr(rounds, "_limit", lambda *_: 10.0)
    strict, _ = run(ConvfitRecipe(**QUICK), inputs(tiny))
    plain, _ = run(ConvfitRecipe(**QUICK), inputs(tiny, ()))
    assert result.pool is not None
    assert strict.pool == rounds.PoolGain(n_outside=len(POOL), n_texts=len(POOL))
    assert not strict.pool.kept
    assert same(plain, replace(strict, pool=None))


@pytest.mark.parametrize("asked", ["auto", "float32", "bfloat16"])
def test_unlabelled_texts_are_read_in_the_format_of_the_tuning(
    tiny: TransformerEncoder, monkeypatch: pytest.MonkeyPatch, asked: AskedPrecision
) -> None:
    """On a processor without bfloat16, int8 set the labels that a version learned, unasked."""
    monkeypatch.setattr(precision, "has_bfloat16", lambda: False)
    monkeypatch.setattr(copies, "has_bfloat16", lambda: False)
    monkeypatch.setattr(copies, "has_eight_bits", lambda: True)
    made = list[bool]()

    def spy(encoder: Encoder, wanted: AskedEncodingPrecision) -> Encoder:
        copy = copies.quick_copy(encoder, wanted)
        made.append(copy is not encoder)
        return copy

    monkeypatch.setattr(rounds, "quick_copy", spy)
    result, _ = run(ConvfitRecipe(**QUICK, precision=asked), inputs(tiny))
    assert made == [False, False]
    assert result.pool is not None
    assert result.pool.lesson.precision == "float32"


def test_no_intent_has_more_unlabelled_texts_than_all_others_together() -> None:
    uneven = np.array([0] * 70 + [1] * 20 + [2] * 10)
    kept = without_excess(uneven, seed=0)
    assert np.bincount(uneven[kept]).tolist() == [30, 20, 10]
    assert (np.diff(kept) > 0).all()
    even = np.array([0, 1, 2] * 9)
    assert without_excess(even, seed=0).tolist() == list(range(27))
    assert not len(without_excess(np.zeros(9, dtype=np.int64), seed=0))


def test_of_a_pool_that_is_mostly_foreign_nothing_is_learned(tiny: TransformerEncoder) -> None:
    """Less than half of it is in scope: what remains has random labels."""

    def is_usable(n_inside: int, n_in_all: int, n_labels: int = 20) -> bool:
        given = replace(inputs(tiny), exemplars=EXEMPLARS[:1] * n_labels)
        lesson = tuning.Lesson("", ("t",) * n_inside, (0,) * n_inside, n_in_all - n_inside)
        return rounds._is_usable(ConvfitRecipe(), given, lesson, n_in_all)

    assert is_usable(60, 120)
    assert not is_usable(60, 121)
    assert not is_usable(59, 100)  # fewer than 60
    assert not is_usable(60, 120, n_labels=61)


def test_what_the_whole_run_finds_in_scope_must_be_enough_too(
    tiny: TransformerEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only its smaller rounds were looked at: it learned the labels a second time, for nothing."""

    def few_in_the_whole(*given: object) -> tuning.Lesson:
        lesson = label_texts(*given)
        if lesson.stage != "retuning":
            return lesson
        return replace(lesson, texts=(), columns=(), outside=len(POOL) - 3)

    label_texts = rounds.label_texts
    monkeypatch.setattr(rounds, "label_texts", few_in_the_whole)
    result, events = run(ConvfitRecipe(**QUICK), inputs(tiny))
    plain, _ = run(ConvfitRecipe(**QUICK), inputs(tiny, ()))
    assert result.pool == rounds.PoolGain(n_outside=len(POOL) - 3, n_texts=len(POOL))
    assert same(plain, replace(result, pool=None))
    assert "retuning" not in [e.stage for e in events if isinstance(e, StageStarted)]


def test_a_second_round_that_loses_labels_is_left_out(
    tiny: TransformerEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rounds, "is_worse", lambda won, lost: True)
    result, events = run(ConvfitRecipe(**QUICK), inputs(tiny))
    plain, _ = run(ConvfitRecipe(**QUICK), inputs(tiny, ()))
    assert result.pool is not None
    assert not result.pool.kept
    assert result.pool.n_judged == 4
    assert same(plain, replace(result, pool=None))
    stages = [event.stage for event in events if isinstance(event, StageStarted)]
    assert "retuning" not in stages  # its minutes are saved


def test_losses_count_when_chance_seldom_makes_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rounds, "_CHANCE", 0.05)
    assert not is_worse(5, 5)
    assert not is_worse(3, 9)  # 7.3 % by chance
    assert is_worse(3, 10)  # 4.6 %
    assert not is_worse(0, 4)  # 6.25 %
    assert is_worse(0, 5)  # 3.1 %
    assert not is_worse(9, 0)


def test_a_second_round_reads_twenty_thousand_texts_or_all_twice() -> None:
    assert second_epochs(10, 10_000) == 2
    assert second_epochs(10, 5_000) == 4
    assert second_epochs(10, 1_000) == 10
    assert second_epochs(1, 10_000) == 1
    assert second_epochs(5, 10_000, 2) == 1
    assert second_epochs(5, 2_500, 2) == 4


def test_only_single_labels_learn_from_unlabelled_texts(tiny: TransformerEncoder) -> None:
    assert len(texts_to_learn(ConvfitRecipe(), inputs(tiny))) == len(POOL)
    assert len(texts_to_learn(ConvfitRecipe(pool_size=70), inputs(tiny))) == 70
    assert texts_to_learn(ConvfitRecipe(), replace(inputs(tiny), task="multi-label")) == ()
    assert ConvfitRecipe().learnable(20_000, 60) == 10_000
    assert ConvfitRecipe().learnable(100, 101) == 0
    assert ConvfitRecipe(calibration="leave-one-out").learnable(100, 60) == 0
