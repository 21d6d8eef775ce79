"""A text that a proposal asks about is not asked about a second time by another finding."""

from collections.abc import Sequence
from dataclasses import replace

from app.services.review.findings import Finding, Kind

_ABOUT_ONE: tuple[Kind, ...] = ("label", "greedy", "next", "doubt")
"""Kinds of findings that ask about their first text; their other texts are for comparison."""


def asked_once(findings: Sequence[Finding]) -> list[Finding]:
    """Leave out open findings about one text of which an open proposal asks, too.

    The proposal says what they say.
    """
    proposals = [one for one in findings if one.kind == "proposal"]
    proposed = {text.id for one in proposals for text in one.texts if text.id}
    left_out = {
        id(one): one for one in findings if one.kind in _ABOUT_ONE and one.texts[0].id in proposed
    }
    if not left_out:
        return list(findings)
    said: dict[str, list[str]] = {}
    for one in left_out.values():
        said.setdefault(one.texts[0].id, []).append(one.why)
    return [
        _with_words(one, said) if one.kind == "proposal" else one
        for one in findings
        if id(one) not in left_out
    ]


def _with_words(proposal: Finding, said: dict[str, list[str]]) -> Finding:
    found = [words for text in proposal.texts for words in said.get(text.id, ())]
    why = " ".join([proposal.why, *(f"Review found, too: {words}" for words in found)])
    return replace(proposal, why=why)
