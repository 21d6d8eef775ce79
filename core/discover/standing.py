"""Where a group stands: it is to be looked at, was taken, or was put aside by a person."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

State = Literal["open", "mostly", "aside", "done"]
STATES: Sequence[State] = get_args(State)
"""In this order groups are listed."""

_REOPENS = 3
"""So many more texts wait in a group that was set aside, and it is shown again."""


@dataclass(frozen=True, slots=True)
class Standing:
    """Numbers of a group's texts, and what a person did with it.

    Attributes:
        waiting: Texts that wait for a label.
        labelled: Texts that have one.
        set_aside: How many texts waited when a person was done with it; 0: nobody is.
        texts_then: How many texts it had then, with a label or without; None is not known.
        put_aside: Whether a person put it aside, and has not taken it; None was not told.
        is_reopened: A person wants to see the few texts that are left.
    """

    waiting: int
    labelled: int
    set_aside: int = 0
    texts_then: int | None = None
    put_aside: bool | None = None
    is_reopened: bool = False

    @property
    def joined(self) -> int:
        """Texts that joined since it was set aside; one whose label was taken back is none."""
        if not self.set_aside:
            return 0
        grown = self.waiting - self.set_aside
        if self.texts_then is not None:
            grown = min(grown, self.waiting + self.labelled - self.texts_then)
        return max(0, grown)

    @property
    def is_for_later(self) -> bool:
        """Whether a person put it aside, and hardly any texts wait since."""
        told = self.labelled == 0 if self.put_aside is None else self.put_aside
        return self._is_aside and told

    @property
    def state(self) -> State:
        """What the list of groups says of it."""
        if self.waiting and self.is_for_later:
            return "aside"
        if not self.waiting:
            return "done"
        if self.labelled >= self.waiting:
            return "done" if self._has_few else "mostly"
        return "done" if self._is_aside and self.labelled else "open"

    @property
    def is_looked_at(self) -> bool:
        """Whether its texts wait for somebody who looks at them."""
        return self.state in ("open", "mostly")

    @property
    def _is_aside(self) -> bool:
        return self.set_aside > 0 and self.waiting - self.set_aside < _REOPENS

    @property
    def _has_few(self) -> bool:
        return self.waiting - self.set_aside < _REOPENS and not self.is_reopened
