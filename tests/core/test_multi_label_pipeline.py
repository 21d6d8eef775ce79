from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.bundle.layout import load_pipeline, save_pipeline
from core.calibration.calibration import (
    Calibration,
    calibration_from_json,
    calibration_to_json,
    probabilities,
)
from core.encoders.packed.encoder import TransformerEncoder
from core.errors import ArtifactDamaged
from core.heads.votes.fit import fit_votes
from core.pipeline import IntentPipeline, exact_answers
from core.types import Exemplar
from core.vectors import unit_rows
from tests.builders.tiny_encoder import HashingEncoder

LABELLED: list[tuple[str, tuple[str, ...]]] = [
    ("cancel my account", ("account", "cancel")),
    ("cancel it please", ("cancel",)),
    ("I want to cancel the whole thing", ("cancel",)),
    ("what is in my account", ("account",)),
    ("my account number please", ("account",)),
    ("thanks a lot", ("thank",)),
    ("thank you so much", ("thank",)),
    ("on the third of may", ()),
    ("john smith is the name", ()),
]
EXEMPLARS = tuple(Exemplar(f"u{at}", text, names) for at, (text, names) in enumerate(LABELLED))
INTENTS = ("account", "cancel", "thank")
CALIBRATION = Calibration(0.1, 0.4, 0.0, "multi-label", (0.35, 0.4, 0.5), 0.4)


def pipeline(encoder: object = None, n_neighbours: int = len(EXEMPLARS)) -> IntentPipeline:
    encoder = encoder or HashingEncoder(128)
    embeddings = unit_rows(encoder.encode([e.text for e in EXEMPLARS]))
    targets = np.array([[float(name in e.intents) for name in INTENTS] for e in EXEMPLARS])
    head = fit_votes(embeddings, targets, INTENTS, 0.4, 0.1)
    return IntentPipeline(
        encoder, head, CALIBRATION, EXEMPLARS, embeddings, n_neighbours, exact_answers(EXEMPLARS)
    )


def test_each_intent_that_reaches_its_own_threshold_is_answered() -> None:
    asked = ["please cancel my account now", "thanks", "the second of june", "cancel"]
    answering = pipeline()
    scores = answering.scores(asked)
    for answer, row in zip(answering.predict(asked), scores, strict=True):
        expected = {
            n for n, s, t in zip(INTENTS, row, CALIBRATION.thresholds, strict=True) if s >= t
        }
        assert set(answer.decision.intents) == expected
        by_score = sorted(expected, key=lambda name: -row[INTENTS.index(name)])
        assert list(answer.decision.intents) == by_score
        assert answer.decision.rule == ("votes" if expected else "no-intent")
        assert not answer.decision.out_of_scope
    first, second, third, _ = answering.predict(asked)
    assert first.decision.intents == ("account", "cancel")
    assert second.decision.intents == ("thank",)
    assert third.decision.intents == ()


def test_the_votes_of_each_intent_in_the_answer_sum_to_its_own_score() -> None:
    answering = pipeline()
    (answer,) = answering.predict(["please cancel my account now"])
    scores = dict(zip(INTENTS, answering.scores([answer.text])[0], strict=True))
    assert [reason.intent for reason in answer.reasons] == ["account", "cancel"]
    for reason in answer.reasons:
        total = reason.prior + sum(neighbour.vote for neighbour in reason.neighbours)
        assert total == pytest.approx(reason.score, abs=1e-6)
        assert reason.score == pytest.approx(scores[reason.intent], abs=1e-12)
        assert reason.score >= reason.threshold
    leading = answer.reasons[0]
    assert (answer.decision.score, answer.decision.threshold) == (leading.score, 0.35)
    assert answer.reason == leading


def test_a_text_without_intent_shows_what_came_nearest_to_its_threshold() -> None:
    (answer,) = pipeline().predict(["the second of june"])
    assert (answer.decision.intents, len(answer.reasons)) == ((), 1)
    row = pipeline().scores([answer.text])[0]
    nearest = int((row - np.array(CALIBRATION.thresholds)).argmax())
    assert answer.decision.score == pytest.approx(row[nearest])
    assert answer.reason.intent == INTENTS[nearest]
    assert answer.decision.score < answer.decision.threshold == CALIBRATION.thresholds[nearest]
    total = answer.reason.prior + sum(neighbour.vote for neighbour in answer.reason.neighbours)
    assert total == pytest.approx(answer.decision.score, abs=1e-6)


def test_an_exemplar_of_no_intent_is_answered_exactly_with_none() -> None:
    nothing, both = pipeline().predict(["On the third of May!", "CANCEL my account"])
    assert (nothing.decision.rule, nothing.decision.intents) == ("exact", ())
    assert (both.decision.rule, set(both.decision.intents)) == ("exact", {"account", "cancel"})
    assert {reason.intent for reason in both.reasons} == {"account", "cancel"}


def test_probabilities_are_those_of_each_intent_alone_and_rise_with_its_score() -> None:
    scores = np.array([[-1.0, 0.4, 0.5], [0.0, 0.4, 9.0]])
    shares = probabilities(scores, CALIBRATION)
    np.testing.assert_allclose(shares[0], 1 / (1 + np.exp([14.0, 0.0, -1.0])), atol=1e-12)
    assert shares[0, 1] == shares[1, 1] == 0.5
    assert (np.diff(shares, axis=0)[:, [0, 2]] > 0).all()


def test_an_intent_met_after_training_takes_the_common_threshold() -> None:
    np.testing.assert_array_equal(CALIBRATION.limits(5), [0.35, 0.4, 0.5, 0.4, 0.4])
    np.testing.assert_array_equal(Calibration(1.0, 0.2, 0.05).limits(2), [0.2, 0.2])


def test_a_stored_pipeline_answers_bit_for_bit_as_before(
    tiny: TransformerEncoder, tmp_path: Path
) -> None:
    kept = pipeline(tiny, 3)
    save_pipeline(kept, {}, tmp_path / "one")
    again = load_pipeline(tmp_path / "one")
    assert (again.task, again.calibration) == ("multi-label", CALIBRATION)
    asked = ["please cancel my account now", "the second of june", "thanks a lot"]
    assert again.predict(asked) == kept.predict(asked)
    save_pipeline(again, {}, tmp_path / "two")
    for path in (tmp_path / "one").glob("*.*"):
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes()


def test_a_single_label_calibration_is_stored_as_it_always_was() -> None:
    single = Calibration(0.1, 0.4, 0.05)
    assert set(calibration_to_json(single)) == {"temperature", "threshold", "rejection"}
    assert calibration_from_json(calibration_to_json(single)) == single
    with pytest.raises(ArtifactDamaged):
        calibration_from_json({**calibration_to_json(CALIBRATION), "task": "other"})
    with pytest.raises(ArtifactDamaged):
        calibration_from_json({**calibration_to_json(CALIBRATION), "thresholds": [float("nan")]})


def test_the_same_scores_say_one_intent_in_a_single_label_project() -> None:
    single = replace(pipeline(), calibration=Calibration(0.1, 0.4, 0.05))
    (answer,) = single.predict(["please cancel my account now"])
    assert single.task == "single-label"
    assert answer.decision.intents == ("account",)
    assert [reason.intent for reason in answer.reasons] == ["account"]
