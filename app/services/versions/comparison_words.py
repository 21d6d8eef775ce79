"""The result of comparing two models, in sentences."""

from collections import Counter
from collections.abc import Mapping
from typing import Any, Protocol

from app.services.versions.comparison_views import ModelComparison, Outcome
from core.metrics.in_words import measured_on
from core.metrics.paired import Difference
from core.text import counted, digits_that_agree, label_words, percent, signed_points

_NAMED = 3
_PINS = {"kept": "kept", "fixed": "mended", "broken": "broken", "missed": "broken as before"}


def outcome_of(comparison: ModelComparison) -> Outcome:
    """Return whether the candidate is better; within chance, the two are alike."""
    difference = comparison.difference
    if difference is None:
        return "unknown"
    if difference.beyond_chance:
        return "better" if difference.value > 0 else "worse"
    return "alike"


def verdict_of(comparison: ModelComparison) -> str:
    """Say how many texts each answers right, whether by luck, and what is refused and broken."""
    new, old = version_words(comparison.candidate), version_words(comparison.champion)
    if comparison.outcome == "unknown":
        return (
            f"Nobody can say whether {new} is better than {old}: there are no labelled test texts "
            f"that neither has learned from.{broken_pins_words(comparison)}"
        )
    shares = (comparison.before or 0.0, comparison.after or 0.0)
    before, after = (round(share * comparison.n) for share in shares)
    texts = "test texts" if comparison.basis == "test split" else "texts"
    single = comparison.task == "single-label"
    right = "right" if single else "with exactly the right intents"
    return (
        f"{new[0].upper()}{new[1:]} answers {after:,} of {comparison.n:,} {texts} {right}, "
        f"{_then(before, after)}{_moment_words(comparison)}.{luck_words(comparison)}"
        f"{_limit_words(comparison)}{_outside_words(comparison)}{broken_pins_words(comparison)}"
    )


def _moment_words(comparison: ModelComparison) -> str:
    """Say which labels vote in both, or that stored figures are compared."""
    if comparison.basis != "test split":
        return ", both as checked after their trainings, on the same texts"
    if comparison.moment == "now":
        return ", both with all labels up to now"
    return ", both without the labels given since their trainings"


def _then(before: int, after: int) -> str:
    return "as before" if before == after else f"{before:,} before"


def _outside_words(comparison: ModelComparison) -> str:
    """Say how many texts that fit no intent are refused; "" without any."""
    n = comparison.outside_n
    before, after = comparison.outside_refused
    if not n:
        return ""
    fit = "text that fits" if n == 1 else "texts that fit"
    return f" Of {n:,} {fit} no intent it refuses {after:,}, {_then(before, after)}."


def _limit_words(comparison: ModelComparison) -> str:
    """Say that a difference comes from the limit for out of scope, where most of it does; or "".

    A version that refuses more is no worse at telling intents apart.
    """
    if comparison.task != "single-label" or comparison.outcome not in ("better", "worse"):
        return ""
    is_worse = comparison.outcome == "worse"
    verdict = "broken" if is_worse else "fixed"
    changed = [one for one in comparison.answers if one.verdict == verdict]
    refused = sum(not (one.after if is_worse else one.before) for one in changed)
    if 2 * refused <= len(changed):
        return ""
    of = f" {refused:,} of {counted(len(changed), 'text')} that it newly gets"
    limit = "its limit for out of scope is"
    if is_worse:
        return f"{of} wrong are only refused: {limit} stricter."
    return f"{of} right were only refused before: {limit} less strict."


def luck_words(comparison: ModelComparison) -> str:
    """Say whether the difference is real; "" where there is none."""
    difference = comparison.difference
    if difference is None or difference.value == 0:
        return ""
    what = "improvement" if difference.value > 0 else "loss"
    if difference.beyond_chance and comparison.chose_line and comparison.basis == "test split":
        return (
            f" The {what} is more than luck would give, but the limit for out of scope was chosen "
            "by the same texts."
        )
    if difference.beyond_chance:
        return f" The {what} is real, not luck."
    return f" So small a difference on {counted(comparison.n, 'text')} may be luck."


def broken_pins_words(comparison: ModelComparison) -> str:
    """Say how many pins the candidate breaks, and how many of them as before; "" if none."""
    fresh, before = len(comparison.pins_of("broken")), len(comparison.pins_of("missed"))
    if not fresh and not before:
        return ""
    if not fresh:
        return f" {counted(before, 'pin')} {'is' if before == 1 else 'are'} broken, as before."
    as_before = f", {before:,} of them as before" if before else ""
    return f" It breaks {counted(fresh + before, 'pin')}{as_before}."


class _Checked(Protocol):
    """A model with the figures of its training."""

    @property
    def name(self) -> str:
        """Its name, such as `PROJECT@N`."""
        ...

    @property
    def metrics(self) -> Mapping[str, Any]:
        """The figures, as they are stored."""
        ...


def apart_words(*models: _Checked) -> str:
    """Say on which texts each figure stands that is told elsewhere; "" unless all have one."""
    told = [
        f"{percent(share, 1)} of {version_words(one.name)} stand {measured_on(one.metrics)}"
        for one in models
        if (share := one.metrics.get("answered_right", one.metrics.get("accuracy"))) is not None
        and one.metrics.get("judged_on")
    ]
    if len(told) < len(models):
        return ""
    return f" The figures of their trainings do not compare them: {', '.join(told)}."


def version_words(name: str) -> str:
    """Write `PROJECT@N` as "version N"; other names stay."""
    _, at, number = name.rpartition("@")
    return f"version {number}" if at else name


def words_of(comparison: ModelComparison) -> tuple[str, ...]:
    """Return the result of a comparison, in sentences."""
    return (*_basis_words(comparison), *_answer_words(comparison), *_pin_words(comparison))


def _basis_words(comparison: ModelComparison) -> list[str]:
    words: list[str] = []
    if comparison.left_out:
        words.append(
            f"{counted(comparison.left_out, 'test text')} left out: one of the two versions has "
            "learned from the same."
        )
    if comparison.basis == "nothing":
        words.append(
            "There are no test texts to compare on, and the two were not checked in the same way "
            "on the same texts after their training. Make some examples test texts."
        )
    if comparison.difference is None or comparison.before is None or comparison.after is None:
        return words
    if comparison.basis == "stored figures":
        words.append(
            "There are no test texts to compare on; the figures of both trainings are compared, "
            "which were checked on the same texts."
        )
    right = "right" if comparison.task == "single-label" else "with just the right intents"
    of = "test text" if comparison.basis == "test split" else "text"
    new, old = version_words(comparison.candidate), version_words(comparison.champion)
    digits = digits_that_agree(comparison.before, comparison.after)
    words.append(
        f"{new[0].upper()}{new[1:]} answers {percent(comparison.after, digits)} of "
        f"{counted(comparison.n, of)} {right}, {old} "
        f"{percent(comparison.before, digits)}: {points(comparison.difference, digits)}."
    )
    if comparison.f1 is not None:
        f1_before, f1_after = comparison.f1
        words.append(
            f"Average over all answers (micro F1): {percent(f1_after, 1)}, "
            f"{percent(f1_before, 1)} before."
        )
    return words


def _answer_words(comparison: ModelComparison) -> list[str]:
    if comparison.basis != "test split":
        return []
    counts: Counter[str] = Counter(answer.verdict for answer in comparison.answers)
    verdicts = {"fixed": "now right", "broken": "now wrong", "other": "wrong in another way"}
    parts = [f"{counts[kind]:,} {words}" for kind, words in verdicts.items() if counts[kind]]
    none = f"Each of {counted(comparison.n, 'test text')} is answered as before."
    words = [f"Answers: {', '.join(parts)}." if parts else none]
    old, new = comparison.refused
    if old != new:
        how = f"refused that {'fits' if new == 1 else 'fit'} an intent"
        if comparison.task == "multi-label":
            how = "answered with no intent"
        words.append(f"{counted(new, 'text')} {how}, {old:,} before.")
    return words


def _pin_words(comparison: ModelComparison) -> list[str]:
    counts: Counter[str] = Counter(pin.verdict for pin in comparison.pins)
    kinds = [f"{counts[kind]:,} {said}" for kind, said in _PINS.items() if counts[kind]]
    words = [f"Pins: {', '.join(kinds)}."] if kinds else []
    broken = (*comparison.pins_of("broken"), *comparison.pins_of("missed"))
    words += [
        f"“{pin.text}” must get {label_words(pin.expected, comparison.task)} and gets "
        f"{label_words(pin.after, comparison.task)}."
        for pin in broken[:_NAMED]
    ]
    if broken[_NAMED:]:
        words.append(f"{counted(len(broken) - _NAMED, 'more pin')} broken.")
    if comparison.stale_pins:
        stale = counted(comparison.stale_pins, "pin")
        words.append(f"{stale} not judged, for the intent expected is archived or gone.")
    return words


def points(difference: Difference, digits: int = 1) -> str:
    """Write a difference with its interval, in points."""
    low, high = signed_points(difference.low, digits), signed_points(difference.high, digits)
    value = signed_points(difference.value, digits)
    return f"{value} points ({low} to {high} in 95 of 100 cases)"
