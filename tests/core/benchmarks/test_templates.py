"""The benchmark of templates on cases worked out by hand."""

from pathlib import Path

import numpy as np
import pytest

from core.benchmarks.templates import (
    STRENGTHS,
    Remembering,
    SlottedSet,
    judge,
    nearest_accuracy,
    summarise,
    template_bench,
)
from core.encoders.loading import load_folder
from core.losses.template import compress
from core.recipes.templates import TemplatesRecipe
from core.templates.slots import Slot, SlottedText, slotted
from tests.builders.tiny_encoder import tiny_folder


class Letters:
    """Says of a text how often it has each letter, and notes what it was asked for."""

    dim = 27
    fingerprint = "letters"
    max_tokens = 99

    def __init__(self) -> None:
        self.asked: list[str] = []

    def encode(self, texts, progress=None):
        self.asked += texts
        alphabet = "abcdefghijklmnopqrstuvwxyz{"
        return np.array([[text.lower().count(a) for a in alphabet] for text in texts], np.float32)


def slots_in(text: str, *values: str) -> SlottedText:
    at = [text.index(value) for value in values]
    return slotted(text, [Slot(s, s + len(v), "v") for s, v in zip(at, values, strict=True)])


TRAIN = SlottedSet(
    tuple(
        slots_in(f"{verb} {city}", city)
        for verb in ("fly to", "rain in")
        for city in ("oooslo", "bbbern", "yyyork", "aaames", "mmmilan")
    ),
    ("flight",) * 5 + ("weather",) * 5,
)
TEST = SlottedSet(
    (slots_in("fly zzz", "zzz"), slots_in("rain bbbern", "bbbern")), ("flight", "weather")
)


def test_the_nearest_reference_must_have_the_very_same_label() -> None:
    references = np.array([[1, 0], [0, 1]], np.float32)
    queries = np.array([[1, 0], [0.8, 0.6], [0, 1], [0.6, 0.8]], np.float32)
    truths = ["a", "a", "b|c", "a"]
    assert nearest_accuracy((references, ["a", "b"]), (queries, truths)) == 50.0


def test_compression_by_hand() -> None:
    templates, utterances = np.array([[2.0, 0.0]]), np.array([[0.0, 4.0]])
    assert compress(templates, utterances, 0.25).tolist() == [[0.5, 3.0]]
    assert compress(templates, utterances, 0.0).tolist() == [[0.0, 4.0]]


def test_values_that_nobody_marked_stay_in_a_query_whose_slots_are_proposed() -> None:
    encoder = Letters()
    found = judge(Remembering(encoder), (TRAIN, TEST), TemplatesRecipe(), 0.0)
    assert "fly {SLOT}" in encoder.asked  # as annotated
    assert "fly zzz" in encoder.asked
    assert "rain {SLOT}" in encoder.asked
    assert found.proposed.strength in STRENGTHS


def test_a_strength_is_chosen_without_the_labels_of_the_test_set() -> None:
    swapped = SlottedSet(TEST.utterances, TEST.labels[::-1])
    both = [
        judge(Remembering(Letters()), (TRAIN, test), TemplatesRecipe(), 0.0)
        for test in (TEST, swapped)
    ]
    assert both[0].proposed.strength == both[1].proposed.strength
    assert both[0].annotated.strength == both[1].annotated.strength
    assert both[0].accuracy == pytest.approx(100.0 - both[1].accuracy)


def test_references_are_what_was_said_although_training_sees_synthetic_rows(tmp_path: Path) -> None:
    """The encoder is asked for no synthetic utterance: none votes, and none is judged."""
    encoder = load_folder(tiny_folder(tmp_path / "tiny"))
    recipe = TemplatesRecipe(batch_size=4, frozen_layers=0)
    names: set[str] = set()
    found = template_bench(
        recipe, Remembering(encoder), (TRAIN, TEST), lambda name, _: names.add(name)
    )
    assert names == {"utterances", "templates"}
    assert list(found) == ["untuned", "utterances", "templates"]
    summary = summarise({0: found, 1: found})
    assert summary["mean"]["templates"]["accuracy"] == found["templates"].accuracy
    assert summary["mean"]["untuned"]["proposed.strength"] == found["untuned"].proposed.strength
    assert set(summary["seeds"]) == {"0", "1"}
    asked = Letters()
    judge(Remembering(asked), (TRAIN, TEST), recipe, 0.0)
    assert len(asked.asked) == len(set(asked.asked))
    real = {one.text for one in (*TRAIN.utterances, *TEST.utterances)}
    assert {text for text in asked.asked if "{" not in text} == real
