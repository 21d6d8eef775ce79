"""Weeks drawn from answered texts: intervals hold, no false alarms, planted rises are told."""

from core.benchmarks.inputs import LabelledTexts
from core.benchmarks.traffic import Heard, traffic_figures
from core.encoders.packed.encoder import TransformerEncoder
from core.recipes.labels import InstantRecipe
from tests.conftest import SENTENCES


def test_the_figures_of_a_model_that_is_mostly_right(tiny: TransformerEncoder) -> None:
    pairs = [(text, intent) for intent, texts in SENTENCES.items() for text in texts]
    texts = LabelledTexts(*(tuple(part) for part in zip(*pairs, strict=True)))
    outside = ("tell me a joke", "how tall is the tower")
    found = traffic_figures(InstantRecipe(), tiny, Heard(texts, texts, outside), lambda _: None)
    assert found["tries"] == {"interval_holds": 1_000, "false_alarms": 200, "rises_told": 200}
    assert float(str(found["interval_holds"])) >= 93
    assert float(str(found["false_alarms"])) <= 5
    assert float(str(found["rises_told"])) >= 90
    assert 0.5 < float(str(found["coverage"])) <= 1.0
