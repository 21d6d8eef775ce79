"""The curve of accuracy is that of texts which the tuning does not see, and leaves no trace."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from core.encoders.opening import TuningOptions, open_tuning
from core.encoders.packed.encoder import TransformerEncoder
from core.recipes.labels import ConvfitRecipe
from core.training import unseen as watching
from core.training.checkpoints import Checkpoint
from core.training.events import CheckpointReady, EpochScored, Event, StageStarted, StepDone, drain
from core.training.from_labels.inputs import RunInputs
from core.training.from_labels.runs import run_recipe
from core.training.loop import FitOptions, fit
from core.training.unseen import Watch, Watcher, unseen_sample
from core.types import Exemplar, Intent
from tests.conftest import SENTENCES

INTENTS = tuple(Intent(name) for name in sorted(SENTENCES))
ALL = tuple(Exemplar(text, text, (name,)) for name, texts in SENTENCES.items() for text in texts)
TEST = ALL[::5]
TRAIN = tuple(exemplar for exemplar in ALL if exemplar not in TEST)
RECIPE = ConvfitRecipe(epochs=4, frozen_layers=1, learning_rate=1e-3)


def run(inputs: RunInputs, recipe: ConvfitRecipe = RECIPE):
    events: list[Event] = []
    return drain(run_recipe(recipe, inputs), events.append), events


def scored(events: list[Event]) -> dict[str, list[EpochScored]]:
    found: dict[str, list[EpochScored]] = {}
    stage = ""
    for event in events:
        stage = event.words if isinstance(event, StageStarted) else stage
        if isinstance(event, EpochScored):
            found.setdefault(stage, []).append(event)
    return found


def watch_of(unseen: tuple[Exemplar, ...], labels: list[int]) -> Watch:
    return Watch(unseen, tuple("abcd"), np.eye(4)[labels], (0.05, 0.001))


def test_a_watched_run_gives_the_same_model_bit_for_bit(tiny: TransformerEncoder) -> None:
    bare, silent = run(RunInputs(TRAIN, INTENTS, tiny))
    watched, told = run(RunInputs(TRAIN, INTENTS, tiny, watched=TEST))
    assert watched.pipeline.encoder.fingerprint == bare.pipeline.encoder.fingerprint
    assert watched.pipeline.calibration == bare.pipeline.calibration
    np.testing.assert_array_equal(watched.held_out.scores, bare.held_out.scores)
    losses = [[e.loss for e in events if isinstance(e, StepDone)] for events in (silent, told)]
    assert losses[0] == losses[1]
    assert "tuning" not in scored(silent)
    assert "tuning" in scored(told)


def test_each_epoch_is_scored_at_its_last_step_and_once_before_the_first(
    tiny: TransformerEncoder,
) -> None:
    _, events = run(RunInputs(TRAIN, INTENTS, tiny, watched=TEST))
    steps = [event for event in events if isinstance(event, StepDone)]
    found = scored(events)
    assert [event.epoch for event in found["tuning"]] == [0, 1, 2, 3, 4]
    assert [event.epoch for event in found["calibrating"]] == [0, 1, 2]
    for event in found["tuning"][1:]:
        assert event.step == max(
            step.step for step in steps[: found["calibrating"][0].step] if step.epoch == event.epoch
        )
    assert found["calibrating"][0].step == found["tuning"][-1].step
    assert {event.total for stage in found.values() for event in stage} == {len(steps)}


def test_every_part_of_a_calibration_is_watched_on_the_texts_it_holds_out(
    tiny: TransformerEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs: list[tuple[set[str], set[str]]] = []
    chosen = watching.unseen_sample

    def spy(candidates, tuned_on, seed):
        pairs.append(({e.text for e in candidates}, set(tuned_on)))
        return chosen(candidates, tuned_on, seed)

    monkeypatch.setattr("core.training.from_labels.tuning.unseen_sample", spy)
    recipe = RECIPE.model_copy(update={"folds": 2, "names": False})
    _, events = run(RunInputs(TRAIN, INTENTS, tiny), recipe)
    assert list(scored(events)) == ["calibrating 1 of 2", "calibrating 2 of 2"]
    whole, *parts = pairs
    assert whole == (set(), {e.text for e in TRAIN})
    texts = {e.text for e in TRAIN}
    assert all(held == texts - seen and held for held, seen in parts)


def test_the_rows_as_they_came_by_last_vote_on_the_watched_texts(tiny: TransformerEncoder) -> None:
    texts = [e.text for e in ALL]
    tuning = open_tuning(tiny, texts, TuningOptions(frozen_layers=1))
    tuning.eval()
    with torch.no_grad():
        own = tuning(torch.arange(len(texts)))
    labels = [row % 4 for row in range(len(texts))]
    unseen = tuple(replace(e, intents=("abcd"[row % 4],)) for row, e in enumerate(ALL))
    watcher = Watcher(tuning, watch_of(unseen, labels), own)
    assert watcher.accuracy() == 1.0  # each watched text finds itself among the voters
    watcher.begin_epoch()
    assert watcher.accuracy() is None
    watcher.note(np.arange(10), own[torch.arange(10)])
    assert watcher.accuracy() is None
    watcher.note(np.arange(10, 20), own[torch.arange(10, 20)])
    assert watcher.accuracy() == 1.0
    shifted = Watcher(tuning, watch_of(unseen, [(label + 1) % 4 for label in labels]), own)
    assert shifted.accuracy() == 0.0
    either = tuple(replace(e, intents=("a", "b", "c", "d")) for e in ALL)
    assert Watcher(tuning, watch_of(either, labels), own).accuracy() == 1.0


def test_a_text_with_a_twin_among_those_tuned_on_is_not_watched() -> None:
    twin = Exemplar("x", TRAIN[0].text.upper() + "?", TRAIN[0].intents)
    assert unseen_sample((twin, *TEST), [e.text for e in TRAIN], 0) == TEST


@pytest.mark.parametrize(("tuned_on", "most"), [(20, 50), (500, 50), (1_200, 120), (9_999, 300)])
def test_a_tenth_of_what_is_tuned_on_is_watched(tuned_on: int, most: int) -> None:
    many = tuple(Exemplar(str(row), f"unseen {row}", ("a",)) for row in range(1_000))
    texts = [f"seen {row}" for row in range(tuned_on)]
    found = unseen_sample(many, texts, 3)
    assert len(found) == most
    assert found == unseen_sample(many, texts, 3)
    assert found != unseen_sample(many, texts, 4)


def test_a_resumed_run_scores_the_epochs_that_it_sees_whole(tiny: TransformerEncoder) -> None:
    labels = [place for place, texts in enumerate(SENTENCES.values()) for _ in texts]
    recipe = RECIPE.model_copy(update={"intents_per_batch": 2, "utterances_per_intent": 2})

    def fitted(resume: Checkpoint | None):
        tuning = open_tuning(tiny, [e.text for e in ALL], TuningOptions(frozen_layers=1))
        unseen = (Exemplar("x", "where is my money", ("a",)), Exemplar("y", "hello you", ("b",)))
        options = FitOptions(resume=resume, checkpoint_every=1, watch=watch_of(unseen, labels))
        events = list(fit(tuning, labels, recipe, options))
        return [p.detach().clone() for _, p in tuning.trainable()], events

    whole, events = fitted(None)
    kept = [event.checkpoint for event in events if isinstance(event, CheckpointReady)]
    first = [event for event in events if isinstance(event, EpochScored)]
    assert [event.epoch for event in first] == [0, 1, 2, 3, 4]
    middle = first[1].step + 1  # one step into the second epoch
    resumed, rest = fitted(kept[middle - 1])
    assert all(torch.equal(left, right) for left, right in zip(whole, resumed, strict=True))
    assert [event for event in rest if isinstance(event, EpochScored)] == first[3:]
    _, rest = fitted(kept[first[2].step - 1])
    assert [event for event in rest if isinstance(event, EpochScored)] == first[3:]
