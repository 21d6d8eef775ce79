"""The first page of a receipt: what was answered and why, for somebody who knows no model."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from core.text import counted

_CLOSE = 0.1
"""Margin of scores up to which the next intent is called close."""
_HEAVIEST = 5
_REFUSED = ("out-of-scope", "no-intent")


def sentences_of(
    explanation: Mapping[str, Any], labelled: Mapping[str, int] | None = None
) -> tuple[str, ...]:
    """Say how sure the answer is, what it rests on, and what else it might have been.

    `labelled` counts how the examples got their labels; earlier receipts do not have it.
    """
    is_refused = explanation["rule"] in _REFUSED
    found = [
        _sure_words(explanation, is_refused=is_refused),
        _examples_words(explanation, labelled),
    ]
    if not is_refused and explanation["runner_up"]:
        found.append(_rival_words(explanation["runner_up"]["intent"], explanation["margin"]))
        found.append(_weight_words(explanation["reasons"]))
    return tuple(sentence for sentence in found if sentence)


def key_figures(
    explanation: Mapping[str, Any], figures: Sequence[Mapping[str, Any]]
) -> tuple[Mapping[str, Any], ...]:
    """Return at most three figures; a refused text has none of its own or of the closest intent."""
    if explanation["rule"] in _REFUSED:
        return tuple(figures[:1])
    found: list[Mapping[str, Any]] = []
    if explanation["answer"] and explanation["rule"] != "exact":
        found.append(
            {
                "name": "How sure it is",
                "value": f"{_of_hundred(explanation['confidence'])} of 100",
                "basis": "of answers like this, about so many are right",
            }
        )
    return (*found, *figures)[:3]


def steps_of(explanation: Mapping[str, Any]) -> tuple[str, ...]:
    """Say what to do with this answer."""
    if explanation["rule"] in _REFUSED:
        return (
            "If it should be refused, nothing needs to be done.",
            "If it belongs to an intent, add it as an example of that intent: on the Try page, "
            "under the answer.",
        )
    named = " and ".join(explanation["answer"])
    return (
        f"If {named} is right, pin the answer on the Try page: you are told when a later version "
        "answers otherwise.",
        "If it is wrong, add the text there as an example of the right intent.",
    )


def _sure_words(explanation: Mapping[str, Any], *, is_refused: bool) -> str:
    if explanation["rule"] == "exact":
        return "A person has labelled just this text, so the answer is that label."
    if is_refused:
        return (
            "It gives no answer: the text is too unlike all labelled examples, and a wrong answer "
            "would be worse than none."
        )
    sure = _of_hundred(explanation["confidence"])
    return f"Of 100 answers like this, about {sure} are right."


def _examples_words(explanation: Mapping[str, Any], labelled: Mapping[str, int] | None) -> str:
    """Count the labels of the examples whose votes weigh most."""
    reasons = explanation["reasons"]
    votes = reasons[0]["votes"] if reasons else []
    heaviest = votes[:_HEAVIEST]
    if not heaviest:
        return ""
    labels = Counter(" and ".join(vote["example"]["intents"]) for vote in heaviest)
    [(name, n)] = labels.most_common(1)
    others = reasons[0]["n_others"] + len(votes)
    return (
        f"It compares the text with {counted(others, 'labelled example')}"
        f"{_ways_words(labelled or {})}. "
        f"{_count_words(n, len(heaviest))} labelled {name or 'out of scope'}."
    )


def _ways_words(labelled: Mapping[str, int]) -> str:
    """Tell labels that somebody looked at one by one from those that were accepted together."""
    told = {
        "by_file": "with a label from a file",
        "one_by_one": "labelled one by one",
        "together": "accepted many at a time",
    }
    parts = [(labelled[way], words) for way, words in told.items() if labelled.get(way)]
    if len(parts) < 2:
        return f", all {parts[0][1]}" if parts else ""
    return f" ({', '.join(f'{n:,} {words}' for n, words in parts)})"


def _count_words(n: int, of: int) -> str:
    if of == 1:
        return "The one that weighs most in this answer is"
    if n == of:
        return f"The {of} that weigh most in this answer are all"
    return f"Of the {of} that weigh most in this answer, {n} {'is' if n == 1 else 'are'}"


def _rival_words(intent: str, margin: float | None) -> str:
    if margin is None:
        return ""
    how = "close behind" if margin <= _CLOSE else "clearly behind"
    return f"The next intent, {intent}, is {how}."


def _weight_words(reasons: Sequence[Mapping[str, Any]]) -> str:
    """Say how many examples the answer rests on."""
    bearing = reasons[0]["load_bearing"] if reasons else None
    if not bearing or not bearing["examples"]:
        return ""
    n = len(bearing["examples"])
    return (
        f"It rests on {counted(n, 'example')}: without {'it' if n == 1 else 'them'} it would be "
        f"{bearing['after']}."
    )


def _of_hundred(share: float) -> int:
    """Never certainty, neither way."""
    return min(max(round(100 * share), 1), 99)
