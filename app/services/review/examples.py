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
from core.review.label_errors import DoubtedIntent, doubted_intents
from core.text import counted

MOST = 500
"""Most findings of one kind; after repairs, the next review lists further ones."""

_SHOWN = 12
_ALIKE = 5
"""Most similar examples that are counted and shown when a label is doubted."""

_MOST_DOUBTED = 4
"""Most intents of a text that are doubted at once. A page asks for the effects of ten repairs: of
one for each, one for all, the deletion, and four labels that a person picks."""


def likely_errors(evidence: Evidence) -> list[Finding]:
    """List examples that the others give another label, the likeliest errors first.

    As many as are probably wrong are of the kind `label`, the others of the kind `doubt`.
    """
    if not evidence.single:
        return _doubted_sets(evidence)
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
    text = evidence.example(row, suggested=None if proposed is None else (other,))
    near = _alike(evidence, row)
    agree = sum(not set(labels).isdisjoint(evidence.labels[place]) for place in near)
    remedies = _remedies_of_doubt(text)
    if proposed is not None:
        remedies.insert(0, Remedy(f"Label it {name}", Repair("relabel", (text.id,), (other,))))
    return Finding(
        id=label_finding_id(text.id, labels),
        kind=kind,
        title=f"Is this {own}?" if proposed is None else f"{own}, or {name}?",
        why=_doubt(agree, len(near), own, name, agreed=proposed is not None),
        figure=float(evidence.suspects.rank[row]),
        measure=(
            f"{agree or 'none'} of {len(near)} similar agree" + "s" * (agree == 1)
            if proposed is None
            else _measure(evidence, row, other)
        ),
        texts=(text, *(evidence.example(place, "similar") for place in near)),
        remedies=tuple(remedies),
        intents=tuple(dict.fromkeys((*labels, other))),
    )


def _doubted_sets(evidence: Evidence) -> list[Finding]:
    """List examples with an intent that is probably one too many, or that they probably lack."""
    by_row: dict[int, list[DoubtedIntent]] = {}
    for one in doubted_intents(evidence.doubted, evidence.head.targets, evidence.near):
        is_told = len(by_row.get(one.row, ())) < _MOST_DOUBTED
        if is_told and evidence.is_said(one.row) and _is_borne_out(evidence, one):
            by_row.setdefault(one.row, []).append(one)
    likely = {row for row, doubts in by_row.items() if any(one.confident for one in doubts)}
    others = [row for row in by_row if row not in likely]
    listed = [row for row in by_row if row in likely]
    return [
        *(_doubted_set(evidence, by_row[row], "label") for row in listed[:MOST]),
        *(_doubted_set(evidence, by_row[row], "doubt") for row in others[:MOST]),
    ]


def _is_borne_out(evidence: Evidence, one: DoubtedIntent) -> bool:
    """Whether most of the examples shown as similar say the same as a doubt of one intent."""
    key, near = evidence.columns[one.column], _alike(evidence, one.row)
    if not key or one.surplus != (key in evidence.labels[one.row]):  # an intent that is gone
        return False
    n = _n_labelled(evidence, near, key)
    return 2 * (len(near) - n if one.surplus else n) > len(near)


def _doubted_set(
    evidence: Evidence, doubts: Sequence[DoubtedIntent], kind: Literal["label", "doubt"]
) -> Finding:
    """Ask about the doubted intents of one text, the confident and likeliest errors first.

    Where some are confident, the label proposed for the text turns those alone.
    """
    doubts = sorted(doubts, key=lambda one: (not one.confident, -one.doubt))
    row = doubts[0].row
    labels, keys = evidence.labels[row], [evidence.columns[one.column] for one in doubts]
    sure = [key for one, key in zip(doubts, keys, strict=True) if one.confident] or keys
    wanted = _turned(labels, sure)
    own, label = evidence.label(labels), evidence.label(wanted)
    text, near = evidence.example(row, suggested=wanted), _alike(evidence, row)
    remedies = _remedies_of_doubt(text)
    remedies[:0] = [
        Remedy(
            _turning(evidence, one),
            Repair("relabel", (text.id,), _turned(labels, [key])),
        )
        for one, key in zip(doubts, keys, strict=True)
    ]
    if len(sure) > 1:
        remedies.insert(0, Remedy(f"Label it {label}", Repair("relabel", (text.id,), wanted)))
    return Finding(
        id=label_finding_id(text.id, labels),
        kind=kind,
        title=_asked(evidence, doubts[0]) if len(sure) == 1 else f"{own}, or {label}?",
        why=" ".join(_voted_out(evidence, one) for one in doubts),
        figure=max(one.doubt for one in doubts),
        measure=_measure(evidence, row, keys[0]),
        texts=(text, *(evidence.example(place, "similar") for place in near)),
        remedies=tuple(remedies),
        intents=tuple(dict.fromkeys((*labels, *keys))),
    )


def _turned(labels: Sequence[str], keys: Sequence[str]) -> tuple[str, ...]:
    """Return labels without those of some intents that are among them, and with the others."""
    return tuple(sorted(set(labels) ^ set(keys)))


def _turning(evidence: Evidence, one: DoubtedIntent) -> str:
    """Say what turns one doubted intent; without its only one a text has no intent."""
    key = evidence.columns[one.column]
    if _turned(evidence.labels[one.row], [key]):
        return f"{'Take away' if one.surplus else 'Add'} {evidence.name(key)}"
    return f"Label it {evidence.label(())}"


def _asked(evidence: Evidence, one: DoubtedIntent) -> str:
    name = evidence.name(evidence.columns[one.column])
    if one.surplus:
        return f"Not {name}?"
    return f"{name}, too?" if evidence.labels[one.row] else f"{name}?"


def _voted_out(evidence: Evidence, one: DoubtedIntent) -> str:
    """Say why one intent of a text is doubted, or missed."""
    key, near = evidence.columns[one.column], _alike(evidence, one.row)
    said = _similar(_n_labelled(evidence, near, key), len(near), evidence.name(key))
    return f"{said} The others vote {'against' if one.surplus else 'for'} it."


def _remedies_of_doubt(text: FoundText) -> list[Remedy]:
    """Return what can be done about a doubted label besides giving the proposed one."""
    return [
        Remedy("Another label …", Repair("relabel", (text.id,)), "intent"),
        KEEP,
        Remedy("Delete this text", Repair("delete", (text.id,))),
    ]


def _agreed(evidence: Evidence, row: int) -> int | None:
    """Return the column of a label to propose: most of the examples shown as similar have it."""
    proposed, near = evidence.proposed(row), _alike(evidence, row)
    if proposed is None:
        return None
    n = _n_labelled(evidence, near, evidence.columns[proposed])
    return proposed if 2 * n > len(near) else None


def _alike(evidence: Evidence, row: int) -> list[int]:
    """Return the rows of the examples that are shown as similar."""
    near: list[int] = evidence.near.rows[row, :_ALIKE].tolist()
    return near


def _n_labelled(evidence: Evidence, near: Sequence[int], key: str) -> int:
    return sum(key in evidence.labels[place] for place in near)


def _measure(evidence: Evidence, row: int, key: str) -> str:
    """Say how many of the examples shown as similar have an intent."""
    near = _alike(evidence, row)
    n = _n_labelled(evidence, near, key)
    return f"{n or 'none'} of {len(near)} similar: {evidence.names.get(key, '?')}"


def _doubt(agree: int, of: int, own: str, other: str, *, agreed: bool) -> str:
    """Say why a label is doubted; `agree` of its most similar examples have it."""
    similar = _similar(agree, of, own) if of else ""
    tail = "" if agreed else ", but the similar examples do not agree on a label"
    return f"{similar} Without this label the answer would be {other}{tail}.".strip()


def _similar(agree: int, of: int, label: str) -> str:
    """Say how many of the examples shown as similar have a label."""
    share = f"{agree} of the {of}" if agree else f"None of the {of}"
    return f"{share} most similar examples {'are' if agree > 1 else 'is'} labelled {label}."


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
