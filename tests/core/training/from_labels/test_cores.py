"""Labels that came with the cores of groups do not set the threshold alone."""

import dataclasses

import numpy as np
import pytest

from core.encoders.packed.encoder import TransformerEncoder
from core.pipeline import IntentPipeline
from core.recipes.labels import InstantRecipe
from core.training.events import drain
from core.training.from_labels.cores import threshold_beside_cores
from core.training.from_labels.inputs import CoreLabels, RunInputs
from core.training.from_labels.runs import run_recipe
from core.types import Exemplar, Intent
from tests.conftest import SENTENCES

EXEMPLARS = tuple(
    Exemplar(f"{intent}{place}", text, (intent,))
    for intent, texts in SENTENCES.items()
    for place, text in enumerate(texts)
)
INTENTS = tuple(Intent(name) for name in SENTENCES)
EVERY = frozenset(one.id for one in EXEMPLARS)


def inputs_of(tiny: TransformerEncoder, cores: CoreLabels | None) -> RunInputs:
    return RunInputs(EXEMPLARS, INTENTS, tiny, cores=cores)


def threshold(tiny: TransformerEncoder, cores: CoreLabels, rejection: float) -> float:
    n = len(EXEMPLARS)
    held_out, doubtful = np.linspace(0.5, 1.0, n), np.linspace(0.0, 0.4, len(cores.doubtful))
    rows = np.arange(n)
    return threshold_beside_cores(inputs_of(tiny, cores), rows, held_out, doubtful, rejection)


def test_doubtful_texts_count_as_much_as_the_texts_that_wait(tiny: TransformerEncoder) -> None:
    nine_of_ten = CoreLabels(EVERY, tuple("abcde"), 0.9)
    assert threshold(tiny, nine_of_ten, 0.1) == pytest.approx(0.0)
    assert threshold(tiny, nine_of_ten, 0.8) == pytest.approx(0.4)
    assert threshold(tiny, nine_of_ten, 0.95) > 0.5
    one_of_ten = CoreLabels(EVERY, tuple("abcde"), 0.1)
    assert threshold(tiny, one_of_ten, 0.15) >= 0.5


def test_labels_from_elsewhere_keep_their_weight(tiny: TransformerEncoder) -> None:
    """One small group among a hundred labels hardly moves the threshold."""
    one = CoreLabels(frozenset([EXEMPLARS[-1].id]), tuple("abcde"), 0.9)
    share = 0.9 / len(EXEMPLARS)
    assert threshold(tiny, one, share * 0.9) <= 0.4
    assert threshold(tiny, one, share * 1.1) >= 0.5


def test_without_such_labels_there_is_no_such_threshold(tiny: TransformerEncoder) -> None:
    with pytest.raises(ValueError, match="no label came with a group"):
        threshold(tiny, CoreLabels(frozenset(["other"]), ("a",), 0.5), 0.05)


def test_a_run_lets_the_doubtful_texts_set_its_threshold(tiny: TransformerEncoder) -> None:
    def run(cores: CoreLabels | None) -> IntentPipeline:
        return drain(run_recipe(InstantRecipe(), inputs_of(tiny, cores)), lambda _: None).pipeline

    strange = ("zq xv jj kk", "0 1 2 3", "wxyz", "qq qq qq")
    cores = CoreLabels(EVERY, strange, 1.0)
    plain, corrected = run(None).calibration, run(cores)
    assert corrected.calibration.threshold == corrected.scores(strange).max(1).min()
    assert corrected.calibration.threshold != plain.threshold
    assert corrected.calibration.temperature == plain.temperature
    assert run(dataclasses.replace(cores, ids=frozenset())).calibration == plain
    assert run(dataclasses.replace(cores, doubtful=())).calibration == plain
