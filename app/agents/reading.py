"""The tools that only read."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from app.agents.answers import paged, place_of, shortened, shown, size_of, without_empty
from app.agents.changes import as_change
from app.services.data.intents import load_overview
from app.services.data.projects import list_projects
from app.services.data.utterances import load_page
from app.services.explaining import explain as explaining
from app.services.explaining.views import Explanation, IntentReason, Vote
from app.services.home.cards import next_of
from app.services.live.live_studio import LiveStudio
from app.services.reports.versions_now import compare_now
from app.services.review import review as reviewing
from app.services.review.findings import KINDS, Finding, FoundText, Kind, Remedy
from app.services.status import load_status
from app.services.trying.pins import load_pins
from app.services.trying.similar import find_similar
from app.services.versions import comparison
from app.services.versions.comparison_views import ModelComparison
from app.services.versions.registry import live_number, model_states, sides_of
from app.services.versions.verdict import advice_on
from app.services.what_if.watched_texts import WatchedTextCache
from core.errors import InvalidInput
from core.text import label_words
from core.types import Task
from storage import projects
from storage.queries import dataset
from storage.queries.utterances import Filter, LabelState, Page
from storage.records import UtteranceRecord

Where = Literal["", "unlabelled", "labelled", "out-of-scope", "flagged", "skipped", "test"]
_STATES: dict[str, LabelState] = {name: name for name in get_args(LabelState)}
_PAGE = 40
_TEXTS_OF_FINDING = 4
_REMEDIES = 5
_LONGEST_CHANGE = 400
"""Bytes of a change beside its words; a longer one is read in the studio."""
_MOST_SIMILAR = 200


@dataclass(frozen=True, slots=True)
class WantedTexts:
    """Which texts to find: those with `text` in them, or those that mean about the same as `like`.

    `intent` is a name.
    """

    text: str = ""
    like: str = ""
    intent: str = ""
    where: Where = ""


def every_project(live_studio: LiveStudio, cursor: str) -> dict[str, Any]:
    """List the projects."""
    found, start = list_projects(live_studio.studio), place_of(cursor)
    items = [
        without_empty(
            {
                "project": one.name,
                "task": one.task,
                "texts": one.utterances,
                "labelled": one.labelled,
                "intents": one.intents,
                "model": one.champion,
            }
        )
        for one in found[start : start + _PAGE]
    ]
    return paged({}, "projects", items, start, len(found))


def overview(live_studio: LiveStudio, project: str, cursor: str) -> dict[str, Any]:
    """Tell a project's state and list its intents."""
    studio, start = live_studio.studio, place_of(cursor)
    status, step = load_status(live_studio, project), next_of(live_studio, project)
    counts, every = load_overview(studio, project)
    intents = [one for one in every if not one.archived]
    items = [
        without_empty(
            {
                "intent": one.name,
                "description": shown(one.description),
                "texts": one.utterances,
                "of_these_tests": one.tests,
            }
        )
        for one in intents[start : start + 4 * _PAGE]
    ]
    head = {
        "project": project,
        "task": status.task,
        "texts": {
            "all": counts.total,
            "labelled": counts.labelled,
            "unlabelled": counts.unlabelled,
            "out_of_scope": counts.out_of_scope,
            "tests": counts.by_split.get("test", 0),
        },
        "model": _model_of(live_studio, project),
        "accuracy": _rounded(status.accuracy if status.now is None else status.now.share),
        "judged_on": status.measured_on if status.now is None else status.now.measured_on,
        "not_tested": "" if status.verdict is None else status.verdict.gap,
        "labels_since_training": status.hot,
        "running": None if status.job is None else f"{status.job.kind} {status.job.id}",
        "do_next": f"{step.action}. {step.reason}",
    }
    return paged(without_empty(head), "intents", items, start, len(intents))


def _rounded(share: float | None) -> float | None:
    return None if share is None else round(share, 4)


def _model_of(live_studio: LiveStudio, project: str) -> dict[str, Any]:
    number = live_number(live_studio.studio, project)
    states = model_states(live_studio.studio, project)
    waiting = [str(key) for key, state in states.items() if state == "candidate"]
    return without_empty({"in_use": number, "candidates": waiting[-5:]})


def find_texts(
    live_studio: LiveStudio, project: str, wanted: WantedTexts, cursor: str
) -> dict[str, Any]:
    """List the texts that fit."""
    start = place_of(cursor)
    with live_studio.studio.database.read() as connection:
        record = projects.find(connection, project)
        names = dataset.intent_names(connection, record.id)
        intent = None
        if wanted.intent:
            intent = dataset.intent_named(connection, record.id, wanted.intent).id
    if wanted.like:
        found, total = _similar(live_studio, project, wanted, start)
    else:
        split = "test" if wanted.where == "test" else None
        which = Filter(wanted.text, intent, split, _STATES.get(wanted.where))
        page = load_page(live_studio.studio, project, which, "oldest", Page(start, _PAGE))
        found, total = [(row, None) for row in page.rows], page.total
    items = [_text(row, names, record.task, cosine) for row, cosine in found]
    return paged({}, "texts", items, start, total)


def _similar(
    live_studio: LiveStudio, project: str, wanted: WantedTexts, start: int
) -> tuple[list[tuple[UtteranceRecord, float | None]], int]:
    if wanted.text or wanted.intent or wanted.where not in ("", "labelled", "unlabelled"):
        raise InvalidInput(
            "Texts like another one are looked for among the examples or the unlabelled texts.",
            "Leave out `text` and `intent`, and use where=labelled or where=unlabelled.",
        )
    unlabelled = wanted.where == "unlabelled"
    near = find_similar(live_studio, project, [wanted.like], _MOST_SIMILAR, unlabelled=unlabelled)
    return [(one.record, one.cosine) for one in near[start : start + _PAGE]], len(near)


def _text(
    row: UtteranceRecord, names: Mapping[str, str], task: Task, cosine: float | None = None
) -> dict[str, Any]:
    found = {"id": row.id, "text": shown(row.text), "label": _label(row.labels, names, task)}
    found |= {"set": row.split, "flagged": shown(row.flagged)}
    return without_empty({**found, "cosine": _rounded(cosine)})


def _label(labels: tuple[str, ...] | None, names: Mapping[str, str], task: Task) -> str | None:
    if labels is None:
        return None
    return label_words(sorted(names.get(key, "?") for key in labels), task)


def explain(live_studio: LiveStudio, project: str, text: str, against: str) -> dict[str, Any]:
    """Say why a text gets its answer, with the votes of its examples."""
    found = explaining.explain(live_studio, project, text, None, against or None)
    return shortened(lambda n: _explained(found, n), (6, 4, 2, 1))


def _explained(found: Explanation, n: int) -> dict[str, Any]:
    return without_empty(
        {
            "model": found.model,
            "answer": label_words(found.answer, found.task),
            "probability": round(found.confidence, 4),
            "rule": found.rule,
            "sentence": shown(found.sentence),
            "scope": shown(found.scope.words),
            "ranked": [
                {"intent": one.intent, "score": round(one.score, 4)} for one in found.ranked[:5]
            ],
            "reasons": [_reason(reason, n) for reason in found.reasons[:3]],
            "why_not": None if found.why_not is None else shown(found.why_not.words),
            "notes": [shown(note) for note in found.notes[:n]],
        }
    )


def _reason(reason: IntentReason, n: int) -> dict[str, Any]:
    votes = [_vote(vote) for vote in reason.votes[:n]]
    rest = sum(vote.vote for vote in reason.votes[n:]) + reason.others
    return without_empty(
        {
            "intent": reason.intent,
            "score": round(reason.score, 4),
            "votes": votes,
            "votes_of_others": round(rest, 4),
            "prior": round(reason.prior, 4),
            "name": round(reason.voice, 4),
            "load_bearing": "" if reason.load_bearing is None else shown(reason.load_bearing.words),
        }
    )


def _vote(vote: Vote) -> dict[str, Any]:
    return without_empty(
        {
            "vote": round(vote.vote, 4),
            "text": shown(vote.example.text),
            "examples_that_say_the_same": len(vote.twins),
            "label": " and ".join(vote.example.intents) or "no intent",
            "id": vote.example.id,
            "cosine": round(vote.cosine, 3),
            "labelled_by": None if vote.origin is None else vote.origin.by,
        }
    )


def findings(
    live_studio: LiveStudio, watched: WatchedTextCache, project: str, kind: str, cursor: str
) -> dict[str, Any]:
    """List what looks wrong in the data, the most harmful first."""
    known: dict[str, Kind] = {one: one for one in KINDS}
    if kind and kind not in known:
        raise InvalidInput(f"There is no kind '{kind[:40]}'.", f"Use {', '.join(KINDS)}.")
    start = place_of(cursor)
    page = Page(start, _PAGE)
    found = reviewing.review(live_studio, project, known.get(kind), page, watched)
    with live_studio.studio.database.read() as connection:
        record = projects.find(connection, project)
        names = dataset.intent_names(connection, record.id)
    counts: dict[str, int] = {name: n for name, n in found.counts.items() if n}
    total = counts.get(kind, 0) if kind else sum(n for k, n in counts.items() if k != "doubt")
    items = [_finding(one, names, record.task) for one in found.findings]
    head = without_empty({"open": counts, "notes": list(found.notes)})
    return paged(head, "findings", items, start, total)


def _finding(found: Finding, names: Mapping[str, str], task: Task) -> dict[str, Any]:
    texts = [_found_text(one, names, task) for one in found.texts[:_TEXTS_OF_FINDING]]
    remedies = [one for one in found.remedies if one.repair]
    return without_empty(
        {
            "kind": found.kind,
            "title": shown(found.title),
            "why": shown(found.why),
            "intents": [names.get(key, "?") for key in found.intents[:_TEXTS_OF_FINDING]],
            "texts": texts,
            "more_texts": max(0, len(found.texts) - len(texts)) or None,
            "remedies": [_remedy(one, names) for one in remedies[:_REMEDIES]],
        }
    )


def _found_text(one: FoundText, names: Mapping[str, str], task: Task) -> dict[str, Any]:
    found = {"id": one.id, "text": shown(one.text), "label": _label(one.intents, names, task)}
    return without_empty({**found, "set": one.place, "note": one.note})


def _remedy(remedy: Remedy, names: Mapping[str, str]) -> dict[str, Any]:
    effect = remedy.effect
    change = None
    if remedy.repair is not None and not remedy.asks:
        change = as_change(remedy.repair, names)
    if size_of(change) > _LONGEST_CHANGE:
        change = None
    told: dict[str, Any] = {"do": shown(remedy.words), "change": change}
    told |= {} if effect is None else {"mends": effect.mends, "breaks": effect.breaks}
    return without_empty(told)


def pins(live_studio: LiveStudio, project: str, cursor: str) -> dict[str, Any]:
    """List the promised answers, and whether they are kept."""
    found, start = load_pins(live_studio, project), place_of(cursor)
    found.sort(key=lambda one: one.kept is not False)
    items = [
        without_empty(
            {
                "text": shown(one.text),
                "expected": one.expected,
                "answer": one.answer,
                "kept": one.kept,
                "stale": one.stale or None,
            }
        )
        for one in found[start : start + _PAGE]
    ]
    head = {"broken": sum(one.kept is False for one in found)}
    return paged(head, "pins", items, start, len(found))


def compare(
    live_studio: LiveStudio, project: str, candidate: int, champion: int | None, cursor: str
) -> dict[str, Any]:
    """Compare two versions; the answers that differ are listed, those that break first."""
    found, start = compare_now(live_studio, project, candidate, champion), place_of(cursor)
    older = int(found.champion.rpartition("@")[2])
    sides = sides_of(live_studio.studio, project, candidate, older)
    advice = advice_on(found, sides)
    changed = [one for one in found.answers if one.changed]
    order = {"broken": 0, "fixed": 1, "other": 2}
    changed.sort(key=lambda one: order[one.verdict])
    items = [
        {
            "text": shown(one.text),
            "label": label_words(one.expected, found.task),
            "before": label_words(one.before, found.task),
            "after": label_words(one.after, found.task),
            "verdict": one.verdict,
        }
        for one in changed[start : start + _PAGE]
    ]
    head = _compared(found) | {"advice": "" if advice is None else advice.words}
    return paged(without_empty(head), "changed_answers", items, start, len(changed))


def _compared(found: ModelComparison) -> dict[str, Any]:
    gate = comparison.gate(found)
    lost = [one for one in found.intents if one.change < 0][:5]
    return {
        "candidate": found.candidate,
        "champion": found.champion,
        "verdict": found.verdict,
        "outcome": found.outcome,
        "test_texts": found.n,
        "accuracy_before": _rounded(found.before),
        "accuracy_after": _rounded(found.after),
        "passes_the_gate": gate.promote,
        "reasons": [shown(reason) for reason in gate.reasons[:5]],
        "lost_most": [
            {"intent": one.intent, "before": round(one.before, 3), "after": round(one.after, 3)}
            for one in lost
        ],
        "broken_pins": [shown(one.text) for one in found.pins_of("broken")[:5]],
    }
