"""The result of comparing two models, in sentences."""

from collections import Counter

from app.services.versions.comparison_views import ModelComparison
from core.metrics.paired import Difference
from core.text import counted, label_words

_NAMED = 3


def words_of(comparison: ModelComparison) -> tuple[str, ...]:
    """Return the result of a comparison, in sentences."""
    return (*_basis_words(comparison), *_answer_words(comparison), *_pin_words(comparison))


def _basis_words(comparison: ModelComparison) -> list[str]:
    words: list[str] = []
    if comparison.left_out:
        words.append(
            f"{counted(comparison.left_out, 'text')} of the test split left out: one of the two "
            "models was trained on the same."
        )
    if comparison.basis == "nothing":
        words.append(
            "There are no test texts to compare on, and the two were not judged alike after their "
            "training, so there is no verdict on accuracy. Put some labelled texts into the test "
            "split."
        )
    if comparison.difference is None or comparison.before is None:
        return words
    if comparison.basis == "stored figures":
        words.append(
            "There are no test texts to compare on; the figures of both trainings are compared."
        )
    right = "right" if comparison.task == "single-label" else "with just the right intents"
    of = "test text" if comparison.basis == "test split" else "text"
    words.append(
        f"{comparison.candidate} answers {comparison.after:.1%} of {counted(comparison.n, of)} "
        f"{right}, {comparison.champion} {comparison.before:.1%}: {points(comparison.difference)}."
    )
    more = "That is more than chance explains."
    words.append(more if comparison.difference.beyond_chance else "Chance alone may explain that.")
    if comparison.f1 is not None:
        old, new = comparison.f1
        words.append(f"F1 over all intents: {new:.1%}, {old:.1%} before.")
    return words


def _answer_words(comparison: ModelComparison) -> list[str]:
    if comparison.basis != "test split":
        return []
    counts: Counter[str] = Counter(answer.verdict for answer in comparison.answers)
    verdicts = {"fixed": "fixed", "broken": "broken", "other": "changed otherwise"}
    parts = [f"{counts[kind]:,} {words}" for kind, words in verdicts.items() if counts[kind]]
    words = [f"Answers: {', '.join(parts)}." if parts else "Every text is answered as before."]
    old, new = comparison.refused
    if old != new:
        how = (
            "sent out of scope" if comparison.task == "single-label" else "answered with no intent"
        )
        words.append(f"{counted(new, 'text')} {how}, {old:,} before.")
    return words


def _pin_words(comparison: ModelComparison) -> list[str]:
    counts: Counter[str] = Counter(pin.verdict for pin in comparison.pins)
    kinds = [kind for kind in ("kept", "fixed", "broken", "missed") if counts[kind]]
    words = [f"Pins: {', '.join(f'{counts[kind]:,} {kind}' for kind in kinds)}."] if kinds else []
    words += [
        f"'{pin.text}' should be {label_words(pin.expected, comparison.task)}, and is "
        f"{label_words(pin.after, comparison.task)} now."
        for pin in comparison.pins_of("broken")[:_NAMED]
    ]
    if comparison.stale_pins:
        stale = counted(comparison.stale_pins, "pin")
        words.append(f"{stale} not judged, for the intent expected is archived or gone.")
    return words


def points(difference: Difference) -> str:
    """Write a difference with its interval, in points."""
    low, high = (f"{100 * edge:+.1f}" for edge in (difference.low, difference.high))
    return f"{100 * difference.value:+.1f} points (95 % interval {low} to {high})"
