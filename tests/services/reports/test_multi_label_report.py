"""The report about a model whose texts may have several intents, or none."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from app.services.answering.stored import load_model
from app.services.live.accuracy import accuracy_now
from app.services.live.live_studio import open_live_studio
from app.services.reports.model_report import report, report_page
from app.services.reports.next_steps import next_steps
from app.services.reports.readiness import readiness_of
from app.services.reports.report_views import ConfusionLine, ScopeLine
from app.services.versions.verdict import verdict_on
from core.calibration.calibration import probabilities
from core.types import no_pause
from tests.builders.multi_label_project import TESTS, started, train
from tests.services.reports.test_readiness import GOOD, version_of


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


def test_test_texts_without_an_intent_are_told_as_tested(tmp_path: Path, tiny_path: Path) -> None:
    """They were said not to be labelled, and counted as texts that should get an intent."""
    studio = started(tmp_path / "home", tmp_path)
    train(studio, tiny_path, {"kind": "instant"})
    live_studio = open_live_studio(studio)
    found, pipeline = report(live_studio, "p", 1), load_model(studio, "p")
    answered = [bool(one.decision.intents) for one in pipeline.predict([t for t, _ in TESTS])]
    scope = found.scope
    assert (scope.outside, scope.refused, scope.known) == (1, float(not answered[-1]), False)
    assert scope.kept == sum(answered[:-1]) / 2
    told = [*found.ready.sentences, *found.steps, *(one.basis for one in found.ready.figures)]
    assert not any("not tested" in one for one in told if "fit no intent" in one)
    assert not any("out of scope" in one for one in told)
    now = accuracy_now(studio, *live_studio.models.open("p"), no_pause)
    assert now is not None
    assert (now.outside_n, now.kept_out) == (scope.outside, scope.refused)
    studio.database.close()


def test_examples_without_an_intent_are_labelled_ones(tmp_path: Path, tiny_path: Path) -> None:
    """“None of them are labelled yet” was told of four."""
    studio = started(tmp_path / "home", tmp_path, tests=False)
    train(studio, tiny_path, {"kind": "instant"})
    found = report(open_live_studio(studio), "p", 1)
    assert (found.scope.outside, found.scope.known) == (4, True)
    assert "none of them are test texts. Of the 4 others it refuses" in found.ready.sentences[2]
    studio.database.close()


def test_of_several_intents_too_texts_that_fit_none_must_be_refused() -> None:
    """The page of versions knew how many got an intent, and the verdict passed over it."""
    metrics = {"accuracy": 0.9, "none_recall": 0.4, "judged_on": "test set of 9 texts"}
    found = verdict_on(version_of(metrics), "multi-label", None)
    scope = ScopeLine(None, 0.97, 50, 0.4)
    report = readiness_of(replace(GOOD, task="multi-label", scope=scope))
    assert found is not None
    assert (found.level, report.level, report.reasons) == ("trial", "trial", found.reasons)
    (step,) = next_steps({}, [], scope, [], [], on_tests=True)
    assert step == "Label more such texts: 60 % of the texts that fit no intent get an answer."


def test_two_sets_are_not_called_intents_that_are_mixed_up() -> None:
    """“Make “cancel and card” and “card” easier to tell apart”: a text may have both."""
    scope = ScopeLine(None, 0.97, 50, 0.9)
    line = ConfusionLine("cancel and card", "card", 5, "5 of 10 test texts", ())
    (step,) = next_steps({}, [], scope, [line], [], on_tests=True)
    assert step.startswith("Make “cancel and card” and “card” easier to tell apart")
    assert next_steps({"task": "multi-label"}, [], scope, [line], [], on_tests=True) == ()
