"""A version that only refuses more, or less, than another is told to do so."""

import pytest

from app.services.studio import Studio
from app.services.versions.comparison import compare_contenders
from tests.builders.stub_pipeline import StubPipeline, contender, start

TEXTS = tuple(f"text {n}" for n in range(60))
RIGHT = dict.fromkeys(TEXTS, "refund")
USUAL = StubPipeline(RIGHT)
STRICT = StubPipeline(RIGHT, refused=frozenset(TEXTS[:12]))
WRONG = StubPipeline({**RIGHT, **dict.fromkeys(TEXTS[:12], "parcel")})


def verdict(studio: Studio, newer: StubPipeline, older: StubPipeline) -> str:
    pair = contender("p@2", newer), contender("p@1", older)
    return compare_contenders(studio, "p", *pair).verdict


@pytest.mark.parametrize(
    ("newer", "older", "says"),
    [
        (
            STRICT,
            USUAL,
            "The loss is real, not luck. 12 of 12 texts that it newly gets wrong are only refused: "
            "its limit for out of scope is stricter.",
        ),
        (
            USUAL,
            STRICT,
            "12 of 12 texts that it newly gets right were only refused before: "
            "its limit for out of scope is less strict.",
        ),
    ],
)
def test_a_version_is_said_to_differ_by_its_limit_alone(
    studio: Studio, newer: StubPipeline, older: StubPipeline, says: str
) -> None:
    """“Worse … The loss is real” became “Better” when the limit was moved by half a point."""
    start(studio, RIGHT)
    assert says in verdict(studio, newer, older)


@pytest.mark.parametrize(("newer", "older"), [(WRONG, USUAL), (USUAL, WRONG), (USUAL, USUAL)])
def test_other_differences_are_not_put_down_to_the_limit(
    studio: Studio, newer: StubPipeline, older: StubPipeline
) -> None:
    start(studio, RIGHT)
    assert "limit" not in verdict(studio, newer, older)
