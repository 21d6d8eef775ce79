"""What a comparison of two models says, in sentences."""

from collections import Counter

from app.services.versions.comparison_views import ModelComparison
from core.metrics.paired import Difference
from core.text import counted, label_words

_NAMED = 3


def words_of(found: ModelComparison) -> tuple[str, ...]:
    """Say what a comparison found, in sentences."""
    return (*_basis_words(found), *_answer_words(found), *_pin_words(found))


def _basis_words(found: ModelComparison) -> list[str]:
    words: list[str] = []
    if found.left_out:
        words.append(
            f"{counted(found.left_out, 'text')} of the test split left out: one of the two models "
            "was trained on the same."
        )
    if found.basis == "nothing":
        words.append(
            "There are no test texts to compare on, and the two were not judged alike after their "
            "training, so there is no verdict on accuracy. Put some labelled texts into the test "
            "split."
        )
    if found.difference is None or found.before is None:
        return words
    if found.basis == "stored figures":
        words.append(
            "There are no test texts to compare on; the figures of both trainings are compared."
        )
    right = "right" if found.task == "single-label" else "with just the right intents"
    of = "test text" if found.basis == "test split" else "text"
    words.append(
        f"{found.candidate} answers {found.after:.1%} of {counted(found.n, of)} {right}, "
        f"{found.champion} {found.before:.1%}: {points(found.difference)}."
    )
    more = "That is more than chance explains."
    words.append(more if found.difference.beyond_chance else "Chance alone may explain that.")
    if found.f1 is not None:
        old, new = found.f1
        words.append(f"F1 over all intents: {new:.1%}, {old:.1%} before.")
    return words


def _answer_words(found: ModelComparison) -> list[str]:
    if found.basis != "test split":
        return []
    counts = Counter(answer.verdict for answer in found.answers)
    said = {"fixed": "fixed", "broken": "broken", "other": "changed otherwise"}
    parts = [f"{counts[kind]:,} {words}" for kind, words in said.items() if counts[kind]]
    words = [f"Answers: {', '.join(parts)}." if parts else "Every text is answered as before."]
    old, new = found.refused
    if old != new:
        how = "sent out of scope" if found.task == "single-label" else "answered with no intent"
        words.append(f"{counted(new, 'text')} {how}, {old:,} before.")
    return words


def _pin_words(found: ModelComparison) -> list[str]:
    counts = Counter(pin.verdict for pin in found.pins)
    kinds = [kind for kind in ("kept", "fixed", "broken", "missed") if counts[kind]]
    words = [f"Pins: {', '.join(f'{counts[kind]:,} {kind}' for kind in kinds)}."] if kinds else []
    words += [
        f"'{pin.text}' should be {label_words(pin.expected, found.task)}, and is "
        f"{label_words(pin.after, found.task)} now."
        for pin in found.pins_of("broken")[:_NAMED]
    ]
    if found.stale_pins:
        stale = counted(found.stale_pins, "pin")
        words.append(f"{stale} not judged, for the intent expected is archived or gone.")
    return words


def points(difference: Difference) -> str:
    """Write a difference with its interval, in points."""
    low, high = (f"{100 * edge:+.1f}" for edge in (difference.low, difference.high))
    return f"{100 * difference.value:+.1f} points (95 % interval {low} to {high})"
