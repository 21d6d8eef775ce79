import pytest

from core.metrics.in_words import figure_words, measured_now, measured_on, untested_of

HELD_OUT = "held-out labels when trained"


@pytest.mark.parametrize(
    ("judged_on", "words"),
    [
        ("test set of 240 texts", "on 240 test texts when trained"),
        ("test set of 1 text", "on 1 test text when trained"),
        (
            "test set of 1,200 texts; 3 texts that are examples, too, were left out",
            "on 1,200 test texts when trained; 3 texts that are examples, too, were left out",
        ),
        (
            "5-fold cross-validation over 300 texts",
            f"on {HELD_OUT} (5-fold cross-validation over 300 texts)",
        ),
        (
            "4 of 20 texts, held out",
            "on held-out labels when trained (4 of 20 texts, held out)",
        ),
        (
            "leave-one-out over 20 texts that the encoder was tuned on",
            "on labels that it has learned, when trained "
            "(leave-one-out over 20 texts that the encoder was tuned on)",
        ),
        ("7 texts of the file", "on 7 texts of the file"),
        ("", "when trained"),
    ],
)
def test_a_stored_figure_says_on_what_it_stands(judged_on: str, words: str) -> None:
    """93.8 % of the training stood beside 87.3 % of today without a word."""
    assert measured_on({"judged_on": judged_on}) == words
    assert measured_now(240) == "on 240 test texts, as it answers now"


def test_all_shares_are_written_as_percents() -> None:
    """`evaluate` printed 0.887 of right answers among percents."""
    assert figure_words("answered_right", 0.887) == "88.7 %"
    assert figure_words("noise", 0.0123) == "1.2 %"
    assert figure_words("silhouette_after", 0.25) == "0.250"
    assert (figure_words("n", 1200), figure_words("task", "x")) == ("1,200", "")


def test_stored_figures_say_which_texts_the_untested_intents_lack() -> None:
    counts = {"tested_intents": 1, "intents": 3}
    on_tests = untested_of({"judged_on": "test set of 2 texts", **counts})
    assert on_tests == "1 of 3 intents has test texts; the other 2 are untested."
    held_out = untested_of({"judged_on": "leave-one-out over 9 texts", **counts})
    assert held_out == "1 of 3 intents has held-out labels; the other 2 are untested."
    tuned_on = "leave-one-out over 9 texts that the encoder was tuned on"
    learned = untested_of({"judged_on": tuned_on, **counts})
    assert learned == "1 of 3 intents has learned labels; the other 2 are untested."
