"""The first page of a receipt: what was answered and why, for somebody who knows no model."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from app.services.trying.known_texts import RightAct
from core.text import counted, label_words
from core.types import Task

_CLOSE = 0.1
"""Margin of scores up to which the next intent is called close."""
_HEAVIEST = 5
_FEW = 3
"""Where so few examples decide an answer, the next intent is not clearly behind."""
_REFUSED = ("out-of-scope", "no-intent")


def sentences_of(
    explanation: Mapping[str, Any], labelled: Mapping[str, int] | None = None
) -> tuple[str, ...]:
    """Say what the answer rests on, and what else it might have been.

    `labelled` counts how the examples got their labels; earlier receipts do not have it.
    """
    given = _given_words(explanation["rule"])
    if explanation["rule"] == "exact":  # the votes are not what gave this answer
        return (given,)
    is_refused = explanation["rule"] in _REFUSED
    found = [given, _examples_words(explanation, labelled)]
    if not is_refused and explanation["runner_up"]:
        found.append(_rival_words(explanation))
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


def steps_of(explanation: Mapping[str, Any], right: RightAct = "add") -> tuple[str, ...]:
    """Say what to do with this answer; `right` is what the Try page offers where it is right.

    No page is named: who reads a receipt may have no studio.
    """
    is_refused = explanation["rule"] in _REFUSED
    nothing = label_words((), _task_of(explanation))
    named = " and ".join(explanation["answer"]) or f"“{nothing}”"
    holds = "If it should be refused" if is_refused else f"If {named} is right"
    kind = nothing if is_refused else "an example"
    wrong = "If it belongs to an intent" if is_refused else "If it is wrong"
    return (
        {
            "add": f"{holds}, add the text as {kind}.",
            "pin": f"{holds}, pin the answer: you are told when a later version answers otherwise.",
            "relabel": f"This project has the text with another label. {holds}, correct that "
            "label.",
        }[right],
        f"{wrong}, give the text the right label and add the text as an example.",
    )


def _given_words(rule: str) -> str:
    """Say why an answer needed no votes, or why there is none; "" where votes decided."""
    if rule == "exact":
        return "A person has labelled just this text, so the answer is that label."
    if rule == "no-intent":
        return (
            "It gives no intent: none is likely enough, and a wrong one would be worse than none."
        )
    if rule in _REFUSED:
        return (
            "It gives no answer: the text is too unlike all examples, and a wrong answer "
            "would be worse than none."
        )
    return ""


def _examples_words(explanation: Mapping[str, Any], labelled: Mapping[str, int] | None) -> str:
    """Count the labels of the examples whose votes weigh most."""
    reasons = explanation["reasons"]
    votes = reasons[0]["votes"] if reasons else []
    heaviest = votes[:_HEAVIEST]
    if not any(vote["vote"] for vote in heaviest):  # none, or of a head that adds up no votes
        return ""
    labels = Counter[str]()
    for vote in heaviest:
        labels[" and ".join(vote["example"]["intents"])] += examples_in(vote)
    [(name, n)] = labels.most_common(1)
    nothing = label_words((), _task_of(explanation))
    others = reasons[0]["n_others"] + sum(map(examples_in, votes))
    return (
        f"It compares the text with {counted(others, 'example')}"
        f"{_ways_words(labelled or {})}. "
        f"{_count_words(n, labels.total())} labelled {name or nothing}."
    )


def _task_of(explanation: Mapping[str, Any]) -> Task:
    """Return whether an answer holds one intent; earlier receipts are of such answers."""
    task: Task = explanation.get("task", "single-label")
    return task


def examples_in(vote: Mapping[str, Any]) -> int:
    """Count the examples whose votes a line of a receipt joins; earlier receipts join none."""
    return 1 + len(vote.get("twins", ()))


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


def _rival_words(explanation: Mapping[str, Any]) -> str:
    """Name the next intent only where it could be meant."""
    margin, intent = explanation["margin"], explanation["runner_up"]["intent"]
    if margin is None:
        return ""
    if margin <= _CLOSE:
        return f"The next intent, {intent}, is close behind."
    if is_rival(explanation):
        few = 0 < len(_bearing(explanation["reasons"])) <= _FEW
        behind = f"The next intent, {intent}, is clearly behind."
        return f"The next intent is {intent}." if few else behind
    return "No other intent comes near."


def is_rival(explanation: Mapping[str, Any]) -> bool:
    """Whether the next intent in rank could be meant by the text; earlier receipts name it."""
    runner_up = explanation["runner_up"]
    return bool(runner_up) and runner_up["intent"] in explanation.get(
        "speaking", (runner_up["intent"],)
    )


def _weight_words(reasons: Sequence[Mapping[str, Any]]) -> str:
    """Say how many examples the answer rests on."""
    return str(reasons[0]["load_bearing"]["words"]) if _bearing(reasons) else ""


def _bearing(reasons: Sequence[Mapping[str, Any]]) -> Sequence[object]:
    """Return the examples without which the answer would be another one; empty for none."""
    bearing = reasons[0]["load_bearing"] if reasons else None
    return bearing["examples"] if bearing else ()


def _of_hundred(share: float) -> int:
    """Never certainty, neither way."""
    return min(max(round(100 * share), 1), 99)
