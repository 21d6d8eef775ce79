"""Request bodies of the Label page, validated by pydantic."""

from typing import Annotated

from pydantic import Field

from app.api.http.bodies import Body, Key
from app.services.labelling.sure import CheckedAnswers

_Ids = Annotated[frozenset[str], Field(max_length=100)]


class GoalBody(Body):
    """How many texts a person wants to label in a day; none drops the goal."""

    goal: int | None = Field(ge=1, le=10_000)


class SpotCheckBody(Body):
    """The answers as they were listed, an intent id by text, and the judgements of the check."""

    answers: dict[str, str] = Field(min_length=1, max_length=20_000)
    right: _Ids
    wrong: _Ids
    seed: int = Field(ge=0, le=2**62)
    revision: int = Field(ge=0)
    expected: float = Field(ge=0, le=1)

    def read(self) -> CheckedAnswers:
        """Convert to the service's value."""
        return CheckedAnswers(**self.model_dump())


class AcceptSureBody(SpotCheckBody):
    """A spot check whose other answers are accepted."""

    key: Key
