"""Findings about whole intents: confused, thin and overgrown ones, and the border of two."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.services.live.pool import Pool
from app.services.review.findings import KEEP, KEEP_BOTH, Evidence, Finding, FoundText, Remedy
from app.services.what_if.repairs import Repair
from core.metrics.mixed_up import MixUp, WrongAnswer, mixed_up
from core.review.groups import find_groups
from core.review.intents import IntentHealth, border_walk, busiest_border, intent_health
from core.text import counted
from core.types import ScoreArray

_SHOWN = 40
_MOST = 200
_CLEAR = 0.4
"""Difference of two scores from which on a text is clearly the first one's."""
_FEWEST = 2
"""Texts needed to list a confusion; a single one is a doubt about its own label."""


@dataclass(frozen=True, slots=True)
class Step:
    """A text between two intents.

    Attributes:
        lead: The first one's score minus the second's.
        answer: Id of the intent that it is answered with where it is labelled with the other one;
            else "".
        finding: Id under which a person says that its label is right; "" without a label.
        kept: Whether a person has said so.
    """

    text: FoundText
    lead: float
    answer: str
    finding: str
    kept: bool


@dataclass(frozen=True, slots=True)
class Border:
    """Texts between two intents, from the clearest of the first to the clearest of the second.

    `mixed` says in words how many of them are mixed up; "" for none. `left_out` further texts lie
    more clearly on one side. `counting`: unlabelled texts are being read again, and may follow.
    `revision` is the project's up to which their labels are known.
    """

    first: str
    second: str
    steps: tuple[Step, ...]
    mixed: str
    left_out: int
    counting: bool = False
    revision: int = 0


def confusions(evidence: Evidence) -> list[Finding]:
    """List pairs of confused intents, by answers to test texts and to examples without their vote.

    A text that is refused is answered with no intent, whichever comes closest.
    """
    listed = [one for one in _mixed_up(evidence) if len(one.wrong) >= _FEWEST]
    return [_confusion(evidence, one) for one in listed[:_MOST]]


def _mixed_up(evidence: Evidence) -> list[MixUp[int]]:
    """Return all pairs of confused intents; texts are rows of the examples, then test texts."""
    if not evidence.single:
        return []
    return mixed_up([*_wrong_tests(evidence), *_wrong_examples(evidence)])


def _wrong_tests(evidence: Evidence) -> Iterator[WrongAnswer[int]]:
    """Find test texts with another answer; one that the model has learned tests nothing."""
    for row, (record, answer) in enumerate(
        zip(evidence.tests, evidence.test_answers, strict=True), len(evidence.labels)
    ):
        labels = record.labels
        if labels and answer and answer not in labels:
            yield WrongAnswer(labels[0], answer, row, is_test=True)


def _wrong_examples(evidence: Evidence) -> Iterator[WrongAnswer[int]]:
    for row, (labels, answer) in enumerate(zip(evidence.labels, evidence.answers, strict=True)):
        if not (labels and labels[0] and answer and evidence.is_said(row)):
            continue
        if answer not in labels:
            yield WrongAnswer(labels[0], answer, row, is_test=False)


def _text_of(evidence: Evidence, one: WrongAnswer[int]) -> FoundText:
    """Return a text with a wrong answer; a label is proposed where its neighbours agree on it."""
    if one.is_test:
        # No label is proposed: a test set that agrees with the model judges nothing.
        record = evidence.tests[one.text - len(evidence.labels)]
        return FoundText(record.id, record.text, record.labels, "test", "test")
    proposed = evidence.proposed(one.text)
    agreed = proposed is not None and evidence.columns[proposed] == one.answer
    return evidence.example(one.text, "example", (one.answer,) if agreed else None)


def _confusion(evidence: Evidence, one: MixUp[int]) -> Finding:
    key, other = one.pair
    first, second = evidence.name(key), evidence.name(other)
    n, (low, high) = len(one.wrong), sorted(one.pair)
    n_first = n - one.n_back
    ways = f"{counted(n_first, 'text')} of the first {'is' if n_first == 1 else 'are'} answered as"
    back = f", {one.n_back:,} the other way round" if one.n_back else ""
    return Finding(
        id=f"confusion:{low}:{high}",
        kind="confusion",
        title=f"{first} and {second}",
        why=(
            f"{ways} the second{back}: {one.measure}. "
            "More labels on their border teach the difference."
        ),
        figure=float(n),
        measure=one.measure,
        texts=tuple(_text_of(evidence, wrong) for wrong in one.wrong[:_SHOWN]),
        remedies=(
            KEEP_BOTH,
            Remedy(f"Merge {first} into {second}", Repair("merge", intent=key, value=other)),
            Remedy(f"Merge {second} into {first}", Repair("merge", intent=other, value=key)),
        ),
        intents=one.pair,
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
    # Of several intents that a text has, the best one wins: that says nothing against the others.
    won = evidence.held_out[rows].argmax(1).tolist()
    rival = _absorbing(evidence, one, won) if evidence.single else ""
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
    ids = tuple(evidence.exemplars[row].id for row in part)
    texts = [evidence.example(row, "wrong answer") for row in drawn[: _SHOWN // 2].tolist()]
    texts += [evidence.example(row, "would be split off") for row in part[: _SHOWN // 2]]
    split = Remedy(
        f"Split {len(ids):,} off …",
        Repair("split", ids, intent=key, value=f"{evidence.names.get(key, '')} 2".strip()),
        "name",
    )
    return Finding(
        id=f"overgrown:{key}",
        kind="overgrown",
        title=f"{name} answers {others}",
        why=(
            f"It has {counted(one.examples, 'example')}, and {others} would be answered with it. "
            "Perhaps split it."
        ),
        figure=float(len(drawn)),
        measure=f"answers {len(drawn):,}",
        texts=tuple(texts),
        remedies=(KEEP, split) if ids else (KEEP,),
        intents=(key,),
    )


def _smaller_part(evidence: Evidence, rows: NDArray[np.int64]) -> list[int]:
    """Return the smaller of two groups of an intent's examples; none if there are too few."""
    groups = find_groups(evidence.head.exemplars[rows], 2)
    return [] if groups is None else rows[groups.of == groups.of.max()].tolist()


def busiest(evidence: Evidence, pool: Pool | None) -> tuple[str, str]:
    """Return the pair of intents with most unclear texts between them; "" twice without any."""
    named = [column for column, key in enumerate(evidence.columns) if key]
    _, scores = _scored(evidence, pool)
    found = busiest_border(scores[:, named], _CLEAR)
    first, second = ("", "") if found is None else (evidence.columns[named[at]] for at in found)
    return first, second


def border(
    evidence: Evidence, pool: Pool | None, pair: tuple[str, str], settled: Collection[str] = ()
) -> Border:
    """Return examples, test texts and unlabelled texts between two intents.

    The texts by which the two are mixed up are all among them. `settled` are ids of findings.
    """
    first, second = (evidence.columns.index(key) for key in pair)
    texts, scores = _scored(evidence, pool)
    mixed = next((one for one in _mixed_up(evidence) if set(one.pair) == set(pair)), None)
    answers = {one.text: one.answer for one in mixed.wrong} if mixed else {}
    walk = border_walk(scores, first, second, sorted(answers))
    steps = list[Step]()
    for row, lead in zip(walk.rows.tolist(), walk.leads.tolist(), strict=True):
        key = _border_id(pair, texts[row])
        steps.append(Step(texts[row], lead, answers.get(row, ""), key, key in settled))
    measure = "" if mixed is None else mixed.measure
    return Border(*pair, tuple(steps), measure, walk.left_out)


def _scored(evidence: Evidence, pool: Pool | None) -> tuple[list[FoundText], ScoreArray]:
    """Return examples, test texts and unlabelled texts, and their scores, (n, intents)."""
    texts = [evidence.example(row, "example") for row in range(len(evidence.labels))]
    scores = [evidence.held_out]
    texts += [FoundText(r.id, r.text, r.labels, r.split, "test") for r in evidence.tests]
    scores.append(evidence.head.scores(evidence.test_rows))
    if pool is not None and pool.live.version.id == evidence.version.id:
        limits = pool.live.pipeline.calibration.limits(pool.margins.shape[1])
        wide = evidence.held_out.shape[1]
        if pool.margins.shape[1] == wide:
            scores.append(pool.margins + limits)
            texts += [FoundText(r.id, r.text, None, r.split) for r in pool.records]
    return texts, np.concatenate(scores)


def _border_id(pair: tuple[str, str], text: FoundText) -> str:
    """Return the id of the finding that a labelled text lies at a border; it names the label."""
    if text.intents is None:
        return ""
    return ":".join(("border", *sorted(pair), text.id, ",".join(sorted(text.intents))))
