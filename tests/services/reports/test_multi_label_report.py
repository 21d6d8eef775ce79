"""The report about a model whose texts may have several intents, or none."""

from pathlib import Path

import numpy as np
import pytest

from app.services.answering.stored import load_model
from app.services.live.server_state import open_live_studio
from app.services.reports.model_report import report, report_page
from core.calibration.calibration import probabilities
from tests.builders.multi_label_project import TESTS, started, train


def test_probabilities_of_pairs_are_held_against_how_often_they_are_so(
    tmp_path: Path, tiny_path: Path
) -> None:
    """Each intent is a decision of its own, and the report had no chart of these decisions."""
    studio = started(tmp_path / "home", tmp_path)
    train(studio, tiny_path, {"kind": "instant"})
    found, pipeline = report(open_live_studio(studio), "p", 1), load_model(studio, "p")
    shares = probabilities(pipeline.scores([text for text, _ in TESTS]), pipeline.calibration)
    has = np.array(
        [[name in cell.split("|") for name in pipeline.head.intents] for _, cell in TESTS]
    )
    assert sum(one.n for one in found.bins) == has.size == 9
    assert sum(one.n * one.right for one in found.bins) == pytest.approx(has.sum())
    assert sum(one.n * one.confidence for one in found.bins) == pytest.approx(shares.sum())
    for one in found.bins:
        inside = (shares >= one.low) & (shares < one.high)
        assert one.n == inside.sum()
        assert one.right == pytest.approx(has[inside].mean())
    page = report_page(found, "", {})
    assert "every pair of a text and an intent is asked about" in page
    assert page.count('class="bin"') == len(found.bins)
    studio.database.close()
