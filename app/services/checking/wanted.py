"""What a model must reach: floors such as `accuracy=0.9`, and limits such as `megabytes=120`."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from core.errors import InvalidInput
from core.text import did_you_mean, some_of
from core.types import Task

FIGURES: Mapping[Task, Mapping[str, str]] = {
    "single-label": {
        "accuracy": "accuracy",
        "answered_right": "answered_right",
        "macro_f1": "macro_f1",
        "kept": "in_scope",
        "out_of_scope": "kept_out",
    },
    "multi-label": {
        "accuracy": "accuracy",
        "micro_f1": "micro_f1",
        "macro_f1": "macro_f1",
        "no_intent": "none_recall",
    },
}
"""Names of the figures with a floor, and the keys under which evaluation stores them."""
OF_INTENT = ("recall", "precision", "f1")
"""Figures with a floor by intent, as `recall:cancel_order`."""
LIMITS = ("latency_ms", "megabytes")
_MOST_NAMED = 30


@dataclass(frozen=True, slots=True)
class Floor:
    """The least share, in [0, 1], of a figure; `intent` is "" for a figure of all texts."""

    figure: str
    least: float
    intent: str = ""

    @property
    def name(self) -> str:
        """The name as it is written in a command."""
        return f"{self.figure}:{self.intent}" if self.intent else self.figure


@dataclass(frozen=True, slots=True)
class Ceiling:
    """The most milliseconds or megabytes (1,000,000 bytes) that a model may take."""

    figure: str
    most: float


@dataclass(frozen=True, slots=True)
class Wanted:
    """All floors and limits of one check."""

    floors: tuple[Floor, ...] = ()
    ceilings: tuple[Ceiling, ...] = ()


def read_wanted(least: Sequence[str], most: Sequence[str]) -> Wanted:
    """Read `FIGURE=NUMBER` pairs; an intent's name may hold any sign.

    Raises:
        InvalidInput: One has no number, or a number that no figure can have.
    """
    return Wanted(tuple(map(_read_floor, least)), tuple(map(_read_ceiling, most)))


def require_known(wanted: Wanted, task: Task, intents: Collection[str]) -> None:
    """Refuse a figure that is none of this task's, and an intent that nobody knows.

    Raises:
        InvalidInput: The message names those that are known.
    """
    known = [*FIGURES[task], *(f"{figure}:INTENT" for figure in OF_INTENT)]
    for floor in wanted.floors:
        if floor.figure not in (OF_INTENT if floor.intent else FIGURES[task]):
            raise _unknown(floor.name, "figure with a floor", known)
        if floor.intent and floor.intent not in intents:
            raise _unknown(floor.intent, "intent of this model or its test texts", sorted(intents))
    for ceiling in wanted.ceilings:
        if ceiling.figure not in LIMITS:
            raise _unknown(ceiling.figure, "figure with a limit", LIMITS)


def _read_floor(given: str) -> Floor:
    name, least = _pair(given, "accuracy=0.9 or recall:cancel_order=0.8")
    if not 0 <= least <= 1:
        raise InvalidInput(f"'{given}' is no share.", "Write one from 0 to 1: accuracy=0.9, say.")
    figure, _, intent = name.partition(":")
    return Floor(figure, least, intent)


def _read_ceiling(given: str) -> Ceiling:
    name, most = _pair(given, "latency_ms=20 or megabytes=120")
    if not 0 < most < float("inf"):
        raise InvalidInput(f"'{given}' is no limit.", "Write a number above 0: latency_ms=20, say.")
    return Ceiling(name, most)


def _pair(given: str, example: str) -> tuple[str, float]:
    name, _, number = given.rpartition("=")
    try:
        value = float(number)
    except ValueError:
        name = ""
    if not name:
        raise InvalidInput(f"'{given}' has no number to compare with.", f"Write {example}, say.")
    return name, value


def _unknown(name: str, what: str, known: Sequence[str]) -> InvalidInput:
    meant = did_you_mean(name, known)
    listed = f"Known are {some_of(known, _MOST_NAMED)}."
    return InvalidInput(f"'{name}' is no {what}.", f"{meant} {listed}".strip())
