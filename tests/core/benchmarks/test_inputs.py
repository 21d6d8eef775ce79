"""What benchmarks have in common: labelled texts as the values that a training takes."""

import pytest

from core.benchmarks import inputs
from core.benchmarks.inputs import LabelledTexts, peak_mb
from core.types import Exemplar, Intent


def test_labelled_texts_are_exemplars_in_their_order_and_intents_in_that_of_names() -> None:
    texts = LabelledTexts(("hello", "bye", "hi"), ("greet", "farewell", "greet"))
    assert texts.exemplars() == (
        Exemplar("0", "hello", ("greet",)),
        Exemplar("1", "bye", ("farewell",)),
        Exemplar("2", "hi", ("greet",)),
    )
    assert texts.distinct_intents() == (Intent("farewell"), Intent("greet"))
    with pytest.raises(ValueError, match="zip"):
        LabelledTexts(("hello",), ()).exemplars()


def test_memory_is_told_in_mb_of_a_million_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """It was told in MiB, under a key that says MB."""
    monkeypatch.setattr(inputs, "peak_bytes", lambda: 262_144_000)
    assert peak_mb() == 262.1
