import pytest

from core.metrics.classification import IntentQuality
from core.metrics.coverage import (
    as_counted_now,
    coverage,
    leaves_out_many,
    untested_names,
    untested_words,
)

QUALITY = [
    IntentQuality("card", 1.0, 1.0, 1.0, 3),
    IntentQuality("loan", 0.0, 0.0, 0.0, 0),
    IntentQuality("new", 0.5, 0.5, 0.5, 2),
]
ROWS = [{name: getattr(one, name) for name in IntentQuality.__slots__} for one in QUALITY]
FACTS = {"intents": [{"name": name} for name in ("card", "loan", "rate")]}


def test_intents_with_a_text_are_counted_and_all_that_the_model_or_a_text_knows() -> None:
    assert coverage(QUALITY, ["card", "loan", "rate"]) == {"tested_intents": 2, "intents": 4}
    assert untested_names({"per_intent": ROWS}, ["rate", "loan", "card"]) == ["loan", "rate"]


def test_figures_of_earlier_releases_are_counted_as_now() -> None:
    """Their average counted intents without a text as 0."""
    stored = {"macro_f1": 0.5, "per_intent": ROWS, "n": 5}
    found = as_counted_now(FACTS, stored)
    assert found == {**stored, "macro_f1": 0.75, "tested_intents": 2, "intents": 4}
    assert as_counted_now({}, found) == found


@pytest.mark.parametrize("rows", [None, [], [3], [{"intent": "a"}], "per", 4])
def test_figures_that_cannot_be_read_stay(rows: object) -> None:
    stored = {"macro_f1": 0.5, "per_intent": rows}
    assert as_counted_now(FACTS, stored) == stored


def test_facts_that_cannot_be_read_leave_the_figures() -> None:
    stored = {"macro_f1": 0.5, "per_intent": ROWS}
    assert as_counted_now({"intents": ["card"]}, stored) == stored


@pytest.mark.parametrize(
    ("n_tested", "n", "words"),
    [
        (14, 63, "14 of 63 intents have test texts; the other 49 are untested."),
        (1, 2, "1 of 2 intents has test texts; the other one is untested."),
        (0, 3, "None of 3 intents has test texts; all are untested."),
        (63, 63, ""),
        (None, 63, ""),
        (14, None, ""),
    ],
)
def test_untested_intents_are_said_in_one_sentence(
    n_tested: int | None, n: int | None, words: str
) -> None:
    """Nothing said that 49 of 63 intents had no test text."""
    assert untested_words(n_tested, n) == words


def test_a_figure_does_not_speak_of_all_intents_beyond_one_in_ten_untested() -> None:
    assert not leaves_out_many(9, 10)
    assert leaves_out_many(8, 10)
    assert not leaves_out_many(None, 10)
