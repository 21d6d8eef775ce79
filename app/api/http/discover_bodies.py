"""Request bodies of the Discover page, validated by pydantic."""

from typing import Annotated

from pydantic import Field

from app.api.http.bodies import Body, Key
from app.services.discover.acts import GroupChange, Share, Taking
from app.services.discover.stored import MOST_LISTED
from core.discover.grouping import MOST_GROUPS


class GroupingBody(Body):
    """How to group: into so many groups, by default the root of the number of texts.

    Groups that are there stay; with `anew` only those that were taken do. With `out_of_scope` the
    texts that are so are grouped, too, to be looked at again.
    """

    n_groups: int | None = Field(default=None, ge=1, le=MOST_GROUPS)
    anew: bool = False
    out_of_scope: bool = False


class TakingBody(Body):
    """Which texts of a group get which label, as the page showed it.

    Either `intent`, an id, or `create`, the name of an intent that may be new; without both, the
    texts are out of scope.
    """

    intent: str = Field(default="", max_length=200)
    create: str = Field(default="", max_length=200)
    share: Share = "core"
    without: frozenset[Annotated[str, Field(max_length=200)]] = Field(
        default=frozenset(), max_length=MOST_LISTED
    )
    expected: int = Field(ge=1)
    revision: int = Field(ge=0)
    key: Key

    def read(self) -> Taking:
        """Convert to the service's value."""
        return Taking(**self.model_dump())


class GroupChangeBody(Body):
    """What to change of a group; `merged_into` 0 makes it a group of its own again.

    `for_later`, told with `set_aside`: it was put aside, and not taken; by default, if texts are
    set aside.
    """

    name: str | None = Field(default=None, max_length=1_000)
    merged_into: int | None = Field(default=None, ge=0)
    set_aside: int | None = Field(default=None, ge=0)
    for_later: bool | None = None

    def read(self) -> GroupChange:
        """Convert to the service's value."""
        return GroupChange(**self.model_dump())
