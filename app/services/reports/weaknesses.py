"""Known weaknesses of a model version, each with what to do about it."""

from collections.abc import Mapping, Sequence
from typing import Any

from app.services.reports.report_views import IntentLine, ScopeLine
from core.text import counted

_FEW_EXAMPLES = 8
_FEW_TESTS = 3
_LOW = 0.7
_GAP = 0.1
_NAMED = 4


def weaknesses_of(
    metrics: Mapping[str, Any], intents: Sequence[IntentLine], scope: ScopeLine, broken: int
) -> tuple[str, ...]:
    """Return weaknesses in sentences, the gravest first; `broken` is the number of broken pins."""
    found = []
    if broken:
        found.append(f"It breaks {counted(broken, 'pin')}: answers that somebody promised.")
    missed = [one for one in intents if _low(one.recall) and one.support >= _FEW_TESTS]
    if missed:
        found.append(f"It often misses {_named(missed)}: add examples of how people say it.")
    greedy = [one for one in intents if _low(one.precision) and one.support >= _FEW_TESTS]
    if greedy:
        found.append(
            f"It often says {_named(greedy)} where something else was meant: look through the "
            "examples for labels that are too wide."
        )
    thin = [one for one in intents if one.examples < _FEW_EXAMPLES]
    if thin:
        found.append(f"Fewer than {_FEW_EXAMPLES} examples teach {_named(thin)}.")
    return (*found, *_of_judging(metrics, scope))


def _of_judging(metrics: Mapping[str, Any], scope: ScopeLine) -> list[str]:
    found = []
    gap = metrics.get("expected_calibration_error")
    if gap is not None and gap > _GAP:
        found.append(
            f"How sure it says it is misses how often it is right by {100 * gap:.0f} % on average."
        )
    if not str(metrics.get("judged_on", "")).startswith("test"):
        found.append(
            "It was not judged on a test split: its figures come from its own examples, and are "
            "likely to flatter it."
        )
    if scope.refused is None:
        found.append(
            "Nothing is known of how it treats texts that have no intent: label a few as out of "
            "scope to find out."
        )
    elif scope.refused < _LOW:
        found.append(
            f"It answers {1 - scope.refused:.0%} of the texts that have no intent, and should not."
        )
    return found


def _low(share: float | None) -> bool:
    return share is not None and share < _LOW


def _named(lines: Sequence[IntentLine]) -> str:
    names = [f"“{one.name}”" for one in lines[:_NAMED]]
    more = len(lines) - len(names)
    if more:
        names.append(f"{more} more")
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
