"""Names that answer without an example, and are embedded once."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from core.encoders.dual.encoder import DualEncoder
from core.intent_names import NameCache, label_text, names_head
from core.types import FloatArray, Intent
from tests.builders.tiny_encoder import HashingEncoder


@dataclass(frozen=True)
class Counting:
    """A toy encoder that remembers what it was asked."""

    inner: HashingEncoder
    asked: list[str] = field(default_factory=list)

    @property
    def dim(self) -> int:
        return self.inner.dim

    @property
    def fingerprint(self) -> str:
        return self.inner.fingerprint

    def encode(self, texts: Sequence[str]) -> FloatArray:
        self.asked.extend(texts)
        return self.inner.encode(texts)


def test_names_read_as_words_with_their_description() -> None:
    assert label_text(Intent("Refund_not-showing_up?")) == "refund not showing up"
    assert label_text(Intent("pin", " asked for a PIN ")) == "pin: asked for a PIN"


def test_only_new_words_and_new_weights_are_read() -> None:
    encoder, cache = Counting(HashingEncoder(32)), NameCache()
    before = cache.embed(encoder, ["card", "pin", "card"])
    assert encoder.asked == ["card", "pin"]
    again = cache.embed(encoder, ["pin", "pin: a number", "card"])
    assert encoder.asked == ["card", "pin", "pin: a number"]
    assert (again[[2, 0]] == before[:2]).all()
    other = Counting(HashingEncoder(16))
    assert cache.embed(other, ["card"]).shape == (1, 16)
    assert other.asked == ["card"]
    assert cache.embed(encoder, []).shape == (0, 32)


def test_an_intent_without_example_is_answered_as_soon_as_it_has_a_name() -> None:
    encoder, cache = Counting(HashingEncoder(256)), NameCache()
    asked = encoder.inner.encode(["block my credit card"])
    few, more = [Intent("greeting"), Intent("card_arrival")], Intent("block_card")
    assert names_head(encoder, few, cache=cache).scores(asked).argmax() == 1
    encoder.asked.clear()
    head = names_head(encoder, [*few, more], cache=cache)
    assert head.intents[int(head.scores(asked).argmax())] == "block_card"
    assert encoder.asked == ["block card"]


def test_names_are_read_by_their_own_side() -> None:
    said, named = Counting(HashingEncoder(32)), Counting(HashingEncoder(32))
    rows = NameCache().embed(DualEncoder(said, named), ["card"])
    assert (said.asked, named.asked) == ([], ["card"])
    np.testing.assert_array_equal(rows, named.inner.encode(["card"]))
