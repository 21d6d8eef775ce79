"""Floors and limits as they are written in a command."""

import pytest

from app.services.checking.wanted import Ceiling, Floor, Wanted, read_wanted, require_known
from core.errors import InvalidInput


def test_floors_and_limits_are_read_whatever_signs_an_intent_has() -> None:
    found = read_wanted(["accuracy=0.9", "recall:a:b=c=0.25"], ["latency_ms=20", "megabytes=1e2"])
    assert found == Wanted(
        (Floor("accuracy", 0.9), Floor("recall", 0.25, "a:b=c")),
        (Ceiling("latency_ms", 20.0), Ceiling("megabytes", 100.0)),
    )
    assert [floor.name for floor in found.floors] == ["accuracy", "recall:a:b=c"]


@pytest.mark.parametrize(
    ("least", "most", "message"),
    [
        ("accuracy", None, "'accuracy' has no number"),
        ("accuracy=high", None, "no number"),
        ("=0.9", None, "no number"),
        ("accuracy=90", None, "'accuracy=90' is no share"),
        ("accuracy=nan", None, "is no share"),
        (None, "megabytes=0", "is no limit"),
        (None, "latency_ms=inf", "is no limit"),
    ],
)
def test_what_is_no_number_is_refused(least: str | None, most: str | None, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        read_wanted([least] if least else [], [most] if most else [])


@pytest.mark.parametrize(
    ("least", "most", "message", "hint"),
    [
        ("acuracy=0.9", None, "'acuracy' is no figure", "Did you mean 'accuracy'? Known are "),
        ("recall=0.9", None, "'recall' is no figure", "recall:INTENT"),
        ("accuracy:refund=0.9", None, "'accuracy:refund' is no figure", "f1:INTENT"),
        ("recall:refnd=0.9", None, "'refnd' is no intent", "Did you mean 'refund'? Known are par"),
        ("micro_f1=0.9", None, "'micro_f1' is no figure", "macro_f1"),
        (None, "weight=5", "'weight' is no figure", "latency_ms, megabytes"),
    ],
)
def test_an_unknown_figure_or_intent_is_refused_and_the_known_ones_named(
    least: str | None, most: str | None, message: str, hint: str
) -> None:
    wanted = read_wanted([least] if least else [], [most] if most else [])
    with pytest.raises(InvalidInput, match=message) as refused:
        require_known(wanted, "single-label", {"refund", "parcel"})
    assert hint in refused.value.hint


def test_texts_with_several_intents_have_figures_of_their_own() -> None:
    require_known(read_wanted(["micro_f1=0.9", "no_intent=0.5"], []), "multi-label", {"refund"})
    with pytest.raises(InvalidInput, match="'kept' is no figure"):
        require_known(read_wanted(["kept=0.9"], []), "multi-label", {"refund"})
