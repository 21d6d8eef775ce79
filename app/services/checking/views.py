"""The result of checking a model for a pipeline: each check, and whether all are passed."""

from dataclasses import dataclass
from typing import Literal

from core.text import counted

Kind = Literal["pin", "floor", "champion", "limit"]
CheckState = Literal["passed", "failed", "skipped"]


@dataclass(frozen=True, slots=True)
class DecidingExample:
    """A labelled example whose votes decide a broken pin.

    Attributes:
        vote: Its part of the difference of two scores: of the answer, and of what is expected. Of a
            graph, its vote for the answer.
        by: Who gave the label; "" where it is not known, as in a bundle.
        how: The act that gave it, such as `import FILE`; "" where it is not known.
    """

    id: str
    text: str
    label: str
    vote: float
    by: str = ""
    how: str = ""

    @property
    def words(self) -> str:
        """Say how the example is labelled and by whom."""
        who = f" by {self.by}" if self.by else ""
        how = f" ({self.how})" if self.how else ""
        return f"“{self.text}” is labelled {self.label}{who}{how}"


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One check.

    Attributes:
        name: What must hold, in words.
        found: What was found instead, or as well.
        why: What explains the result; "" where nothing does.
        value: The figure that was compared with `limit`; None where there is none.
        examples: The examples whose labels broke a pin, the heaviest first.
    """

    kind: Kind
    name: str
    state: CheckState
    found: str
    why: str = ""
    value: float | None = None
    limit: float | None = None
    examples: tuple[DecidingExample, ...] = ()


@dataclass(frozen=True, slots=True)
class CheckReport:
    """All checks of a model.

    Attributes:
        against: The champion that it was compared with; None without one.
        judged_on: The texts or stored figures that floors are judged by.
        seconds: How long checking took.
        notes: What a reader has to know of the texts.
    """

    model: str
    against: str | None
    judged_on: str
    checks: tuple[CheckResult, ...]
    notes: tuple[str, ...] = ()
    seconds: float = 0.0

    @property
    def passes(self) -> bool:
        """Whether no check has failed."""
        return not self.of("failed")

    def of(self, state: CheckState) -> tuple[CheckResult, ...]:
        """Return the checks in one state."""
        return tuple(one for one in self.checks if one.state == state)

    @property
    def verdict(self) -> str:
        """Say the result in one sentence."""
        failed, skipped = len(self.of("failed")), len(self.of("skipped"))
        judged = len(self.checks) - skipped
        of = counted(judged, "check")
        left = f"; {skipped:,} could not be judged" if skipped else ""
        if not failed:
            return f"{self.model} passes: {judged:,} of {of}{left}."
        return f"{self.model} does not pass: {failed:,} of {of} failed{left}."
