"""For how long the effects of one revision stand while many people label."""

import time
from dataclasses import dataclass

from storage.records import ProjectRecord

_REST_SHARE = 12
"""After one second of computing effects, new labels cause no other for twelve."""

_LEAST_SECONDS = 2.0
"""A second person who asks meanwhile waits for the same effects; each began anew."""

_FEW_CHANGES = 5
"""A person who repairs finding after finding makes so few, and sees the effects of now."""


@dataclass(slots=True)
class RestingRevision:
    """The revision of a project and version of which effects were computed last.

    Twenty people made twenty revisions a second; effects of each, for whoever looked at Review,
    took a quarter of the server's time.

    Attributes:
        of: Project id and version id.
        began: When effects of the revision were first asked for, in monotonic seconds.
        spent: Seconds that computing them took since.
        rests: Whether the revision was told though there is a newer one.
    """

    of: tuple[int, int] = (0, 0)
    revision: int = 0
    began: float = 0.0
    spent: float = 0.0
    rests: bool = False

    def at(self, project: ProjectRecord, version: int) -> int:
        """Return the revision of which to tell effects: the newest, unless labels stream in."""
        new = project.head_revision - self.revision
        passed = time.monotonic() - self.began
        is_same = self.of == (project.id, version)
        streams_in = new > max(_FEW_CHANGES, passed)
        rests = passed < max(_LEAST_SECONDS, (1 + _REST_SHARE) * self.spent)
        self.rests = is_same and streams_in and rests
        if self.rests:
            return self.revision
        if not is_same or new:
            self.of, self.revision = (project.id, version), project.head_revision
            self.began, self.spent = time.monotonic(), 0.0
        return self.revision

    def seconds(self, at_most: float) -> float:
        """Return for how long a request may compute effects, at most `at_most` seconds.

        New labels bring new findings while a revision rests. Without a limit, their effects took
        as much time as if no revision rested.
        """
        if not self.rests:
            return at_most
        earned = (time.monotonic() - self.began) / (1 + _REST_SHARE)
        return min(at_most, at_most + earned - self.spent)
