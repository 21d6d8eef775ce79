"""A text that a proposal asks about is not asked about a second time by another finding."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from app.services.live.live_model import LiveModel
from app.services.review.findings import Finding, FoundText, Kind, Remedy, quoted
from app.services.what_if.repairs import Repair

_ABOUT_ONE: tuple[Kind, ...] = ("label", "greedy", "next", "doubt")
"""Kinds of findings that ask about their first text; their other texts are for comparison."""


def asked_once(findings: Sequence[Finding], live: LiveModel) -> list[Finding]:
    """Leave out open findings about one text of which an open proposal asks, too.

    The proposal says what they say, and also offers the intents that they name, as the model has
    them.
    """
    proposals = [one for one in findings if one.kind == "proposal"]
    proposed = {text.id for one in proposals for text in one.texts if text.id}
    left_out = {
        id(one): one for one in findings if one.kind in _ABOUT_ONE and one.texts[0].id in proposed
    }
    if not left_out:
        return list(findings)
    said: dict[str, list[Finding]] = {}
    for one in left_out.values():
        said.setdefault(one.texts[0].id, []).append(one)
    return [
        _joined(one, said, live) if one.kind == "proposal" else one
        for one in findings
        if id(one) not in left_out
    ]


def _joined(proposal: Finding, said: dict[str, list[Finding]], live: LiveModel) -> Finding:
    """Return a proposal with the words of other findings about its text, and their labels."""
    found = [one for text in proposal.texts for one in said.get(text.id, ())]
    why = " ".join([proposal.why, *(f"Review found, too: {one.why}" for one in found)])
    named = dict.fromkeys((*proposal.intents, *(key for one in found for key in one.intents)))
    new = [key for key in named if key not in proposal.intents]
    labels = tuple(_labels(proposal.texts[0], new, live))
    first, *rest = proposal.remedies
    return replace(proposal, why=why, intents=tuple(named), remedies=(first, *labels, *rest))


def _labels(text: FoundText, keys: Sequence[str], live: LiveModel) -> Iterator[Remedy]:
    names = dict(zip(live.columns, live.pipeline.head.intents, strict=True))
    for key in filter(names.__contains__, keys):
        if live.pipeline.task == "single-label":
            yield Remedy(f"Label it {quoted(names[key])}", Repair("relabel", (text.id,), (key,)))
        else:
            label = tuple(sorted({*(text.intents or ()), key}))
            yield Remedy(f"Add {quoted(names[key])}", Repair("relabel", (text.id,), label))
