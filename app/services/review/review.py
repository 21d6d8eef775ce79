"""The review of a project: a list of findings, computed from the live model."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from app.services.cache import Belongs, of_version
from app.services.live.live_model import LiveModel
from app.services.live.live_studio import LiveStudio, open_live
from app.services.live.pool import Pool, doubts_of
from app.services.live.row_answers import echoed_ids
from app.services.review.beside_pool import beside_pool
from app.services.review.disagreements import two_answers
from app.services.review.effects import truly_greedy, weighed
from app.services.review.evidence.beyond import with_others
from app.services.review.evidence.gathering import evidence_of
from app.services.review.evidence.held import HeldExamples, held_examples
from app.services.review.examples import greedy, likely_errors, same_texts
from app.services.review.findings import KEEP, KINDS, Finding, FoundText, Kind, Remedy, quoted
from app.services.review.intents import Border, border, busiest, confusions, ill_intents
from app.services.review.names import misleading_names, misled_by_names
from app.services.review.notes import notes_on
from app.services.review.proposals.asked import proposed_changes
from app.services.review.proposals.once import asked_once
from app.services.review.same_texts.copies import Copies, copies_of
from app.services.review.same_texts.tested import tested_examples
from app.services.what_if.repairs import Repair
from app.services.what_if.watched_texts import WatchedTextCache
from core.errors import NotFound
from core.heads.mixture import without_names
from core.heads.votes.fit import VoteHead
from core.review.next_labels import next_labels
from core.text import counted, label_words, percent
from core.types import Task
from storage import projects
from storage.log import events, settled_findings
from storage.queries import dataset, utterances
from storage.queries.utterances import Page
from storage.records import ProjectRecord

_FIRST = Page(0, 100)
_WAITING = 1_000
_NEXT = 10
_BYTES_A_FINDING = 3_000


@dataclass(frozen=True, slots=True)
class Review:
    """Findings of a project, counts of open ones, and notes on what was not reviewed.

    `effects` is whether the unlabelled texts that stand beside findings are read, and the effects
    of remedies can be computed now, or never can; otherwise they follow soon.
    `recounted` findings are left out until they are counted again, because an act has changed one
    of their texts or intents since; `counts` leave them out, too.
    `copies`, and `alike`, nearly the same texts, are told where the kind `duplicate` is asked for.
    """

    counts: dict[Kind, int]
    findings: tuple[Finding, ...]
    revision: int
    notes: tuple[str, ...]
    effects: bool = True
    recounted: int = 0
    copies: Copies | None = None
    alike: Copies | None = None


@dataclass(frozen=True, slots=True)
class _Reviewed:
    """Findings about the examples, and of how many of these the labels were judged."""

    findings: tuple[Finding, ...]
    judged: int


def review(
    live_studio: LiveStudio,
    project: str,
    kind: Kind | None = None,
    page: Page = _FIRST,
    watched_texts: WatchedTextCache | None = None,
    seen: Sequence[str] = (),
) -> Review:
    """List open findings, the most harmful kinds first; None: all kinds but `doubt`.

    Findings with the ids `seen` come before all others, in that order: a list stays in the order
    in which somebody works through it.
    `watched_texts` are the server's, which keep what effects are computed with between requests.

    Raises:
        InvalidInput: There are too many examples to fit votes for the review.
        NotFound: There is no such project, or it has no model.
    """
    record, live = open_live(live_studio, project)
    watched_texts = watched_texts or WatchedTextCache(live_studio)
    is_reading = live_studio.pools.settled(record.id)[1]
    pool = live_studio.pools.get(record.id)
    ready = not live.joins or watched_texts.is_ready(record)
    if not ready:
        watched_texts.prepare(record.id)
    held = held_examples(live)
    found = _findings(live_studio, record, live, held)
    every = [
        *two_answers(live_studio.studio, record),
        *proposed_changes(live_studio.studio, record),
        *found.findings,
        *_next_labels(live_studio, record, pool),
    ]
    open_, recounted = _standing(live_studio, record, live, every)
    greedy = [f for f in open_ if f.kind == "greedy"]
    harmful = {f.id for f in truly_greedy(watched_texts, record, greedy)}
    open_ = asked_once([f for f in open_ if f.kind != "greedy" or f.id in harmful], live)
    counts = {one: sum(f.kind == one for f in open_) for one in KINDS}
    same = open_ if kind == "duplicate" else ()
    copies = copies_of(live_studio.studio, record, same, live.revision)
    asked = [f for f in open_ if f.kind == kind or (kind is None and f.kind != "doubt")]
    place = {key: at for at, key in enumerate(seen)}
    asked.sort(key=lambda finding: place.get(finding.id, len(place)))
    asked = asked[page.offset : page.offset + page.limit]
    if len(held.rows) and pool is not None and pool.live.version.id == live.version.id:
        evidence = evidence_of(live_studio, record, live, held)
        asked = beside_pool(live_studio.studio, evidence, pool, asked)
    shown = tuple(weighed(watched_texts, record, asked))
    again = (f"{counted(recounted, 'finding')} of changed texts are being counted again.",)
    notes = (again if recounted else ()) + notes_on(live, held, found.judged, pool, ready=ready)
    return Review(counts, shown, live.revision, notes, ready and not is_reading, recounted, *copies)


def _standing(
    live_studio: LiveStudio, project: ProjectRecord, live: LiveModel, every: Sequence[Finding]
) -> tuple[list[Finding], int]:
    """Return the open findings, and how many are left out because an act has changed them since.

    The labels of a large set join in a thread, so a finding may be older than an act on its text.
    """
    with live_studio.studio.database.read() as connection:
        done = settled_findings.settled(connection, project.id)
        ids = [f.texts[0].id for f in every if _waits(f)]
        left = utterances.waiting(connection, project.id, ids)
        touched = events.touched_since(connection, project.id, live.revision)
    open_ = [f for f in every if f.id not in done and (not _waits(f) or f.texts[0].id in left)]
    standing = [f for f in open_ if not _is_touched(f, touched)]
    return standing, len(open_) - len(standing)


def _is_touched(finding: Finding, touched: set[tuple[str, str]]) -> bool:
    """Whether a text or an intent of a finding is among `touched`, (subject, id) of changes."""
    return any(("utterance", text.id) in touched for text in finding.texts) or any(
        ("intent", key) in touched for key in finding.intents
    )


def _waits(finding: Finding) -> bool:
    return finding.kind == "next"


def wait_for_pool(live_studio: LiveStudio, project: str) -> None:
    """Wait until unlabelled texts are embedded; only commands may wait, not pages."""
    with live_studio.studio.database.read() as connection:
        record = projects.find(connection, project)
    live_studio.pools.wait(record.id)


def walk(live_studio: LiveStudio, project: str, first: str, second: str) -> Border:
    """Return the texts along the border of two intents, given by id; "" twice: the busiest one.

    Raises:
        NotFound: There is no model, or it does not know an intent, or no example of the project.
    """
    record, live = open_live(live_studio, project)
    held = held_examples(live)
    if not len(held.rows):
        version = live.version.number
        raise NotFound(f"Version {version} has learned no example of this project.", "Train anew.")
    evidence = evidence_of(live_studio, record, live, held)
    pool = live_studio.pools.get(record.id)
    pair = (first, second) if first or second else busiest(evidence, pool)
    for key in pair:
        if key not in evidence.columns:
            raise NotFound("The model does not know that intent.", "Label some texts with it.")
    with live_studio.studio.database.read() as connection:
        done = settled_findings.settled(connection, record.id)
    counting = live_studio.pools.settled(record.id)[1]
    found = border(evidence, pool, pair, done)
    # The pool is evaluated again some seconds after a label: until then it holds the text.
    asked = [step.text.id for step in found.steps if step.text.intents is None]
    with live_studio.studio.database.read() as connection:
        still = utterances.waiting(connection, record.id, asked)
    steps = (one for one in found.steps if one.text.intents is not None or one.text.id in still)
    return replace(found, steps=tuple(steps), counting=counting, revision=live.revision)


def _findings(
    live_studio: LiveStudio, project: ProjectRecord, live: LiveModel, held: HeldExamples
) -> _Reviewed:
    """Return all findings but the next labels, computed once for each revision and limit."""

    def make() -> _Reviewed:
        names = _misleading(live_studio, project)
        if not len(held.rows):
            return _Reviewed(tuple(names), 0)
        evidence = evidence_of(live_studio, project, live, held)
        judged = with_others(live_studio, live, evidence, held)
        every = (
            *same_texts(evidence),
            *tested_examples(evidence),
            *likely_errors(judged),
            *greedy(evidence),
            *confusions(evidence),
            *ill_intents(evidence),
            *names,
        )
        found = sorted(every, key=lambda finding: KINDS.index(finding.kind))
        return _Reviewed(tuple(found), len(judged.exemplars))

    *of, moment = _findings_key(project, live)
    return live_studio.studio.cache.get_newest(
        tuple(of), moment, make, lambda made: _BYTES_A_FINDING * (1 + len(made.findings))
    )


def _findings_key(
    project: ProjectRecord, live: LiveModel
) -> tuple[str, Belongs, tuple[int, str, bool]]:
    moment = (live.revision, repr(project.fence), bool(echoed_ids(live)))
    return ("findings", of_version(live.version), moment)


def known_label_errors(
    live_studio: LiveStudio, project: ProjectRecord, live: LiveModel
) -> int | None:
    """Count the open likely label errors if the findings of now were computed; never computes."""
    if live.revision != project.head_revision:
        return None
    made: _Reviewed | None = live_studio.studio.cache.peek(_findings_key(project, live))
    if made is None:
        return None
    with live_studio.studio.database.read() as connection:
        done = settled_findings.settled(connection, project.id)
    every = [*proposed_changes(live_studio.studio, project), *made.findings]
    open_ = asked_once([finding for finding in every if finding.id not in done], live)
    return sum(finding.kind == "label" for finding in open_)


def _misleading(live_studio: LiveStudio, project: ProjectRecord) -> list[Finding]:
    if project.task == "multi-label":  # with several labels, such words may belong to another label
        return []
    with live_studio.studio.database.read() as connection:
        by_intent = misled_by_names(connection, project.id)
        intents = dataset.open_intents(connection, project.id)
        sizes = utterances.counts(connection, project.id).by_intent
    return misleading_names(by_intent, intents, sizes)


def _next_labels(
    live_studio: LiveStudio, project: ProjectRecord, pool: Pool | None
) -> list[Finding]:
    if pool is None or not pool.records:
        return []
    head = without_names(pool.live.pipeline.head)
    if not isinstance(head, VoteHead):
        return []
    return live_studio.studio.cache.get_newest(
        ("next", of_version(pool.live.version)),
        (pool.live.revision, pool.records[0].id, pool.outside.tobytes()),
        lambda: _worth_a_label(live_studio, project, pool, head),
        lambda made: _BYTES_A_FINDING * len(made),
    )


def _worth_a_label(
    live_studio: LiveStudio, project: ProjectRecord, pool: Pool, head: VoteHead
) -> list[Finding]:
    doubts = doubts_of(pool)
    rows = np.argsort(-doubts, kind="stable")[:_WAITING]
    ranking = next_labels(pool.embeddings[rows], doubts[rows], head.tau, head.ridge, _NEXT)
    with live_studio.studio.database.read() as connection:
        names = dataset.intent_names(connection, project.id)
    named = {key: quoted(name) for key, name in names.items()}
    return [_next(pool, int(rows[label.row]), label.settles, named) for label in ranking]


def _next(pool: Pool, row: int, settles: float, names: dict[str, str]) -> Finding:
    record = pool.records[row]
    is_multi = pool.task == "multi-label"
    labels, reason = (_sets if is_multi else _likeliest)(pool, row, names)
    remedies = [
        Remedy(f"Label it {_said(label, names, pool.task)}", Repair("relabel", (record.id,), label))
        for label in labels
    ]
    also = _helped(settles)
    other = Remedy("Another label …", Repair("relabel", (record.id,)), "intent")
    return Finding(
        id=f"next:{record.id}",
        kind="next",
        title="Helps most to label",
        why=reason + (also and f" A label also helps {also}."),
        figure=settles,
        measure=f"helps {also or 'this text'}",
        texts=(FoundText(record.id, record.text, None, record.split),),
        remedies=(*remedies, other, replace(KEEP, words="Skip")),
        intents=tuple(dict.fromkeys(key for label in labels for key in label)),
    )


def _said(label: Sequence[str], names: dict[str, str], task: Task) -> str:
    return label_words([names.get(key, quoted("?")) for key in label], task)


def _likeliest(pool: Pool, row: int, names: dict[str, str]) -> tuple[list[tuple[str, ...]], str]:
    """Return the intents that a text may get, and why it is open; a refused one has no share."""
    order = np.argsort(-pool.probabilities[row], kind="stable").tolist()
    columns = [column for column in order if pool.live.columns[column]][:3]
    labels: list[tuple[str, ...]] = [(pool.live.columns[column],) for column in columns]
    said = [_said(label, names, pool.task) for label in labels]
    if not pool.outside[row]:
        parts = zip(said, pool.probabilities[row][columns], strict=True)
        told = ", ".join(f"{name} {percent(p)}" for name, p in parts)
        return labels, f"The model is unsure: {told}."
    answer = "The model refuses it."
    why = f"{answer} Closest: {said[0]}, but too unlike its examples." if said else answer
    return labels, why


def _sets(pool: Pool, row: int, names: dict[str, str]) -> tuple[list[tuple[str, ...]], str]:
    """Return the set that a text is answered with, the same but for its open intent, and why."""
    columns, shares = pool.live.columns, pool.probabilities[row]
    taken = {key for key, m in zip(columns, pool.margins[row], strict=True) if key and m >= 0.0}
    answer = _in_order(taken, names)
    said = f"The model answers {_said(answer, names, pool.task)}."
    if not any(columns):
        return [answer], said
    open_ = max((c for c, key in enumerate(columns) if key), key=lambda c: -abs(shares[c] - 0.5))
    key = columns[open_]
    unsure = f"It is unsure of {_said((key,), names, pool.task)}: {percent(shares[open_])}."
    return [answer, _in_order(taken ^ {key}, names)], f"{said} {unsure}"


def _in_order(label: set[str], names: dict[str, str]) -> tuple[str, ...]:
    return tuple(sorted(label, key=lambda key: names.get(key, "")))


def _helped(settles: float) -> str:
    """Say how many texts a label helps besides its own; "" if none. It settles `settles` doubts."""
    n = round(settles) - 1
    return f"about {counted(n, 'similar text')}" if n > 0 else ""
