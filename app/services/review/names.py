"""Findings about names: intents whose utterances speak with the words of another's name."""

from collections import Counter
from collections.abc import Mapping, Sequence

from app.services.review.borderline import Misled
from app.services.review.findings import KEEP, Finding, FoundText, Remedy
from app.services.what_if.repairs import Repair
from core.types import Intent

_FEWEST = 3
"""Utterances from which on a name is listed; every name shares a word with some text."""

_SHOWN = 20
_MOST = 100


def misleading(
    found: Mapping[str, Sequence[Misled]], intents: Mapping[str, Intent], sizes: Mapping[str, int]
) -> list[Finding]:
    """List the intents whose names mislead, those of most utterances first.

    Args:
        found: Borderline utterances by the id of their intent.
        intents: By id.
        sizes: How many labelled utterances each has.
    """
    ranked = sorted(found.items(), key=lambda item: (-len(item[1]), intents[item[0]].name))
    listed = [(key, texts) for key, texts in ranked if len(texts) >= _FEWEST]
    return [_finding(key, texts, intents, sizes[key]) for key, texts in listed[:_MOST]]


def _finding(
    key: str, texts: Sequence[Misled], intents: Mapping[str, Intent], size: int
) -> Finding:
    own = intents[key]
    rivals = Counter(other for one in texts for other in one.shared)
    named = [f"{intents[other].name} ({n})" for other, n in rivals.most_common(3)]
    rename = Remedy("Rename it …", Repair("rename", intent=key, value=own.name), "name")
    describe = Repair("describe", intent=key, value=own.description)
    return Finding(
        id=f"misleading:{key}:{own.name}",
        kind="misleading",
        title=f"The name {own.name} misleads",
        why=(
            f"{len(texts)} of its {size} utterances share no word with its name, but one with the "
            f"name of another intent: {', '.join(named)}. A name or a description in the words of "
            "its utterances helps people, and every model that reads names."
        ),
        figure=float(len(texts)),
        measure=f"{len(texts)} of {size}",
        texts=tuple(_text(one, intents) for one in texts[:_SHOWN]),
        remedies=(rename, Remedy("Describe it …", describe, "description"), KEEP),
        intents=(key, *(other for other, _ in rivals.most_common(3))),
    )


def _text(one: Misled, intents: Mapping[str, Intent]) -> FoundText:
    parts = [f"“{', '.join(words)}” of {intents[k].name}" for k, words in one.shared.items()]
    record = one.record
    return FoundText(record.id, record.text, record.labels, record.split, "; ".join(parts[:3]))
