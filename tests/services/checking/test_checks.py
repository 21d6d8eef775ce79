"""Floors and comparisons as they are judged, by hand values."""

from typing import Any

import pytest

from app.services.checking.checks import judge_comparison, judge_floor, latency_ms
from app.services.checking.subject import Subject
from app.services.checking.wanted import Floor
from app.services.studio import Studio
from app.services.versions.comparison import Questions, compare_on
from core.types import Exemplar
from tests.builders.stub_pipeline import StubPipeline, contender

FIGURES = {
    "accuracy": 0.9,
    "macro_f1": 0.82,
    "in_scope": 0.95,
    "n": 20,
    "kept_out": 0.5,
    "outside_n": 4,
    "per_intent": [
        {"intent": "refund", "precision": 0.75, "recall": 0.6, "f1": 2 / 3, "support": 5},
        {"intent": "parcel", "precision": 0.0, "recall": 0.0, "f1": 0.0, "support": 0},
    ],
}


class SingleLabel:
    """Stands for a pipeline that is asked nothing but its task."""

    task = "single-label"


def judged(floor: Floor, figures: dict[str, Any]) -> tuple[str, str, float | None]:
    pipeline: Any = SingleLabel()
    found = judge_floor(floor, figures, Subject("p@1", "p@1", "p", pipeline, 0, {}))
    return found.state, found.found, found.value


@pytest.mark.parametrize(
    ("floor", "expected"),
    [
        (Floor("accuracy", 0.9), ("passed", "90.0 % of 20 texts", 0.9)),
        (Floor("accuracy", 0.901), ("failed", "90.0 % of 20 texts", 0.9)),
        (Floor("kept", 0.95), ("passed", "95.0 % of 20 texts", 0.95)),
        (Floor("out_of_scope", 0.51), ("failed", "50.0 % of 4 texts", 0.5)),
        (Floor("recall", 0.6, "refund"), ("passed", "60.0 % of 5 texts", 0.6)),
        (Floor("recall", 0.0, "parcel"), ("failed", "not judged: no test text tells it", None)),
        (Floor("answered_right", 0), ("failed", "not judged: no test text tells it", None)),
    ],
)
def test_a_floor_is_compared_with_its_figure(
    floor: Floor, expected: tuple[str, str, float | None]
) -> None:
    assert judged(floor, FIGURES) == expected


@pytest.mark.parametrize(
    ("floor", "found"),
    [
        (Floor("precision", 0.8, "refund"), ("failed", "75.0 %", 0.75)),
        (Floor("f1", 0.6, "refund"), ("passed", "66.7 %", 2 / 3)),
        (Floor("macro_f1", 0.8), ("passed", "82.0 %", 0.82)),
    ],
)
def test_a_figure_that_is_no_share_of_labelled_texts_tells_no_number_of_them(
    floor: Floor, found: tuple[str, str, float]
) -> None:
    """“75.0 % of 5 texts” stood beside a precision: 5 texts are labelled so, 4 were answered so."""
    assert judged(floor, FIGURES) == found


@pytest.mark.parametrize("figures", [{}, {"accuracy": "high"}, {"accuracy": None, "n": "many"}])
def test_a_floor_never_passes_by_figures_that_are_none(figures: dict[str, Any]) -> None:
    assert judged(Floor("accuracy", 0.0), figures)[0] == "failed"


def test_figures_of_intents_that_are_damaged_pass_no_floor() -> None:
    assert judged(Floor("recall", 0.0, "refund"), {"per_intent": [{"intent": "refund"}]})[0] == (
        "failed"
    )


def hundred(n_outside: int) -> Questions:
    """A hundred texts of refunds, and some of no intent."""
    inside = [Exemplar(f"i{at}", f"text {at}", ("refund",)) for at in range(100)]
    outside = [Exemplar(f"o{at}", f"noise {at}", ()) for at in range(n_outside)]
    return Questions("single-label", [*inside, *outside])


def test_a_loss_beyond_chance_fails_and_a_small_one_does_not(studio: Studio) -> None:
    """Of 100, with half a text in each count, 5 lost are -4.9 +- 4.6 points; 4: -3.9 +- 4.2."""
    sound = contender("p@1", StubPipeline({}))
    for lost, state in ((4, "passed"), (5, "failed")):
        worse = StubPipeline({f"text {at}": "parcel" for at in range(lost)})
        compared = compare_on(studio, hundred(0), contender("p@2", worse), sound)
        [found] = judge_comparison(compared)
        assert (found.state, found.value) == (state, pytest.approx(-lost / 100))
        assert found.name == "not worse than p@1 beyond chance"
        assert found.why == f"Largest losses of recall: refund: 100 % → {100 - lost} % of 100."


def test_refusing_fewer_texts_of_no_intent_beyond_chance_fails(studio: Studio) -> None:
    """Of 20 refused texts 5 are answered now: -22.7 +- 19.6 points; 4: -18.2 +- 18.4."""
    noise = [f"noise {at}" for at in range(20)]
    shy = contender("p@1", StubPipeline({}, refused=frozenset(noise)))
    for answered, state in ((4, "passed"), (5, "failed")):
        bold = contender("p@2", StubPipeline({}, refused=frozenset(noise[answered:])))
        accuracy, outside = judge_comparison(compare_on(studio, hundred(20), bold, shy))
        assert (accuracy.state, outside.state) == ("passed", state)
        assert outside.found == f"refuses {20 - answered} of 20, 20 before"


def test_without_anything_to_compare_on_it_fails(studio: Studio) -> None:
    sides = [contender(name, StubPipeline({})) for name in ("p@2", "p@1")]
    [found] = judge_comparison(compare_on(studio, Questions("single-label", ()), *sides))
    assert (found.state, found.value) == ("failed", None)
    assert found.found.startswith("Nobody can say")


def test_latency_is_the_95th_of_a_hundred(monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers take 1, 2, ..., 200 ms after ten that are not counted: 95 of 100 take 190.05 ms."""
    clock, steps = 0.0, [*([1.0] * 10), *(at / 1_000 for at in range(1, 201))]
    ticks = []
    for step in steps:
        ticks += [clock, clock + step]
        clock += step
    moments = iter(ticks)
    monkeypatch.setattr("app.services.checking.checks.time.perf_counter", lambda: next(moments))

    class Silent:
        def predict(self, texts: list[str]) -> None:
            assert len(texts) == 1

    silent: Any = Silent()
    assert latency_ms(silent, ["a", "b"]) == pytest.approx(190.05)
