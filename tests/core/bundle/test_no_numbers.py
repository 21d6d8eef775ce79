"""A graph that answers by what is no number is as far from the studio as can be."""

from dataclasses import replace
from math import inf, nan
from pathlib import Path

import numpy as np
import pytest

from core.bundle.graph_layout import keep_stored_answers, save_graph
from core.encoders.packed.encoder import TransformerEncoder
from core.runtime.comparing import FromStored, compare, tolerance_of
from core.runtime.engine import Engine, Outputs, open_engine
from core.types import Prediction
from tests.core.bundle.test_bundle import FACTS, pipeline
from tests.core.bundle.test_graph import SMOOTH

ODD = pytest.mark.parametrize("odd", [nan, inf, -inf], ids=str)


@pytest.fixture
def engine(tiny: TransformerEncoder, tmp_path: Path) -> Engine:
    """A graph in the test's folder, with stored answers to two texts."""
    made = pipeline(tiny, SMOOTH)
    save_graph(made, FACTS, tmp_path, "float32")
    keep_stored_answers(made, ["where is it", "zzz qqq"], tmp_path)
    found = open_engine(tmp_path, threads=1)
    assert tolerance_of({"precision": "float32"}).allows(compare(tmp_path, found))
    return found


def assert_refused(found: FromStored) -> None:
    for precision in ("float32", "int8"):
        assert not tolerance_of({"precision": precision}).allows(found)


def changed(one: Prediction, part: str, odd: float) -> Prediction:
    if part == "vote":
        [reason] = one.reasons
        votes = tuple(replace(near, vote=odd) for near in reason.neighbours)
        return replace(one, reasons=(replace(reason, neighbours=votes),))
    return replace(one, ranked=tuple(replace(intent, **{part: odd}) for intent in one.ranked))


@ODD
@pytest.mark.parametrize("part", ["score", "probability", "vote"])
def test_it_is_no_answer_without_a_difference(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: str, odd: float
) -> None:
    """The larger of 0 and NaN was 0: such a graph was verified as the studio's own."""
    whole = Engine.predict

    def broken(self: Engine, texts: list[str]) -> list[Prediction]:
        return [changed(one, part, odd) for one in whole(self, texts)]

    monkeypatch.setattr(Engine, "predict", broken)
    found = compare(tmp_path, engine)
    assert getattr(found, part) == found.largest == inf
    assert_refused(found)


@ODD
def test_it_is_no_score_that_its_votes_sum_to(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, odd: float
) -> None:
    whole = Engine.outputs

    def broken(self: Engine, texts: list[str]) -> Outputs:
        found = whole(self, texts)
        return {**found, "votes": np.full_like(found["votes"], odd)}

    monkeypatch.setattr(Engine, "outputs", broken)
    found = compare(tmp_path, engine)
    assert (found.sums, found.largest < 1e-3) == (inf, True)
    assert_refused(found)
