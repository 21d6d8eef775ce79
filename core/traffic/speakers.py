"""Who speaks in the rows of a log: what a bot or an agent said is no traffic."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from core.formats.dialogues import USERS

SPEAKER_NAMES = (
    *("speaker", "role", "sender", "author", "from"),
    *("speaker_type", "sender_type", "author_type", "participant"),
)
_OTHERS = frozenset(
    {
        *("bot", "chatbot", "assistant", "system", "ai", "model", "ivr", "tool", "function"),
        *("agent", "virtual agent", "virtual assistant", "live agent", "human agent"),
        *("operator", "advisor", "support", "staff", "employee", "supervisor", "admin"),
    }
)
_ROLES_OF_USERS = USERS - {"human"}
_ROLES_OF_OTHERS = _OTHERS - {"system", "model", "tool", "function", "support", "admin"}
"""Roles by which a column is known whatever its name: “user” and “admin” are kinds of accounts."""


@dataclass(frozen=True, slots=True)
class Speakers:
    """How a column tells users: by a word for them, or by none for all others who speak.

    Beside “customer” stand names of agents, and beside “bot” the numbers of phones. `named` is the
    only user where a person has chosen one.
    """

    names_users: bool
    named: str = ""

    def is_user(self, cell: str) -> bool:
        """Whether a user spoke."""
        told = _plain(cell)
        if self.named:
            return told == _plain(self.named)
        return told in USERS if self.names_users else told not in _OTHERS


def is_role(name: str) -> bool:
    """Whether a name says what somebody is in a talk, such as the customer or an agent."""
    return _plain(name) in USERS | _OTHERS


def may_name_speakers(column: str) -> bool:
    """Whether a column may tell who spoke: “handled by” tells who answered."""
    return not _plain(column).endswith(" by")


def are_roles(cells: Iterable[str]) -> bool:
    """Whether every cell is a role, a user's and another's among them."""
    told, roles = set[str](), _ROLES_OF_USERS | _ROLES_OF_OTHERS
    for cell in cells:
        if cell not in told and _plain(cell) not in roles:
            return False
        told.add(cell)
    found = set(map(_plain, told))
    return not found.isdisjoint(_ROLES_OF_USERS) and not found.isdisjoint(_ROLES_OF_OTHERS)


def speakers_in(cells: Iterable[str]) -> Speakers | None:
    """Tell by some cells of a column how it says who speaks; None if none says it."""
    told = {_plain(cell) for cell in cells}
    if told & USERS:
        return Speakers(names_users=True)
    return Speakers(names_users=False) if told & _OTHERS else None


def _plain(cell: str) -> str:
    return re.sub(r"[\s_-]+", " ", cell).strip().lower()
