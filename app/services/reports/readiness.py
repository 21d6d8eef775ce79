"""Whether a version is ready to be used, in five sentences and three figures for a manager."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.services.answering.pinned import BrokenPin
from app.services.reports.judged_again import JudgedVersion
from app.services.reports.next_steps import named
from app.services.reports.report_views import IntentLine, KeyFigure, Readiness, ScopeLine
from app.services.versions.comparison_views import Outcome
from app.services.versions.verdict import (
    Advice,
    Known,
    Level,
    gap_of,
    level_of,
    look_of,
    of_hundred,
    reasons_of,
    rule_words,
    title_of,
)
from core.text import FEW, counted, label_words, percent
from core.types import Task

_MARKS: Mapping[Level, str] = {"ready": "✓", "trial": "◐", "not-ready": "✗", "unknown": "?"}
WELL = 0.8
"""Share of an intent's texts that must be found, and of its answers that must be right, to work."""
_WELL_NAME = "Intents that work well"
_OUTSIDE_NAME = "Out-of-scope texts refused"
_WELL_WORDS = "are found, and right, in at least 8 of 10 cases"


@dataclass(frozen=True, slots=True)
class Checked:
    """How a version did on the texts it was checked on.

    `right` counts answers as given: a text that is refused as out of scope is not answered right.
    `on_tests` tells whether these are test texts, which it did not learn from.
    """

    right: int
    n: int
    on_tests: bool

    @property
    def share(self) -> float:
        """Share of right answers; 0 without texts."""
        return self.right / self.n if self.n else 0.0


@dataclass(frozen=True, slots=True)
class Facts:
    """What readiness is judged by; `outcome` is against the version `other`.

    `broken` are the pins of today that it breaks. `is_now` tells whether labels given since its
    training count. `advice` says whether to use it or the version that it is compared with.
    `chose_line` tells whether a person has chosen the limit for out of scope by the texts that it
    is checked on.
    """

    task: Task
    examples: int
    intents: Sequence[IntentLine]
    scope: ScopeLine
    checked: Checked
    broken: Sequence[BrokenPin]
    is_now: bool = True
    outcome: Outcome | None = None
    advice: Advice | None = None
    other: str = "the version before"
    chose_line: bool = False


def checked_on(judged: JudgedVersion, task: Task) -> Checked:
    """Count right answers as they are given."""
    refused_is_wrong = task == "single-label"
    right = sum(one.right and not (refused_is_wrong and one.refused) for one in judged.answers)
    return Checked(right, len(judged.answers), judged.on_tests)


def readiness_of(facts: Facts) -> Readiness:
    """Judge by the rule of `app/services/versions/verdict.py`."""
    checked, scope = facts.checked, facts.scope
    share = checked.share if checked.n else None
    refused = None if scope.known else scope.refused  # its line was set by those that it knows
    known = Known(
        share,
        checked.on_tests,
        facts.broken,
        refused,
        facts.outcome,
        sum(one.support > 0 for one in facts.intents),
        len(facts.intents),
        facts.other,
    )
    level, title = level_of(known), title_of(known, facts.task)
    look = look_of(known, facts.task)
    return Readiness(
        level=level,
        headline=title if facts.advice is None else f"{title}. {facts.advice.words}",
        title=title,
        reasons=reasons_of(known),
        rule=rule_words(),
        sentences=sentences_of(facts),
        figures=figures_of(facts),
        gap=gap_of(known, facts.task),
        mark=_MARKS[look],
        look=look,
    )


def sentences_of(facts: Facts) -> tuple[str, ...]:
    """Return five sentences: what it is, how good, what it refuses, strongest, weakest."""
    taught = sum(one.examples > 0 for one in facts.intents)
    empty = len(facts.intents) - taught
    by_name = f" {empty:,} more without an example: known by name." if empty else ""
    return (
        f"It sorts what people write into {counted(taught, 'intent')}; an intent is "
        f"what somebody wants. It {_known_by(facts)}."
        f"{by_name}",
        _quality_words(facts),
        _refusal_words(facts),
        _intent_words(facts),
        _outcome_words(facts),
    )


def _known_by(facts: Facts) -> str:
    """Tell the examples that vote today from those of its training, of which Versions speaks."""
    n = counted(facts.examples, "example")
    is_now = facts.is_now
    return f"knows them by {n}, labels up to today included" if is_now else f"learned them from {n}"


def _quality_words(facts: Facts) -> str:
    checked = facts.checked
    if not checked.n:
        return "How often it is right is not known: there are no texts to check it on."
    right = "with exactly the right intents" if facts.task == "multi-label" else "right"
    basis = (
        f"test texts that it never learned from ({checked.right:,} of {checked.n:,} right)"
        if checked.on_tests
        else f"its own examples, each without its own label ({checked.right:,} of {checked.n:,})"
    )
    line = " Its limit for out of scope was chosen by the same texts." if facts.chose_line else ""
    share = of_hundred(checked.share)
    return f"Of 100 texts it answers about {share} {right}, checked on {basis}.{line}"


def _refusal_words(facts: Facts) -> str:
    refused, n = facts.scope.refused, facts.scope.outside
    nothing = "texts that fit no intent"
    if facts.task == "single-label":
        nothing += " (out of scope)"
    if refused is None:
        return f"How it treats {nothing} is not tested: none of them are labelled yet."
    right = round(refused * n)
    if facts.scope.known:
        return (
            f"How it treats {nothing} is not tested: none of them are test texts. Of the {n:,} "
            f"others it refuses {right:,}, but it may have learned from them what to refuse."
        )
    if n < FEW:
        return (
            f"It refuses {right} of the {n} {nothing} that it was checked on, too few to tell more."
        )
    return (
        f"Of {nothing} it refuses {of_hundred(refused)} of 100, so {of_hundred(1 - refused)} get "
        f"an answer that cannot be right (checked on {n:,})."
    )


def _intent_words(facts: Facts) -> str:
    known = [one for one in facts.intents if one.recall is not None and one.support]
    sure = [one for one in known if one.is_sure]
    if not known:
        return "Which intents work well is not known yet."
    if not sure:
        return (
            f"The verdict goes by all texts together. Each intent was checked on fewer than {FEW}, "
            f"too few to judge it alone{_weakest_words(known)}."
        )
    weak = [one for one in sure if not _works(one)]
    if not weak:
        return f"All {counted(len(sure), 'intent')} with enough texts {_WELL_WORDS}."
    return (
        f"{len(sure) - len(weak):,} of {counted(len(sure), 'intent')} with enough texts "
        f"{_WELL_WORDS}; it is weakest at {named(weak)}."
    )


def _weakest_words(known: Sequence[IntentLine]) -> str:
    """Name the intent that went wrong most, as a hint; "" where none did."""
    worst = min(known, key=lambda one: one.share or 0.0)
    if worst.share is None or worst.share >= WELL:
        return ""
    found = f"is found in {round((worst.recall or 0.0) * worst.support):,} of {worst.support:,}"
    right = round((worst.precision or 0.0) * worst.said)
    if worst.precision is not None and worst.precision < (worst.recall or 0.0):
        found = f"is right in {right:,} of {counted(worst.said, 'answer')}"
    return f"; a hint, no verdict: “{worst.name}” {found}"


def _works(one: IntentLine) -> bool:
    return one.share is not None and one.share >= WELL


def _outcome_words(facts: Facts) -> str:
    other = facts.other
    luck = "part of it may be luck, for the limit for out of scope was chosen by the same texts"
    sure = f"; {luck}." if facts.chose_line else ", and that is not luck."
    return {
        None: "No earlier version is there to compare it with; the report on a later one compares "
        "the two.",
        "better": f"It is better than {other}{sure}",
        "alike": f"It is about as good as {other}: the difference may be luck.",
        "worse": f"It is worse than {other}{sure}",
        "unknown": f"Nobody can say whether it is better than {other}.",
    }[facts.outcome]


def _outside_basis(scope: ScopeLine, task: Task) -> str:
    if not scope.outside:
        return f"no text is labelled {label_words((), task)} yet"
    if scope.known:
        return f"no test text is labelled {label_words((), task)}"
    fit = "fits" if scope.outside == 1 else "fit"
    return f"of {counted(scope.outside, 'test text')} that {fit} no intent"


def _well_figure(intents: Sequence[IntentLine]) -> KeyFigure:
    """Count the intents that work well, of those with enough texts to tell."""
    known = [one for one in intents if one.recall is not None and one.support]
    sure = [one for one in known if one.is_sure]
    few = f"fewer than {FEW} test texts each, too few to judge one alone"
    if not known:
        return KeyFigure(_WELL_NAME, "not known", "no texts to check on")
    if not sure:
        basis = f"{counted(len(known), 'intent')} with {few}"
        together = "the verdict goes by all texts together"
        return KeyFigure(_WELL_NAME, "too few texts", f"{basis}; {together}")
    others = len(known) - len(sure)
    more = f"; {others:,} more with {few}" if others else ""
    value = f"{sum(map(_works, sure)):,} of {len(sure):,}"
    return KeyFigure(_WELL_NAME, value, f"{_WELL_WORDS}{more}")


def figures_of(facts: Facts) -> tuple[KeyFigure, ...]:
    """Return three figures: right answers, refused texts, intents that work well."""
    checked, scope = facts.checked, facts.scope
    texts = counted(checked.n, "test text" if checked.on_tests else "own example")
    moment = "today" if facts.is_now else "as it was trained"
    return (
        KeyFigure(
            "Exactly right answers" if facts.task == "multi-label" else "Right answers",
            percent(checked.share, 1) if checked.n else "not known",
            f"{checked.right:,} of {texts} answered right {moment}"
            if checked.n
            else "no texts to check on",
        ),
        KeyFigure(
            "Texts of no intent refused" if facts.task == "multi-label" else _OUTSIDE_NAME,
            "not tested" if scope.refused is None or scope.known else percent(scope.refused),
            _outside_basis(scope, facts.task),
        ),
        _well_figure(facts.intents),
    )
