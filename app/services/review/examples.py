"""Findings about single examples: likely label errors, twins, and examples that cause errors."""

from collections import Counter
from itertools import islice

import numpy as np

from app.services.review.findings import KEEP, Evidence, Finding, FoundText, Remedy, truth_of
from app.services.what_if.repairs import Repair, label_finding_id
from core.review.duplicates import Twins, twins
from core.review.intents import Greedy, greedy_examples
from core.review.label_errors import Suspicion, suspicion

MOST = 500
"""Most findings of one kind; after repairs, the next review lists further ones."""

_SHOWN = 12


def likely_errors(evidence: Evidence) -> list[Finding]:
    """List examples that the others give another label, the likeliest errors first."""
    found = suspicion(evidence.held_out, evidence.head.targets, evidence.near)
    held = evidence.head.targets[np.arange(len(found.rank)), found.suggested] > 0
    doubted = (row for row in found.order.tolist() if not held[row] and evidence.is_said(row))
    rows = list(islice(doubted, MOST))
    return [_likely_error(evidence, found, row) for row in rows]


def _likely_error(evidence: Evidence, found: Suspicion, row: int) -> Finding:
    column = int(found.suggested[row])
    other, labels = evidence.columns[column], evidence.labels[row]
    wanted = (other,) if evidence.single else tuple(sorted({*labels, other}))
    text = evidence.example(row, suggested=wanted)
    share, score = float(found.disagreement[row]), float(evidence.held_out[row, column])
    own = max(0.0, 1.0 - float(found.residual[row]))
    why = (
        f"Without its own vote it scores {score:.2f} for {evidence.name(other)} and "
        f"{own:.2f} for its label, {evidence.label(labels)}. "
        f"Of its nearest examples {share:.0%} are labelled otherwise."
    )
    near = [
        evidence.example(int(place), f"similarity {cosine:.2f}")
        for place, cosine in list(
            zip(evidence.near.rows[row].tolist(), evidence.near.cosines[row].tolist(), strict=True)
        )[:3]
    ]
    verb = "Label it" if evidence.single else "Add"
    remedies = (
        Remedy(f"{verb} {evidence.name(other)}", Repair("relabel", (text.id,), wanted)),
        Remedy("Another label …", Repair("relabel", (text.id,)), "intent"),
        Remedy("Delete it", Repair("delete", (text.id,))),
        KEEP,
    )
    return Finding(
        id=label_finding_id(text.id, labels),
        kind="label",
        title=f"{evidence.label(labels)}, or {evidence.name(other)}?",
        why=why,
        figure=float(found.rank[row]),
        measure=f"{share:.0%} disagree",
        texts=(text, *near),
        remedies=remedies,
        intents=tuple(dict.fromkeys((*labels, other))),
    )


def same_texts(evidence: Evidence) -> list[Finding]:
    """List examples that say the same: under different labels first, then duplicates."""
    texts = [exemplar.text for exemplar in evidence.live.pipeline.exemplars]
    pairs = twins(texts, evidence.head.targets, evidence.near)
    conflicts = [pair for pair in pairs if pair.conflict]
    conflicts = sorted(conflicts, key=lambda pair: not pair.same_text)[:MOST]
    # A synthetic example resembles its source on purpose.
    said = (
        pair for pair in pairs if evidence.is_said(pair.first) and evidence.is_said(pair.second)
    )
    copies = list(islice((pair for pair in said if not pair.conflict), MOST))
    return [_conflict(evidence, p) for p in conflicts] + [_copy(evidence, p) for p in copies]


def _conflict(evidence: Evidence, pair: Twins) -> Finding:
    # Ids are random; names make the order the same on every machine.
    rows = sorted((pair.first, pair.second), key=lambda row: evidence.label(evidence.labels[row]))
    first, second = (evidence.example(row) for row in rows)
    said = [evidence.label(evidence.labels[row]) for row in rows]
    alike = "say the same" if pair.same_text else f"are alike ({pair.cosine:.2f})"
    harm = "no rule can answer it exactly" if pair.same_text else "each pulls at the other's texts"
    remedies = (
        Remedy(f"Both {said[0]}", Repair("relabel", (second.id,), first.intents or ())),
        Remedy(f"Both {said[1]}", Repair("relabel", (first.id,), second.intents or ())),
        Remedy("Delete the first", Repair("delete", (first.id,))),
        Remedy("Delete the second", Repair("delete", (second.id,))),
        KEEP,
    )
    return Finding(
        id=_pair_id("conflict", evidence, pair),
        kind="conflict",
        title=f"{said[0]} or {said[1]}?",
        why=f"These two {alike} and are labelled differently, so that {harm}.",
        figure=pair.cosine,
        measure="same text" if pair.same_text else f"similarity {pair.cosine:.2f}",
        texts=(first, second),
        remedies=remedies,
        intents=tuple(dict.fromkeys((*(first.intents or ()), *(second.intents or ())))),
    )


def _copy(evidence: Evidence, pair: Twins) -> Finding:
    first, second = (evidence.example(row) for row in (pair.first, pair.second))
    alike = "say the same" if pair.same_text else f"are nearly the same ({pair.cosine:.2f})"
    return Finding(
        id=_pair_id("duplicate", evidence, pair),
        kind="duplicate",
        title=f"Twice in {evidence.label(evidence.labels[pair.first])}",
        why=f"These two {alike}; one of them teaches little, and both of them vote.",
        figure=pair.cosine,
        measure="same text" if pair.same_text else f"similarity {pair.cosine:.2f}",
        texts=(first, second),
        remedies=(
            Remedy("Delete the second", Repair("delete", (second.id,))),
            Remedy("Delete the first", Repair("delete", (first.id,))),
            KEEP,
        ),
        intents=evidence.labels[pair.first],
    )


def _pair_id(kind: str, evidence: Evidence, pair: Twins) -> str:
    ids = sorted(evidence.live.pipeline.exemplars[row].id for row in (pair.first, pair.second))
    return f"{kind}:{ids[0]}:{ids[1]}"


def greedy(evidence: Evidence) -> list[Finding]:
    """List examples that pull test texts away from their intents, the worst first."""
    truth = truth_of(evidence, [record.labels for record in evidence.tests])
    known = np.flatnonzero(truth >= 0)
    if not evidence.single or not len(known):
        return []
    found = greedy_examples(evidence.head, evidence.test_rows[known], truth[known])
    told, listed = set[int](), list[Finding]()
    for one in found:  # once the worst is repaired, others with the same texts may do no harm
        if not told.issuperset(one.texts):
            listed.append(_greedy(evidence, one, known.tolist()))
        told.update(one.texts)
    return listed


def _greedy(evidence: Evidence, one: Greedy, known: list[int]) -> Finding:
    robbed = Counter(key for row in one.texts for key in evidence.tests[known[row]].labels or ())
    other = robbed.most_common(1)[0][0]
    text = evidence.example(one.row, "pulls", (other,))
    victims = [evidence.tests[known[row]] for row in one.texts[:_SHOWN]]
    taken = [FoundText(r.id, r.text, r.labels, r.split, "answered wrongly") for r in victims]
    n_texts = len(one.texts)
    subject = "1 text" if n_texts == 1 else f"{n_texts} texts"
    own = evidence.label(evidence.labels[one.row])
    return Finding(
        id=f"greedy:{text.id}:{','.join(evidence.labels[one.row])}",
        kind="greedy",
        title=f"Pulls {subject} to {own}",
        why=(
            f"Its vote alone gave at least half of the lead by which {subject} of the test split "
            f"went to a wrong intent, mostly instead of {evidence.name(other)}."
        ),
        figure=one.harm,
        measure=f"takes {subject}",
        texts=(text, *taken),
        remedies=(
            Remedy(f"Label it {evidence.name(other)}", Repair("relabel", (text.id,), (other,))),
            Remedy("Another label …", Repair("relabel", (text.id,)), "intent"),
            Remedy("Delete it", Repair("delete", (text.id,))),
            Remedy("Judge by it instead", Repair("move", (text.id,), value="test")),
            KEEP,
        ),
        intents=tuple(dict.fromkeys((*evidence.labels[one.row], other))),
    )
