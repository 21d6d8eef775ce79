"""Which of a model's intents have a text that judges them; of the others nothing is known."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from core.errors import MALFORMED
from core.metrics.classification import IntentQuality, macro_f1, tested
from core.text import counted

ENOUGH = 0.1
"""Share of the intents that may be untested where a verdict speaks of all of them."""


def coverage(quality: Sequence[IntentQuality], names: Collection[str]) -> dict[str, int]:
    """Count the intents that have a text, and all: `names` of the model, and those of texts."""
    with_text = {one.intent for one in tested(quality)}
    return {"tested_intents": len(with_text), "intents": len(with_text | set(names))}


def as_counted_now(facts: Mapping[str, Any], metrics: Mapping[str, Any]) -> dict[str, Any]:
    """Return stored figures with those that earlier releases counted otherwise, or not at all.

    `facts` list the intents of the model. Figures that cannot be read stay as they are.
    """
    if "tested_intents" in metrics or not metrics.get("per_intent"):
        return dict(metrics)
    try:
        quality = [IntentQuality(**one) for one in metrics["per_intent"]]
        names = listed_names(facts)
        return {**metrics, "macro_f1": macro_f1(quality), **coverage(quality, names)}
    except MALFORMED:  # a bundle may carry anything
        return dict(metrics)


def listed_names(facts: Mapping[str, Any]) -> list[str]:
    """Return the intents that the facts about a stored pipeline list."""
    return [str(one["name"]) for one in facts.get("intents") or ()]


def untested_names(metrics: Mapping[str, Any], names: Collection[str]) -> list[str]:
    """Return the intents of a model, sorted, of which `per_intent` has no text."""
    with_text = {one["intent"] for one in metrics.get("per_intent") or () if one["support"]}
    return sorted(set(names) - with_text)


def untested_words(n_tested: int | None, n: int | None, texts: str = "test texts") -> str:
    """Say how many of `n` intents are untested; "" where none is, or nobody knows."""
    if n_tested is None or n is None or n_tested >= n:
        return ""
    rest = n - n_tested
    if not n_tested:
        return f"None of {counted(n, 'intent')} has {texts}; all are untested."
    have = "has" if n_tested == 1 else "have"
    others = "the other one is untested" if rest == 1 else f"the other {rest:,} are untested"
    return f"{n_tested:,} of {counted(n, 'intent')} {have} {texts}; {others}."


def leaves_out_many(n_tested: int | None, n: int | None) -> bool:
    """Whether so many intents are untested that a figure does not speak of all of them."""
    return n_tested is not None and n is not None and n - n_tested > ENOUGH * n
