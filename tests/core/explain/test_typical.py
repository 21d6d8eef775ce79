"""The example that a report shows for an intent."""

import numpy as np

from core.explain.typical import typical_examples
from core.types import Exemplar
from core.vectors import unit_rows
from tests.builders.toy_embeddings import clusters


def test_a_wrongly_labelled_or_made_text_stands_for_no_intent() -> None:
    """A report showed the first example of each intent, also where its label was wrong."""
    toy = clusters(3, 6, 0.1, seed=0)
    names = [f"i{column}" for column in toy.columns]
    names[0] = "i1"  # of the first cluster
    order = np.arange(len(names))
    exemplars = [Exemplar(f"u{row}", f"t{row}", (names[row],)) for row in order]
    unit = unit_rows(toy.rows)
    made = Exemplar("m", "made", ("i2",), synthetic="u17")
    centre = unit_rows(unit[12:].mean(0, keepdims=True))
    found = typical_examples([made, *exemplars], np.concatenate([centre, unit]))
    assert set(found) == {"i0", "i1", "i2"}
    assert all(names[int(one.id[1:])] == name for name, one in found.items() if name != "i1")
    assert found["i1"].text != "t0"
    assert found["i2"].text != "made"


def test_without_examples_nothing_is_typical() -> None:
    assert typical_examples([], np.zeros((0, 4), np.float32)) == {}
