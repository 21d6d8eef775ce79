"""Whether a model version is ready, and whether to use it: one rule for report and all pages.

Ready: at least 85 of 100 checked texts are answered right, no pin is broken, at least half of the
texts that fit no intent are refused, and it is not worse than the version before beyond luck. The
first limit is a habit of the trade, not a law: the report says it.

A version is advised instead of the live one if it is better beyond luck and breaks no pin. If the
two differ by no more than luck, they are about as good, and the live one is kept: nothing speaks
for a change. By itself a version takes over if it is better or about as good (`comparison.gate`).
Both are compared as they would answer in use now, where so many labels do not forbid it. Where
nothing compares them, the one that was trained on newer labels is advised.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from app.services.answering.pinned import BrokenPin, broken_words
from app.services.versions.comparison_views import ModelComparison, Outcome
from core.metrics.coverage import ENOUGH, leaves_out_many, untested_words
from core.metrics.in_words import is_on_tests
from core.text import counted, percent
from core.types import Task
from storage.log.label_origins import LabelWays
from storage.records import ModelVersionRecord

Level = Literal["ready", "trial", "not-ready", "unknown"]
READY, TRIAL = 0.85, 0.7
"""Shares of right answers from which a version is ready, or fit for a trial."""
REFUSED = 0.5
"""Share of the texts that fit no intent that must be refused."""
TITLES: Mapping[Level, str] = {
    "ready": "Ready to use",
    "trial": "Ready for a trial, not for everybody",
    "not-ready": "Not ready yet",
    "unknown": "Not tested yet",
}
_UNTESTED = (
    "Nobody knows yet how often it is right on what users write: that takes test texts, labelled "
    "texts that it never learns from."
)
_NEXT_TESTED = (
    " It has learned from unlabelled texts, too. As test texts, these test only the next version."
)
_INSIDE_ONLY = "Ready, but out of scope is not tested"
"""Title of a ready version of which nobody knows whether it refuses texts that fit no intent."""


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a version; a figure is None where nothing tells it.

    Attributes:
        share: Right answers as a share of the texts that it was checked on.
        on_tests: Whether these are test texts, which it did not learn from.
        broken: Pins of today that it breaks.
        refused: Share of the texts that fit no intent that it refuses.
        outcome: How it compares with the version `other`.
        tested: Number of its intents that have a test text.
        intents: Number of all its intents.
    """

    share: float | None
    on_tests: bool
    broken: Sequence[BrokenPin]
    refused: float | None = None
    outcome: Outcome | None = None
    tested: int | None = None
    intents: int | None = None
    other: str = "the version before"


@dataclass(frozen=True, slots=True)
class ReadyVerdict:
    """The level and its words.

    `meaning` says what the share of right answers means, `reasons` what is in the way, `gap` what
    was not tested, and `rule` where the limits are. `look` is the level whose colour it has.
    """

    level: Level
    title: str
    meaning: str
    reasons: tuple[str, ...]
    gap: str
    rule: str
    look: Level


@dataclass(frozen=True, slots=True)
class Advice:
    """Whether the newer of two versions should answer; `words` is a sentence that ends in `act`.

    `either`: neither is better than the other beyond luck.
    """

    use: bool
    words: str
    act: str = ""
    either: bool = False


@dataclass(frozen=True, slots=True)
class Sides:
    """Numbers of two compared versions, and of the version that answers, if any.

    `learned_more`: the newer one was trained on newer labels than the older one.
    """

    newer: int
    older: int
    live: int | None
    learned_more: bool = False


@dataclass(frozen=True, slots=True)
class _Standing:
    """How the newer of two versions stands: a gain, a loss, or even within luck."""

    words: str
    is_gain: bool = False
    is_loss: bool = False
    is_even: bool = False


class FiguresNow(Protocol):
    """What a live version does now; a figure is None where nothing tells it."""

    @property
    def share(self) -> float:
        """Right answers as a share of the test texts."""
        ...

    @property
    def kept_out(self) -> float | None:
        """Share of the test texts that fit no intent that it refuses."""
        ...

    @property
    def tested_intents(self) -> int:
        """Number of intents that have a test text."""
        ...

    @property
    def intents(self) -> int:
        """Number of all intents of the version and of the test texts."""
        ...


def level_of(known: Known) -> Level:
    """Judge by the rule of this module."""
    if known.share is None or not known.on_tests:
        return "unknown"
    if known.share < TRIAL or known.broken or known.outcome == "worse":
        return "not-ready"
    return "trial" if reasons_of(known) else "ready"


def reasons_of(known: Known) -> tuple[str, ...]:
    """Say what keeps a version from being ready; nothing if it is."""
    share, refused = known.share, known.refused
    kept = None if refused is None else 1 - refused
    reasons = {
        "There are no texts to check it on.": share is None,
        "There are no test texts: it was checked on labels that were held out of its training, "
        "which are often easier than what users write.": (share is not None and not known.on_tests),
        f"It answers {percent(share or 0.0, 1)} of the texts right; “ready” begins at "
        f"{percent(READY)}.": share is not None and share < READY,
        f"It breaks {counted(len(known.broken), 'pin')}: {broken_words(known.broken)}.": (
            len(known.broken) > 0
        ),
        f"It is worse than {known.other}, and that is not luck.": known.outcome == "worse",
        f"Of 100 texts that fit no intent it answers {of_hundred(kept)}, and should refuse them.": (
            refused is not None and refused < REFUSED
        ),
    }
    return tuple(words for words, holds in reasons.items() if holds)


def gap_of(known: Known, task: Task) -> str:
    """Say what the verdict leaves out: intents without a test text, and texts that fit none."""
    if level_of(known) == "unknown":
        return ""
    outside = "Not tested for texts that fit no intent: no test text is labelled out of scope."
    parts = (
        untested_words(known.tested, known.intents),
        outside if _lacks_outside(known, task) else "",
    )
    return " ".join(filter(None, parts))


def _lacks_outside(known: Known, task: Task) -> bool:
    return task == "single-label" and known.refused is None


def title_of(known: Known, task: Task) -> str:
    """Name the level; of a version that is ready in part, also the part that was not tested."""
    level = level_of(known)
    if level == "ready" and leaves_out_many(known.tested, known.intents):
        return f"Ready for {known.tested:,} of {known.intents:,} intents; the rest is not tested"
    return _INSIDE_ONLY if level == "ready" and _lacks_outside(known, task) else TITLES[level]


def look_of(known: Known, task: Task) -> Level:
    """Return the level whose colour a verdict has: green says that all of it is known to be good.

    A tick above “not tested” would hide it.
    """
    level = level_of(known)
    is_partial = leaves_out_many(known.tested, known.intents) or _lacks_outside(known, task)
    return "trial" if level == "ready" and is_partial else level


def rule_words() -> str:
    """Say where the limits are."""
    return (
        f"“Ready” means: at least {percent(READY)} of the test texts answered right, no "
        f"promised answer (pin) broken, at least {percent(REFUSED)} of the test texts that fit no "
        "intent refused (where there are any), and not worse than the version before beyond luck. "
        f"Where more than {percent(ENOUGH)} of the intents have no test text, it is ready for the "
        f"tested ones alone. “Ready for a trial” begins at {percent(TRIAL)}."
    )


def advice_on(comparison: ModelComparison, sides: Sides) -> Advice | None:
    """Say whether to use the newer version or to leave the older one in use.

    None where the version that answers is neither of the two.
    """
    new, old = f"version {sides.newer}", f"version {sides.older}"
    standing = _standing(comparison, sides)
    if sides.live == sides.newer:
        act = f"go back to {old}" if standing.is_loss else f"keep {new} live"
        return Advice(not standing.is_loss, f"{standing.words}: {act}.", act)
    if sides.live != sides.older:
        return None
    act = f"use {new}" if standing.is_gain else f"keep {old} live"
    if standing.is_even:
        act = f"keep {old}, as nothing speaks for a change"
    return Advice(standing.is_gain, f"{standing.words}: {act}.", act, standing.is_even)


def _standing(comparison: ModelComparison, sides: Sides) -> _Standing:
    old = f"version {sides.older}"
    broken, outcome = len(comparison.pins_of("broken")), comparison.outcome
    if broken:
        more = " more" if comparison.pins_of("missed") else ""
        return _Standing(f"It breaks {counted(broken, 'pin')}{more}", is_loss=True)
    if outcome == "unknown":
        words = f"There are no test texts to compare it with {old} on"
        if sides.learned_more:
            return _Standing(f"{words}, and it has learned newer labels", is_gain=True)
        return _Standing(words, is_even=True)
    words = {
        "better": f"Better than {old}",
        "alike": f"About as good as {old}",
        "worse": f"Worse than {old}",
    }[outcome]
    return _Standing(words, outcome == "better", outcome == "worse", outcome == "alike")


def verdict_on(
    version: ModelVersionRecord | None,
    task: Task,
    now: FiguresNow | None,
    broken: Sequence[BrokenPin] = (),
    ways: LabelWays | None = None,
) -> ReadyVerdict | None:
    """Judge the version in use by what is stored and by what it does now, if known.

    `broken` are the pins of today that it breaks, whichever were set when it was trained; `ways`
    tells how its labels were given.
    Nothing is computed for it. How it compares with the version before is left to the report.
    """
    if version is None:
        return None
    metrics = version.metrics
    on_tests = now is not None or is_on_tests(metrics)
    share = version.right_share if now is None else now.share
    then = metrics.get("kept_out", metrics.get("none_recall") if on_tests else None)
    refused = then if now is None else now.kept_out
    tested = metrics.get("tested_intents") if now is None else now.tested_intents
    intents = metrics.get("intents") if now is None else now.intents
    known = Known(share, on_tests, broken, refused, tested=tested, intents=intents)
    return ReadyVerdict(
        level_of(known),
        title_of(known, task),
        _meaning(known, task, ways or LabelWays()) + _pool_words(known, metrics),
        reasons_of(known),
        gap_of(known, task),
        rule_words(),
        look_of(known, task),
    )


def _meaning(known: Known, task: Task, ways: LabelWays) -> str:
    if known.share is None or not known.on_tests:
        return _UNTESTED + _together_words(ways)
    wrong = of_hundred(1 - known.share)
    n, is_one = (f"About {wrong}" if wrong else "Fewer than 1"), wrong <= 1
    if task == "multi-label":
        do = "does" if is_one else "do"
        return f"{n} of 100 texts {do} not get exactly {'its' if is_one else 'their'} intents."
    return f"{n} of 100 texts {'gets' if is_one else 'get'} a wrong answer, or no answer."


def _pool_words(known: Known, metrics: Mapping[str, Any]) -> str:
    """Say of an untested version that texts which it learned without a label do not test it."""
    pool = metrics.get("pool")
    has_learned = isinstance(pool, Mapping) and bool(pool.get("n"))
    return _NEXT_TESTED if has_learned and level_of(known) == "unknown" else ""


def _together_words(ways: LabelWays) -> str:
    """Say how many labels tell least: texts that the studio found alike, or was sure of itself."""
    n = ways.by_file + ways.one_by_one + ways.together
    if not ways.together:
        return ""
    was = "was" if ways.together == 1 else "were"
    return (
        f" {ways.together:,} of its {n:,} labels {was} given to many texts at once, such as a "
        "whole group of similar ones: that it agrees with these says little."
    )


def of_hundred(share: float | None) -> int:
    """Write a share as a whole number of 100; 0 where there is none."""
    return round(100 * (share or 0.0))
