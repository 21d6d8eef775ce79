"""What a job tells while its run goes on, and how its model is said to be judged."""

from collections.abc import Generator, Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import pytest

from app.jobs import context
from app.jobs.context import JobContext, Stopped
from app.services.answering.judging import UnlearnedTests, judge
from app.services.studio import Studio
from app.services.training import child
from app.services.training.child import Span, TrainingProgress, spans_of
from app.services.training.jobs import curve_words
from core.encoders.packed.encoder import TransformerEncoder
from core.recipes.heads import VotesConfig
from core.recipes.labels import ConvfitRecipe, InstantRecipe
from core.training.events import Event, StageStarted, StepDone, drain
from core.training.from_labels.inputs import RunInputs
from core.training.from_labels.runs import run_recipe
from core.types import Exemplar, Intent
from storage import jobs
from tests.conftest import SENTENCES


@dataclass(slots=True)
class Listener(JobContext):
    """Takes down every report, however soon after the last."""

    heard: list[tuple[float, str]] = field(default_factory=list)
    left: list[float | None] = field(default_factory=list)

    def report(
        self, share: float, stage: str, left: float | None = None, *, at_once: bool = False
    ) -> None:
        self.heard.append((share, stage))
        self.left.append(left)


@pytest.fixture
def listener(studio: Studio) -> Listener:
    with studio.database.write() as connection:
        job = jobs.enqueue(connection, "train", {})
    return Listener(studio.places, studio.database, job)


@pytest.fixture
def inputs(tiny: TransformerEncoder) -> RunInputs:
    exemplars = tuple(
        Exemplar(text, text, (name,)) for name, texts in SENTENCES.items() for text in texts
    )
    return RunInputs(exemplars, tuple(Intent(name) for name in sorted(SENTENCES)), tiny)


@pytest.mark.parametrize("folds", [1, 3])
def test_progress_only_rises_and_by_equal_steps(
    listener: Listener, inputs: RunInputs, folds: int
) -> None:
    recipe = ConvfitRecipe(epochs=3, frozen_layers=1, folds=folds)
    child.drive(TrainingProgress(listener), run_recipe(recipe, inputs))
    shares = list(dict.fromkeys(share for share, _ in listener.heard))  # a stage begins in between
    gaps = [after - before for before, after in pairwise(shares)]
    assert min(gaps) == pytest.approx(max(gaps))
    assert min(gaps) > 0
    assert 0 < shares[0] < 0.2
    assert shares[-1] == pytest.approx(0.95)
    # "Round 7 of 10" was that of the first part, and stood beside 18 % of the whole.
    words = [stage for _, stage in listener.heard]
    n = len(shares) - 1
    assert words[:2] == ["learning", f"learning, step 1 of {n}"]
    part = "" if folds == 1 else " 3 of 3"
    assert words[-1] == f"checking how sure it may be{part}, step {n} of {n}"


def test_no_time_is_told_before_a_step_was_measured_and_then_that_of_the_steps(
    monkeypatch: pytest.MonkeyPatch, listener: Listener
) -> None:
    """Loading took 0.1 s for 3 of 100 parts, so a training of a minute was told to take 3 s."""
    clock = [100.0]
    monkeypatch.setattr(context.time, "monotonic", lambda: clock[0])

    def run() -> Generator[Event, None, None]:
        yield StageStarted("tuning")
        clock[0] += 20  # embeddings that are computed once
        for step in range(1, 7):
            yield StepDone(step, 60, 1, 0.5)
            clock[0] += 1
        clock[0] += 30
        yield StageStarted("calibrating")
        clock[0] += 100
        yield StageStarted("encoding")

    child.drive(TrainingProgress(listener, after=0.5), run())
    assert listener.left[:6] == [None] * 6  # the stage, and steps up to a twentieth of the work
    assert listener.left[6] == pytest.approx(60 * 1.5 - 6)
    # What was told is not lost at the next stage: it counts down to nothing.
    assert listener.left[7] == pytest.approx(60 * 1.5 - 6 - 31)
    assert listener.left[8] == 0.0


def test_fitting_votes_tells_each_stage_and_how_far_it_is(
    listener: Listener, inputs: RunInputs
) -> None:
    """A large training stood at 4 % for eleven minutes, and then there was no end of it."""
    seconds = {"encoding": 2.0, "deciding": 1.0, "checking": 1.0, "judging": 1.0}
    progress = TrainingProgress(listener, spans_of(seconds, Span(0.0, 1.0)), share=0.0, in_all=True)
    progress.begin("encoding")
    progress.texts(512, 2_048)
    assert listener.heard[-1] == (pytest.approx(0.1), "reading your texts, 512 of 2,048 texts")
    recipe = InstantRecipe(head=VotesConfig(max_exemplars=10))  # of 20: a subset votes
    child.drive(progress, run_recipe(recipe, replace(inputs, told=progress.part)))
    shares = [share for share, _ in listener.heard]
    assert shares == sorted(shares)
    ends = {stage: share for share, stage in listener.heard}
    assert ends["weighing your examples"] == pytest.approx(0.6)
    assert ends["checking how sure it may be"] == pytest.approx(0.8)


def test_a_time_left_needs_a_second_of_measured_work(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr(context.time, "monotonic", lambda: clock[0])
    pace = context.Pace()
    assert pace.left(40, 100) is None  # a resumed job begins with what is done
    clock[0] = 0.5
    assert pace.left(41, 100) is None
    clock[0] = 2.0
    assert pace.left(44, 100) == pytest.approx(28.0)


def test_the_first_slow_units_alone_tell_no_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """A training of five minutes began with “45 minutes left”."""
    clock = [0.0]
    monkeypatch.setattr(context.time, "monotonic", lambda: clock[0])
    pace = context.Pace()
    pace.left(0, 1_000)
    clock[0] = 3.0
    assert pace.left(2, 1_000) is None  # else 25 minutes
    clock[0] = 10.0
    assert pace.left(100, 1_000) == pytest.approx(90.0)
    slow = context.Pace()
    slow.left(0, 1_000)
    clock[0] = 30.0
    assert slow.left(4, 1_000) == pytest.approx(4_980.0)  # long, and by now known


def test_a_slow_beginning_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """ "46 minutes left" came down to the true five only long after the computer was free again."""
    clock = [0.0]
    monkeypatch.setattr(context.time, "monotonic", lambda: clock[0])
    pace, told = context.Pace(), []
    for second in range(161):
        clock[0] = float(second)
        told.append(pace.left(min(second, 40) * 0.5 + max(0, second - 40) * 10, 3_000))
    assert told[40] == pytest.approx(5_960)
    assert told[160] == pytest.approx(178, abs=1)  # 233 by all steps since the first


def test_a_new_attempt_does_not_keep_the_time_left_of_the_former(studio: Studio) -> None:
    with studio.database.write() as connection:
        job = jobs.claim(connection, jobs.enqueue(connection, "train", {}).id)
        jobs.report(connection, job.id, job.attempt, jobs.Progress(0.9, "tuning", 3.0))
        jobs.put_back(connection, job.id, job.attempt)
        assert jobs.claim(connection, job.id).eta_seconds is None


def test_without_a_test_split_every_text_is_judged_once(inputs: RunInputs) -> None:
    result = drain(run_recipe(InstantRecipe(), inputs), lambda _: None)
    metrics = judge(result, inputs, UnlearnedTests((), 0))
    assert metrics["judged_on"] == "5-fold cross-validation over 20 texts"
    assert metrics["n"] == 20
    assert {row["intent"]: row["support"] for row in metrics["per_intent"]} == {
        name: len(texts) for name, texts in SENTENCES.items()
    }
    judged = judge(result, inputs, UnlearnedTests(inputs.exemplars[:8], 1))
    left_out = "; 1 text that it has learned was left out"
    assert judged["judged_on"] == f"test set of 8 texts{left_out}"
    assert (judged["n"], judged["left_out"]) == (8, 1)
    many = judge(result, inputs, UnlearnedTests(inputs.exemplars * 50, 0))
    assert many["judged_on"] == "test set of 1,000 texts"


def test_accuracy_on_texts_not_tuned_on_is_drawn_beside_the_loss(
    listener: Listener, inputs: RunInputs
) -> None:
    recipe = ConvfitRecipe(epochs=2, frozen_layers=1)
    unseen = tuple(Exemplar(f"{e.text} now", f"{e.text} now", e.intents) for e in inputs.exemplars)
    child.drive(TrainingProgress(listener), run_recipe(recipe, replace(inputs, watched=unseen)))
    curve = listener.curve
    assert set(curve) == {
        f"{what} while {stage}"
        for what in ("loss", "accuracy")
        for stage in ("tuning", "calibrating")
    }
    steps = [x for x, _ in curve["loss while tuning"]]
    n_held_out = curve["accuracy while calibrating"][0][2]
    assert curve["accuracy while tuning"][0][0] == 0
    assert curve["accuracy while tuning"][-1][0] == steps[-1]
    assert len(curve["accuracy while tuning"]) == 3
    assert all(0 <= y <= 1 and n == 20 for _, y, n in curve["accuracy while tuning"])
    assert curve_words(curve) == (
        "While learning: right answers among a sample of 20 texts for testing, by which "
        "nothing is chosen. The result counts all test texts, answered by the finished model. "
        f"While checking: right answers among a sample of {n_held_out} texts that were held out of "
        "the learning."
    )


def test_without_a_test_split_the_missing_accuracy_is_explained(
    listener: Listener, inputs: RunInputs
) -> None:
    child.drive(
        TrainingProgress(listener), run_recipe(ConvfitRecipe(epochs=2, frozen_layers=1), inputs)
    )
    assert "accuracy while tuning" not in listener.curve
    assert "accuracy while calibrating" in listener.curve
    words = curve_words(listener.curve)
    assert "every label is learned from and there are no test texts" in words
    assert "held out" in words
    assert curve_words({}) == ""


def test_a_second_attempt_goes_on_with_the_curves_of_the_first(studio: Studio) -> None:
    """After a crash the curve began anew, and what had been seen before was gone."""
    with studio.database.write() as connection:
        job = jobs.claim(connection, jobs.enqueue(connection, "train", {}).id)
    first = JobContext(studio.places, studio.database, job)
    for step in (1, 2, 3, 4):
        first.draw("loss while tuning", step, 1.0 / step)
    first.draw("accuracy while tuning", 4, 0.5)
    first.draw("loss while calibrating", 5, 0.2)
    first.report(0.5, "calibrating")
    with studio.database.write() as connection:
        jobs.put_back(connection, job.id, job.attempt)
        again = jobs.claim(connection, job.id)
    second = JobContext(studio.places, studio.database, again)
    second.draw("loss while tuning", 3, 0.25)  # the newest checkpoint was made after step 2
    assert second.curve["loss while tuning"] == [[1, 1.0], [2, 0.5], [3, 0.25]]
    assert second.curve["accuracy while tuning"] == []
    assert second.curve["loss while calibrating"] == []


def test_a_stopped_run_has_kept_its_curve_as_far_as_its_checkpoint(
    studio: Studio, inputs: RunInputs
) -> None:
    """Points since the last report, half a second, were lost: nobody draws them a second time."""
    recipe = ConvfitRecipe(epochs=3, frozen_layers=1)
    checked = replace(inputs, checkpoint_every=2)
    with studio.database.write() as connection:
        job = jobs.claim(connection, jobs.enqueue(connection, "train", {}).id)

    def stopped_at_step_four(run: Any) -> Iterator[Any]:
        for event in run:
            if isinstance(event, StepDone) and event.step == 4:
                raise Stopped
            yield event

    first = JobContext(studio.places, studio.database, job)
    with pytest.raises(Stopped):
        child.drive(TrainingProgress(first), stopped_at_step_four(run_recipe(recipe, checked)))
    with studio.database.write() as connection:
        jobs.put_back(connection, job.id, job.attempt)
        again = jobs.claim(connection, job.id)
    second = JobContext(studio.places, studio.database, again)
    kept = child.latest_checkpoint_of(second)
    assert kept.step == 2
    drawn = [step for step, _ in second.curve["loss while tuning"]]
    assert drawn[:2] == [1, 2]  # and 3, where so much time had passed that it was reported
    child.drive(TrainingProgress(second), run_recipe(recipe, checked, kept))
    with studio.database.read() as connection:
        curve = jobs.get(connection, job.id).curve or {}
    steps = [step for step, _ in curve["loss while tuning"]]
    assert steps == list(range(1, len(steps) + 1))
    assert len(steps) > 4
    assert curve == second.curve


def test_without_a_test_split_any_intent_of_a_text_is_a_right_answer(inputs: RunInputs) -> None:
    """Only the first by name had counted, and a model without a mistake was called 62 % right."""
    result = drain(run_recipe(InstantRecipe(folds=1), inputs), lambda event: None)
    both = tuple(replace(e, intents=("a first one", *e.intents)) for e in inputs.exemplars)
    alone, among = (
        judge(result, replace(inputs, exemplars=e), UnlearnedTests((), 0))
        for e in (inputs.exemplars, both)
    )
    assert among["accuracy"] == alone["accuracy"] > 0.5
