"""Request bodies of the Label page, of intents, proposals and the fence, validated by pydantic."""

from typing import Annotated

from pydantic import Field

from app.api.http.bodies import Body, FenceBody, IntentChangeBody, Key, RepairBody
from app.services.labelling.sure import CheckedAnswers
from app.services.review.proposals.proposing import (
    LONGEST_NAME,
    LONGEST_WHY,
    MOST_WAITING,
    ProposedChange,
)

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
    version: int = Field(default=0, ge=0)

    def read(self) -> CheckedAnswers:
        """Convert to the service's value."""
        return CheckedAnswers(**self.model_dump())


class AcceptSureBody(SpotCheckBody):
    """A spot check whose other answers are accepted, or only those that were judged right."""

    key: Key
    judged_alone: bool = False


class ProposalBody(Body):
    """A change of one text or intent, and why it is proposed."""

    repair: RepairBody
    why: str = Field(min_length=1, max_length=LONGEST_WHY)


class ProposalsBody(Body):
    """Changes that wait for a person; `by` is the name of who proposes them."""

    by: str = Field(min_length=1, max_length=LONGEST_NAME)
    proposals: tuple[ProposalBody, ...] = Field(min_length=1, max_length=MOST_WAITING)

    def read(self) -> list[ProposedChange]:
        """Convert to the service's changes."""
        return [ProposedChange(one.repair.read(), one.why) for one in self.proposals]


class SeenIntentBody(Body):
    """Words of an intent as a person saw them."""

    name: str | None = Field(default=None, max_length=1_000)
    description: str | None = Field(default=None, max_length=5_000)


class SeenIntentChangeBody(IntentChangeBody):
    """Attributes of an intent to change; with `seen`, only words that still are as they were."""

    seen: SeenIntentBody | None = None

    def read_seen(self) -> dict[str, str]:
        """Return the words that the caller saw."""
        return {} if self.seen is None else self.seen.model_dump(exclude_none=True)


class FenceChangeBody(FenceBody):
    """Limits to save; with `seen`, only while these limits are in force."""

    seen: FenceBody | None = None


class TakeBackBody(Body):
    """The key of the action to undo, or the number of the one that is taken for the newest."""

    key: Key | None = None
    newest: int | None = None


class RedoBody(Body):
    """The number of the undo that is taken for the newest."""

    newest: int | None = None
