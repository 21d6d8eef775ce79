"""What a job tells while its run goes on, and how its model is said to be judged."""

from dataclasses import dataclass, field
from itertools import pairwise

import pytest

from app.jobs.context import JobContext
from app.services import training
from app.services.judging import judge
from app.services.studio import Studio
from core.bench import drain
from core.encoders.transformer import TransformerEncoder
from core.recipes import ConvfitRecipe, InstantRecipe
from core.training.runs import RunInputs, run_recipe
from core.types import Exemplar, Intent
from storage import jobs
from tests.conftest import SENTENCES


@dataclass(slots=True)
class Listener(JobContext):
    """Takes down every report, however soon after the last."""

    heard: list[tuple[float, str]] = field(default_factory=list)

    def report(self, share: float, stage: str) -> None:
        self.heard.append((share, stage))


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
    training._drive(listener, run_recipe(recipe, inputs))
    shares = [share for share, _ in listener.heard]
    gaps = [after - before for before, after in pairwise(shares)]
    assert min(gaps) == pytest.approx(max(gaps))
    assert min(gaps) > 0
    assert 0 < shares[0] < 0.2
    assert shares[-1] == pytest.approx(0.95)
    words = [stage for _, stage in listener.heard]
    assert words[0].startswith("tuning, epoch 1, loss ")
    last = "calibrating, epoch 1" if folds == 1 else "calibrating 3 of 3, epoch 3"
    assert words[-1].startswith(f"{last}, loss ")


def test_without_a_test_split_every_text_is_judged_once(inputs: RunInputs) -> None:
    result = drain(run_recipe(InstantRecipe(), inputs), lambda _: None)
    metrics = judge(result, inputs, ())
    assert metrics["judged_on"] == "5-fold cross-validation over 20 texts"
    assert metrics["n"] == 20
    assert {row["intent"]: row["support"] for row in metrics["per_intent"]} == {
        name: len(texts) for name, texts in SENTENCES.items()
    }
    judged = judge(result, inputs, inputs.exemplars[:8])
    assert judged["judged_on"] == "test split of 8 texts"
    assert judged["n"] == 8
