"""The sample project gets the answers that it got at commit a593b00, from the same recipe."""

import json
from pathlib import Path

import pytest

from app.cli import main
from app.services.data.projects import create_sample
from app.services.studio import Studio
from app.services.training.runs import TrainingRequest
from tests.builders.trained_home import train_here

REFERENCE = Path(__file__).parents[1] / "reference" / "predictions_a593b00.json"
ROUNDING = 2e-5
"""Another processor rounds an embedding in its seventh digit."""


@pytest.mark.slow
def test_two_hundred_texts_get_the_answers_of_a593b00(
    studio: Studio, capsys: pytest.CaptureFixture[str]
) -> None:
    create_sample(studio, "sample")
    train_here(studio, TrainingRequest("sample", "instant", {}))
    expected = json.loads(REFERENCE.read_text(encoding="utf-8"))
    assert len(expected) == 200
    arguments = ["--home", str(studio.places.home), "predict", "sample@1", *expected, "--json"]
    capsys.readouterr()
    assert main(arguments) == 0
    predictions = json.loads(capsys.readouterr().out)["predictions"]
    assert [prediction["text"] for prediction in predictions] == list(expected)
    for prediction in predictions:
        intent, score, rule = expected[prediction["text"]]
        assert (prediction["intent"], prediction["decision"]["rule"]) == (intent, rule)
        assert prediction["decision"]["score"] == pytest.approx(score, abs=ROUNDING)
