"""What to do next about a model version, the most useful first."""

from collections.abc import Mapping, Sequence
from typing import Any

from app.services.answering.pinned import BrokenPin, broken_words
from app.services.reports.report_views import REFUSED, ConfusionLine, IntentLine, ScopeLine
from core.text import counted, percent

_FEW_EXAMPLES = 8
_FEW_TESTS = 3
_LOW = 0.7
_GAP = 0.1
_NAMED = 4
_OFTEN = 3
"""Times that two intents are mixed up before this is worth a step of its own."""
_FEW_OUTSIDE = 20


def next_steps(
    metrics: Mapping[str, Any],
    intents: Sequence[IntentLine],
    scope: ScopeLine,
    confusions: Sequence[ConfusionLine],
    broken: Sequence[BrokenPin],
    *,
    on_tests: bool,
) -> tuple[str, ...]:
    """Return what to do, each with its reason; `broken` are the pins that it breaks.

    `on_tests` tells whether the answers that are counted are those to test texts.
    """
    found = []
    if broken:
        found.append(
            f"Look at {counted(len(broken), 'broken pin')}: {broken_words(broken)}. Label more "
            "such texts, or remove a pin that nobody needs."
        )
    if not on_tests:
        found.append(
            "Label some test texts: its figures come from its own examples, and are "
            "likely to flatter it."
        )
    # Of sets of intents no two can be told apart: a wrong set shares intents with the right one.
    is_multi = metrics.get("task") == "multi-label"
    of_scope = _of_scope(scope, "“no intent”" if is_multi else "out of scope")
    of_intents = _of_intents(intents, () if is_multi else confusions)
    return (*found, *of_scope, *of_intents, *_of_confidence(metrics))


def _of_scope(scope: ScopeLine, nothing: str) -> list[str]:
    if scope.refused is None:
        return [
            f"Label {_FEW_OUTSIDE} texts that fit no intent as {nothing}: whether it refuses "
            "them is not tested."
        ]
    if scope.known:
        return [
            f"Add {_FEW_OUTSIDE} test texts that fit no intent, labelled {nothing}: whether it "
            "refuses them is not tested."
        ]
    if scope.refused < _LOW and scope.outside < _FEW_OUTSIDE:
        return [
            f"Label texts that fit no intent as {nothing}, {_FEW_OUTSIDE} in all: "
            f"the {scope.outside:,} that there are cannot tell how well it refuses them."
        ]
    if scope.refused < _LOW:
        do = "Label" if scope.limit is None else "Raise the limit for out of scope, or label"
        return [
            f"{do} more such texts: {percent(1 - scope.refused)} of the texts that "
            "fit no intent get an answer."
        ]
    return []


def _of_intents(intents: Sequence[IntentLine], confusions: Sequence[ConfusionLine]) -> list[str]:
    found = []
    missed = [one for one in intents if _low(one.recall) and one.support >= _FEW_TESTS]
    if missed:
        few = "" if any(one.is_sure for one in missed) else "few "
        whose = "its" if len(missed) == 1 else "their"
        found.append(
            f"Label more examples of {named(missed)}: fewer than {10 * _LOW:.0f} of 10 of "
            f"{whose} {few}test texts are found."
        )
    greedy = [one for one in intents if _low(one.precision) and one.support >= _FEW_TESTS]
    if greedy:
        who = "it" if len(greedy) == 1 else "each"
        found.append(
            f"Check the examples of {named(greedy)}: {who} is often answered where something else "
            "was meant."
        )
    worst = next((one for one in confusions if one.said != REFUSED), None)
    if worst is not None and worst.count >= _OFTEN:
        found.append(
            f"Make “{worst.actual}” and “{worst.said}” easier to tell apart: {worst.measure} of "
            "one of the two were answered as the other."
        )
    thin = [one for one in intents if one.examples < _FEW_EXAMPLES]
    if thin:
        found.append(
            f"Label up to {_FEW_EXAMPLES} examples of {named(thin)}: each has fewer than that."
        )
    return found


def _of_confidence(metrics: Mapping[str, Any]) -> list[str]:
    gap = metrics.get("expected_calibration_error")
    if gap is None or gap <= _GAP:
        return []
    return [
        f"Do not show users how sure it is: that differs from how often it is right by "
        f"{100 * gap:.0f} points on average."
    ]


def _low(share: float | None) -> bool:
    return share is not None and share < _LOW


def named(lines: Sequence[IntentLine]) -> str:
    """Name a few intents, and say how many more there are."""
    names = [f"“{one.name}”" for one in lines[:_NAMED]]
    more = len(lines) - len(names)
    if more:
        names.append(f"{more} more")
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
