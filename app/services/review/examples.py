"""Findings about single examples: likely label errors, twins, and examples that cause errors."""

from collections import Counter
from collections.abc import Sequence
from itertools import islice
from typing import Literal

import numpy as np

from app.services.review.findings import (
    KEEP,
    KEEP_BOTH,
    SAME_TEXT,
    Evidence,
    Finding,
    FoundText,
    Remedy,
    truth_of,
)
from app.services.what_if.repairs import Repair, label_finding_id
from core.review.duplicates import DUPLICATE, ONLY_SAME_TEXTS, Twins, twins
from core.review.intents import Greedy, greedy_examples
from core.text import counted

MOST = 500
"""Most findings of one kind; after repairs, the next review lists further ones."""

_SHOWN = 12
_ALIKE = 5
"""Most similar examples that are counted and shown when a label is doubted."""


def likely_errors(evidence: Evidence) -> list[Finding]:
    """List examples that the others give another label, the likeliest errors first.

    As many as are probably wrong are of the kind `label`, the others of the kind `doubt`.
    """
    found = evidence.suspects
    held = evidence.head.targets[np.arange(len(found.rank)), found.suggested] > 0
    doubted = [row for row in found.order.tolist() if not held[row] and evidence.is_said(row)]
    likely = sum(evidence.is_said(row) for row in np.flatnonzero(found.confident).tolist())
    listed = [_likely_error(evidence, row, "label") for row in doubted[:likely][:MOST]]
    return listed + [_likely_error(evidence, row, "doubt") for row in doubted[likely:][:MOST]]


def _likely_error(evidence: Evidence, row: int, kind: Literal["label", "doubt"]) -> Finding:
    answered, proposed = int(evidence.suspects.suggested[row]), _agreed(evidence, row)
    other, labels = evidence.columns[answered], evidence.labels[row]
    own, name = evidence.label(labels), evidence.name(other)
    wanted = (other,) if evidence.single else tuple(sorted({*labels, other}))
    text = evidence.example(row, suggested=None if proposed is None else wanted)
    near = evidence.near.rows[row, :_ALIKE].tolist()
    agree = sum(not set(labels).isdisjoint(evidence.labels[place]) for place in near)
    remedies = [
        Remedy("Another label …", Repair("relabel", (text.id,)), "intent"),
        KEEP,
        Remedy("Delete this text", Repair("delete", (text.id,))),
    ]
    if proposed is not None:
        words = f"Label it {name}" if evidence.single else f"Add {name}"
        remedies.insert(0, Remedy(words, Repair("relabel", (text.id,), wanted)))
    return Finding(
        id=label_finding_id(text.id, labels),
        kind=kind,
        title=f"Is this {own}?" if proposed is None else f"{own}, or {name}?",
        why=_doubt(agree, len(near), own, name, agreed=proposed is not None),
        figure=float(evidence.suspects.rank[row]),
        measure=_measure(evidence, near, agree, proposed),
        texts=(text, *(evidence.example(place, "similar") for place in near)),
        remedies=tuple(remedies),
        intents=tuple(dict.fromkeys((*labels, other))),
    )


def _agreed(evidence: Evidence, row: int) -> int | None:
    """Return the column of a label to propose: most of the examples shown as similar have it."""
    proposed, near = evidence.proposed(row), evidence.near.rows[row, :_ALIKE].tolist()
    if proposed is None:
        return None
    n = sum(evidence.columns[proposed] in evidence.labels[place] for place in near)
    return proposed if 2 * n > len(near) else None


def _measure(evidence: Evidence, near: Sequence[int], agree: int, proposed: int | None) -> str:
    if proposed is None:
        return f"{agree or 'none'} of {len(near)} similar agree" + "s" * (agree == 1)
    other = evidence.columns[proposed]
    n = sum(other in evidence.labels[place] for place in near)
    return f"{n} of {len(near)} similar: {evidence.names.get(other, '?')}"


def _doubt(agree: int, of: int, own: str, other: str, *, agreed: bool) -> str:
    """Say why a label is doubted; `agree` of its most similar examples have it."""
    share = f"{agree} of the {of}" if agree else f"None of the {of}"
    is_ = "are" if agree > 1 else "is"
    similar = f"{share} most similar examples {is_} labelled {own}." if of else ""
    tail = "" if agreed else ", but the similar examples do not agree on a label"
    return f"{similar} Without this label the answer would be {other}{tail}.".strip()


def same_texts(evidence: Evidence) -> list[Finding]:
    """List examples that say the same: under different labels first, then duplicates.

    Two that are merely alike conflict only where one is answered as the other is labelled; of
    several such pairs of that one, the first is listed. What says the same does not depend on the
    version: no training of the encoder on labels counts.
    """
    texts = [exemplar.text for exemplar in evidence.exemplars]
    duplicate = ONLY_SAME_TEXTS if evidence.learned else DUPLICATE
    pairs = twins(texts, evidence.head.targets, evidence.near, duplicate)
    won = evidence.held_out.argmax(1).tolist()
    conflicting = sorted((p for p in pairs if p.conflict), key=lambda pair: not pair.same_text)
    conflicts, told = list[Twins](), set[int]()
    for pair in conflicting:
        pulled = _pulled(evidence, pair, won)
        if pair.same_text or not pulled <= told:
            conflicts.append(pair)
            told |= pulled
    # A synthetic example resembles its source on purpose.
    said = (
        pair for pair in pairs if evidence.is_said(pair.first) and evidence.is_said(pair.second)
    )
    copies = list(islice((pair for pair in said if not pair.conflict), MOST))
    return [_conflict(evidence, p) for p in conflicts[:MOST]] + [_copy(evidence, p) for p in copies]


def _pulled(evidence: Evidence, pair: Twins, won: Sequence[int]) -> set[int]:
    """Return which of the two the others' votes give a label of the other, and none of its own."""
    ways = ((pair.first, pair.second), (pair.second, pair.first))
    labels = evidence.labels
    return {
        one
        for one, other in ways
        if (answer := evidence.columns[won[one]]) in labels[other] and answer not in labels[one]
    }


def _conflict(evidence: Evidence, pair: Twins) -> Finding:
    # Ids are random; names make the order the same on every machine.
    rows = sorted((pair.first, pair.second), key=lambda row: evidence.label(evidence.labels[row]))
    first, second = (evidence.example(row) for row in rows)
    said = [evidence.label(evidence.labels[row]) for row in rows]
    alike = "say the same" if pair.same_text else "are very much alike"
    harm = "both cannot be right" if pair.same_text else "texts like them may go wrong"
    remedies = (
        Remedy(f"Both {said[0]}", Repair("relabel", (second.id,), first.intents or ())),
        Remedy(f"Both {said[1]}", Repair("relabel", (first.id,), second.intents or ())),
        Remedy("Delete the first", Repair("delete", (first.id,))),
        Remedy("Delete the second", Repair("delete", (second.id,))),
        KEEP if pair.same_text else KEEP_BOTH,
    )
    return Finding(
        id=_pair_id("conflict", evidence, pair),
        kind="conflict",
        title=f"{said[0]} or {said[1]}?",
        why=f"These two {alike} and are labelled differently, so that {harm}.",
        figure=pair.cosine,
        measure=SAME_TEXT if pair.same_text else "very similar",
        texts=(first, second),
        remedies=remedies,
        intents=tuple(dict.fromkeys((*(first.intents or ()), *(second.intents or ())))),
    )


def _copy(evidence: Evidence, pair: Twins) -> Finding:
    first, second = (evidence.example(row) for row in (pair.first, pair.second))
    alike = "say the same" if pair.same_text else "are nearly the same"
    return Finding(
        id=_pair_id("duplicate", evidence, pair),
        kind="duplicate",
        title=f"Twice in {evidence.label(evidence.labels[pair.first])}",
        why=f"These two {alike}; one of them teaches little, and together they count double.",
        figure=pair.cosine,
        measure=SAME_TEXT if pair.same_text else "nearly the same",
        texts=(first, second),
        remedies=(
            Remedy("Delete the second", Repair("delete", (second.id,))),
            Remedy("Delete the first", Repair("delete", (first.id,))),
            KEEP,
        ),
        intents=evidence.labels[pair.first],
    )


def _pair_id(kind: str, evidence: Evidence, pair: Twins) -> str:
    ids = sorted(evidence.exemplars[row].id for row in (pair.first, pair.second))
    return f"{kind}:{ids[0]}:{ids[1]}"


def greedy(evidence: Evidence) -> list[Finding]:
    """List examples that pull test texts away from their intents, the worst first.

    They are candidates: a review lists those of which the removal mends answers.
    """
    truth = truth_of(evidence, [record.labels for record in evidence.tests])
    known = np.flatnonzero((truth >= 0) & evidence.fresh)
    if not evidence.single or not len(known):
        return []
    found = greedy_examples(evidence.head, evidence.test_rows[known], truth[known])
    return [_greedy(evidence, one, known.tolist()) for one in found if one.texts]


def _greedy(evidence: Evidence, one: Greedy, known: list[int]) -> Finding:
    robbed = Counter(key for row in one.texts for key in evidence.tests[known[row]].labels or ())
    other = robbed.most_common(1)[0][0]
    text = evidence.example(one.row, "pulls", (other,))
    victims = [evidence.tests[known[row]] for row in one.texts[:_SHOWN]]
    taken = [FoundText(r.id, r.text, r.labels, r.split, "answered wrongly") for r in victims]
    n_texts = len(one.texts)
    subject = counted(n_texts, "text")
    own = evidence.label(evidence.labels[one.row])
    return Finding(
        id=f"greedy:{text.id}:{','.join(evidence.labels[one.row])}",
        kind="greedy",
        title=f"Leads {subject} to {own}",
        why=(
            f"{counted(n_texts, 'test text')} got a wrong answer, mostly by this example. "
            f"{'It belongs' if n_texts == 1 else 'Most of them belong'} to {evidence.name(other)}. "
            "Other examples share in it: each button says how many answers it corrects."
        ),
        figure=one.harm,
        measure=f"misleads {subject}",
        texts=(text, *taken),
        remedies=(
            Remedy(f"Label it {evidence.name(other)}", Repair("relabel", (text.id,), (other,))),
            Remedy("Another label …", Repair("relabel", (text.id,)), "intent"),
            Remedy("Make it a test text", Repair("move", (text.id,), value="test")),
            KEEP,
            Remedy("Delete this text", Repair("delete", (text.id,))),  # what destroys comes last
        ),
        intents=tuple(dict.fromkeys((*evidence.labels[one.row], other))),
    )
