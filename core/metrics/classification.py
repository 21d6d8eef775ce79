"""Accuracy, precision, recall and F1, overall and for each intent, and confusions."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class IntentQuality:
    """Quality of one intent; each share in [0, 1]."""

    intent: str
    precision: float
    recall: float
    f1: float
    support: int


@dataclass(frozen=True, slots=True)
class Confusion:
    """Texts of one intent that were answered with another."""

    actual: str
    predicted: str
    count: int


@dataclass(frozen=True, slots=True)
class ClassificationReport:
    """Quality on `n` texts; shares in [0, 1].

    Attributes:
        macro_f1: Mean F1 over the intents that have a text, as in `macro_f1`.
        intents: Those that occur among labels or answers.
        confusions: Most frequent first.
    """

    n: int
    accuracy: float
    macro_f1: float
    intents: tuple[IntentQuality, ...]
    confusions: tuple[Confusion, ...]


def classification_report(actual: Sequence[str], predicted: Sequence[str]) -> ClassificationReport:
    """Compare labels with answers, one each for a text; ValueError for none or unequal numbers."""
    pairs = Counter(zip(actual, predicted, strict=True))
    if not pairs:
        message = "no texts to judge"
        raise ValueError(message)
    n = len(actual)
    supports, answers = Counter(actual), Counter(predicted)
    names = sorted(supports | answers)
    intents = tuple(
        quality(name, pairs[name, name], answers[name], supports[name]) for name in names
    )
    wrong = [(pair, count) for pair, count in pairs.items() if pair[0] != pair[1]]
    confusions = sorted(wrong, key=lambda item: (-item[1], item[0]))
    return ClassificationReport(
        n=n,
        accuracy=sum(pairs[name, name] for name in names) / n,
        macro_f1=macro_f1(intents),
        intents=intents,
        confusions=tuple(Confusion(a, p, count) for (a, p), count in confusions),
    )


def quality(intent: str, right: int, answered: int, support: int) -> IntentQuality:
    """Return an intent's quality from counts of right answers, all answers, and labels."""
    precision = right / answered if answered else 0.0
    recall = right / support if support else 0.0
    f1 = 2 * right / (answered + support) if answered + support else 0.0
    return IntentQuality(intent, precision, recall, f1, support)


def tested(intents: Sequence[IntentQuality]) -> list[IntentQuality]:
    """Return the intents that have a text: of the others, nothing tells how well they work."""
    return [one for one in intents if one.support]


def macro_f1(intents: Sequence[IntentQuality]) -> float:
    """Return the mean F1 over the intents that have a text; 0 where none has.

    An intent that is answered but has no text counts in the F1 of those whose texts got it.
    """
    judged = tested(intents)
    return sum(one.f1 for one in judged) / len(judged) if judged else 0.0
