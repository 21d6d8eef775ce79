"""Findings about whole intents: confused, thin and overgrown ones, and the border of two."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.services.live.pool import Pool
from app.services.review.findings import KEEP, KEEP_BOTH, Evidence, Finding, FoundText, Remedy
from app.services.what_if.repairs import Repair
from core.review.groups import find_groups
from core.review.intents import IntentHealth, border_walk, intent_health
from core.text import counted

_SHOWN = 40
_MOST = 200
_FEWEST = 2
"""Texts needed to list a confusion; a single one is a doubt about its own label."""


@dataclass(frozen=True, slots=True)
class Step:
    """A text between two intents; `lead` is the first one's score minus the second's."""

    text: FoundText
    lead: float


@dataclass(frozen=True, slots=True)
class Border:
    """Texts between two intents, from the clearest of the first to the clearest of the second."""

    first: str
    second: str
    steps: tuple[Step, ...]


def confusions(evidence: Evidence) -> list[Finding]:
    """List pairs of confused intents, by answers to test texts and to examples without their vote.

    A text that is refused is answered with no intent, whichever comes closest.
    """
    if not evidence.single:
        return []
    cells: dict[tuple[str, str], list[FoundText]] = defaultdict(list)
    for one, answered in (*_wrong_tests(evidence), *_wrong_examples(evidence)):
        cells[(one.intents or ("",))[0], answered].append(one)
    ranked = sorted(cells.items(), key=lambda cell: (-len(cell[1]), cell[0]))
    listed = [cell for cell in ranked if len(cell[1]) >= _FEWEST and all(cell[0])]
    return [_confusion(evidence, pair, texts) for pair, texts in listed[:_MOST]]


def _wrong_tests(evidence: Evidence) -> list[tuple[FoundText, str]]:
    found = list[tuple[FoundText, str]]()
    for record, answered in zip(evidence.tests, evidence.test_answers, strict=True):
        if record.labels and answered is not None and answered not in record.labels:
            # No label is proposed: a test set that agrees with the model judges nothing.
            text = FoundText(record.id, record.text, record.labels, "test", "test")
            found.append((text, answered))
    return found


def _wrong_examples(evidence: Evidence) -> list[tuple[FoundText, str]]:
    found = list[tuple[FoundText, str]]()
    for row, (labels, answered) in enumerate(zip(evidence.labels, evidence.answers, strict=True)):
        if labels and answered is not None and answered not in labels:
            proposed = evidence.proposed(row)
            agreed = proposed is not None and evidence.columns[proposed] == answered
            suggested = (answered,) if agreed else None
            found.append((evidence.example(row, "example", suggested), answered))
    return found


def _confusion(evidence: Evidence, pair: tuple[str, str], texts: list[FoundText]) -> Finding:
    is_, answered = (evidence.name(key) for key in pair)
    judged = sum(one.place == "test" for one in texts)
    kinds = [counted(judged, "test text")] * bool(judged)
    kinds += [counted(len(texts) - judged, "example")] * (len(texts) > judged)
    return Finding(
        id=f"confusion:{pair[0]}:{pair[1]}",
        kind="confusion",
        title=f"{is_} answered as {answered}",
        why=(
            f"{len(texts):,} texts labelled {is_} are answered with {answered}: "
            f"{' and '.join(kinds)}. More labels on their border teach the difference."
        ),
        figure=float(len(texts)),
        measure=f"{len(texts):,} texts",
        texts=tuple(texts[:_SHOWN]),
        remedies=(
            KEEP_BOTH,
            Remedy(f"Merge {is_} into {answered}", Repair("merge", intent=pair[0], value=pair[1])),
            Remedy(f"Merge {answered} into {is_}", Repair("merge", intent=pair[1], value=pair[0])),
        ),
        intents=pair,
    )


def ill_intents(evidence: Evidence) -> list[Finding]:
    """List intents with too few examples, and those that win examples of other intents."""
    health = intent_health(evidence.held_out, evidence.head.targets)
    there = [one for one in health if one.examples and evidence.columns[one.column]]
    thin = [_thin(evidence, one) for one in there if one.thin]
    overgrown = [_overgrown(evidence, one) for one in there if one.overgrown and not one.thin]
    return [finding for finding in overgrown if finding.figure] + thin


def _thin(evidence: Evidence, one: IntentHealth) -> Finding:
    rows = np.flatnonzero(evidence.head.targets[:, one.column] > 0)
    rival = _absorbing(evidence, one, evidence.held_out[rows].argmax(1).tolist())
    key, name = evidence.columns[one.column], evidence.name(evidence.columns[one.column])
    remedies = [KEEP]
    if rival:
        merge = Repair("merge", intent=key, value=rival)
        remedies = [KEEP, Remedy(f"Merge it into {evidence.name(rival)}", merge)]
    many = "1 example" if one.examples == 1 else f"{one.examples} examples"
    return Finding(
        id=f"thin:{key}",
        kind="thin",
        title=f"{name} has {many}",
        why=(
            f"With {many} it is far smaller than the other intents. Label more texts for it"
            + (", or merge it." if rival else ".")
        ),
        figure=float(one.examples),
        measure=many,
        texts=tuple(evidence.example(row) for row in rows[:_SHOWN].tolist()),
        remedies=tuple(remedies),
        intents=(key, rival) if rival else (key,),
    )


def _absorbing(evidence: Evidence, one: IntentHealth, answers: Sequence[int]) -> str:
    """Return the intent with which most examples are answered, at least two; "" for none.

    A nearest rival that answers none of them was proposed for a merge, whatever it was about.
    """
    column, times = Counter(answers).most_common(1)[0]
    absorbs = column != one.column and times > 1 and 2 * times > len(answers)
    return evidence.columns[column] if absorbs else ""


def _overgrown(evidence: Evidence, one: IntentHealth) -> Finding:
    own = evidence.head.targets[:, one.column] > 0
    key = evidence.columns[one.column]
    drawn = np.flatnonzero(np.array([said == key for said in evidence.answers]) & ~own)
    others = f"{counted(len(drawn), 'example')} of other intents"
    name, part = evidence.name(key), _smaller_part(evidence, np.flatnonzero(own))
    ids = tuple(evidence.live.pipeline.exemplars[row].id for row in part)
    texts = [evidence.example(row, "is drawn in") for row in drawn[: _SHOWN // 2].tolist()]
    texts += [evidence.example(row, "would be split off") for row in part[: _SHOWN // 2]]
    split = Remedy(
        f"Split {len(ids):,} off …",
        Repair("split", ids, intent=key, value=f"{evidence.names.get(key, '')} 2".strip()),
        "name",
    )
    return Finding(
        id=f"overgrown:{key}",
        kind="overgrown",
        title=f"{name} draws in {others}",
        why=(
            f"It has {counted(one.examples, 'example')}, and {others} would be answered with it. "
            "Perhaps it is two intents."
        ),
        figure=float(len(drawn)),
        measure=f"draws in {len(drawn):,}",
        texts=tuple(texts),
        remedies=(KEEP, split) if ids else (KEEP,),
        intents=(key,),
    )


def _smaller_part(evidence: Evidence, rows: NDArray[np.int64]) -> list[int]:
    """Return the smaller of two groups of an intent's examples; none if there are too few."""
    groups = find_groups(evidence.head.exemplars[rows], 2)
    return [] if groups is None else rows[groups.of == groups.of.max()].tolist()


def border(evidence: Evidence, pool: Pool | None, pair: tuple[str, str]) -> Border:
    """Return examples, test texts and unlabelled texts between two intents."""
    first, second = (evidence.columns.index(key) for key in pair)
    texts = [evidence.example(row, "example") for row in range(len(evidence.labels))]
    scores = [evidence.held_out]
    texts += [FoundText(r.id, r.text, r.labels, r.split, "test") for r in evidence.tests]
    scores.append(evidence.head.scores(evidence.test_rows))
    if pool is not None and pool.live.version.id == evidence.live.version.id:
        limits = pool.live.pipeline.calibration.limits(pool.margins.shape[1])
        wide = evidence.held_out.shape[1]
        if pool.margins.shape[1] == wide:
            scores.append(pool.margins + limits)
            texts += [FoundText(r.id, r.text, None, r.split) for r in pool.records]
    walk = border_walk(np.concatenate(scores), first, second)
    steps = zip(walk.rows.tolist(), walk.leads.tolist(), strict=True)
    return Border(*pair, tuple(Step(texts[row], lead) for row, lead in steps))
