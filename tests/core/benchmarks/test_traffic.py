"""Weeks drawn from answered texts: intervals hold, no false alarms, planted rises are told."""

import pytest

from core.benchmarks import traffic
from core.benchmarks.inputs import LabelledTexts
from core.benchmarks.traffic import Heard, traffic_figures
from core.encoders.packed.encoder import TransformerEncoder
from core.recipes.labels import InstantRecipe
from tests.conftest import SENTENCES


def test_the_figures_of_a_model_that_is_mostly_right(
    tiny: TransformerEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(traffic, "_DRIFTS", 4)  # one takes half a second
    monkeypatch.setattr(traffic, "_NEW_WEEKS", 4)
    pairs = [(text, intent) for intent, texts in SENTENCES.items() for text in texts]
    texts = LabelledTexts(*(tuple(part) for part in zip(*pairs, strict=True)))
    outside = ("tell me a joke", "how tall is the tower")
    found = traffic_figures(InstantRecipe(), tiny, Heard(texts, texts, outside), lambda _: None)
    often = {"interval_holds": 1_000, "false_alarms": 200, "rises_told": 200}
    seldom = {
        "drift_false_alarms": 4,
        "drift_told": 4,
        "new_group_false_alarms": 4,
        "new_group_found": 4,
    }
    assert found["tries"] == often | seldom
    for name in seldom:  # this encoder knows no meaning
        assert 0 <= float(str(found[name])) <= 100
    assert float(str(found["interval_holds"])) >= 93
    assert float(str(found["false_alarms"])) <= 5
    assert float(str(found["rises_told"])) >= 90
    assert 0.5 < float(str(found["coverage"])) <= 1.0
