"""Changes that a program or a person proposed; a person decides about them on the Review page."""

import hashlib
import json
from collections.abc import Container, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from sqlalchemy.engine import Connection

from storage.people import preferences
from storage.records import now

_ANYBODY = ""
"""A proposal is the project's, whoever decides."""

_MOST_KEPT = 2_000
"""Proposals of a project that are stored; older ones that were decided are deleted."""


@dataclass(frozen=True, slots=True)
class ProposalRecord:
    """A change that somebody proposed.

    Attributes:
        by: Who proposed it.
        why: The reason, in the proposer's words.
        repair: The change as JSON, without empty fields.
        seen: What it would change, as it was then: rows of utterances and intents, by id.
        at: When, as `now` writes it.
        number: Its place in the order in which they came.
    """

    by: str
    why: str
    repair: Mapping[str, Any]
    seen: Mapping[str, Any]
    at: str = ""
    number: int = 0

    @property
    def id(self) -> str:
        """Digest of the change and of what it would change; the same proposal has the same one."""
        content = json.dumps([self.repair, self.seen], sort_keys=True).encode()
        return hashlib.sha256(content).hexdigest()[:16]


FINDING = "proposal:"
"""Begins the ids of findings about proposals."""


def finding_of(proposal: ProposalRecord) -> str:
    """Return the id of the finding that asks about a proposal; the log keeps by whom it was."""
    return f"{FINDING}{proposal.id}:{proposal.by}"


def proposal_of(finding: str) -> str:
    """Return the id of the proposal that a finding asks about."""
    return finding.split(":", 2)[1]


def keep(
    connection: Connection,
    project_id: int,
    proposals: Sequence[ProposalRecord],
    decided: Container[str],
) -> None:
    """Store proposals; one that is stored already stays as it is.

    Beyond some thousands, the oldest of the ids `decided` are deleted.
    """
    stored = all_of(connection, project_id)
    last = max((one.number for one in stored.values()), default=0)
    fresh = {
        one.id: asdict(replace(one, at=now(), number=last + place))
        for place, one in enumerate(proposals, 1)
        if one.id not in stored
    }
    preferences.keep(connection, project_id, _ANYBODY, "proposal", fresh)
    ended = [key for key in stored if key in decided]
    for key in ended[: max(0, len(stored) + len(fresh) - _MOST_KEPT)]:
        preferences.drop(connection, project_id, _ANYBODY, "proposal", key)


def all_of(connection: Connection, project_id: int) -> dict[str, ProposalRecord]:
    """Return the stored proposals by id, the oldest first."""
    values = preferences.kept(connection, project_id, _ANYBODY, "proposal")
    found = {key: ProposalRecord(**value) for key, value in values.items()}
    return dict(sorted(found.items(), key=lambda pair: pair[1].number))
