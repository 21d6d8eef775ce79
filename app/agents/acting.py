"""The tools that foretell, propose or start something; none of them changes a label or a model."""

from collections.abc import Sequence
from typing import Any

from app.agents.answers import paged, place_of, shortened, shown, without_empty
from app.agents.changes import AgentChange, AgentProposal
from app.services.review.proposals.outlook import outlook_on
from app.services.review.proposals.proposing import (
    ProposalView,
    ProposedChange,
    list_proposals,
)
from app.services.review.proposals.proposing import propose as store_proposals
from app.services.studio import Studio
from app.services.training.choices import training_choices
from app.services.training.jobs import JobView, job_view
from app.services.training.runs import TrainingRequest, start_training
from app.services.what_if.preview import preview
from app.services.what_if.views import Blast, Told
from app.services.what_if.watched_texts import WatchedTextCache
from core.errors import InvalidInput
from storage import projects
from storage.queries import dataset

_PAGE = 40
_NOT_SHOWN = "All are stored; the tool `proposals` lists the rest."
_UNTOLD: dict[Told, str] = {
    "later": "What it does to answers shows after the next training.",
    "nothing": "No answer changes.",
}


def what_if(
    watched: WatchedTextCache, project: str, changes: Sequence[AgentChange]
) -> dict[str, Any]:
    """Tell whose answers each change would change, on its own; nothing is saved."""
    studio, ids = watched.live_studio.studio, _intent_ids(watched.live_studio.studio, project)
    repairs = [change.read(ids) for change in changes]
    found = preview(watched, project, repairs)
    with studio.database.read() as connection:
        outlook = outlook_on(connection, projects.find(connection, project), repairs)
    words = [shown(outlook.words(one, outlook.named(one))) for one in repairs]
    told = list(zip(words, found, strict=True))
    return shortened(lambda n: {"effects": [_effect(*one, n) for one in told]}, (8, 4, 2, 1, 0))


def _effect(words: str, blast: Blast, n: int) -> dict[str, Any]:
    if blast.told in _UNTOLD:
        effect = {"change": words, "effect": _UNTOLD[blast.told], "texts": blast.touched[0]}
        return effect | _conflicts(blast, n)
    return {
        "change": words,
        "mends": blast.fixed,
        "breaks": blast.broken,
        "right_tests": {"of": blast.watched[1], "now": blast.right[0], "then": blast.right[1]},
        "unlabelled_answers_that_change": blast.pool,
    } | without_empty(
        {
            "pins_mended": [shown(text) for text in blast.pins_fixed[:n]],
            "pins_broken": [shown(text) for text in blast.pins_broken[:n]],
            "answers": [
                without_empty(
                    {
                        "text": shown(one.text),
                        "before": one.before,
                        "after": one.after,
                        "label": one.expected,
                        "verdict": one.verdict,
                    }
                )
                for one in blast.turns[:n]
            ],
        }
        | _conflicts(blast, n)
    )


def _conflicts(blast: Blast, n: int) -> dict[str, Any]:
    return without_empty({"conflicts": [shown(o.text) for o in blast.near[:n] if o.conflict]})


def propose(
    studio: Studio, project: str, by: str, wanted: Sequence[AgentProposal]
) -> dict[str, Any]:
    """Store changes as somebody's proposals, which wait in Review for a person."""
    ids = _intent_ids(studio, project)
    changes = [ProposedChange(one.read(ids), one.why) for one in wanted]
    found = store_proposals(studio, project, by, changes)
    says = "No label, text or intent has changed. A person decides on the Review page."
    told = paged({"says": says}, "proposals", [_proposal(one) for one in found], 0, len(found))
    if told.pop("next", None):  # this tool takes no cursor: a second call would propose again
        told["says"] = f"{says} {_NOT_SHOWN}"
    return told


def proposals(studio: Studio, project: str, cursor: str) -> dict[str, Any]:
    """List what was proposed and what became of it, the newest first."""
    found, start = list_proposals(studio, project)[::-1], place_of(cursor)
    items = [_proposal(one) for one in found[start : start + _PAGE]]
    waiting = sum(one.state == "waits" for one in found)
    return paged({"waiting": waiting}, "proposals", items, start, len(found))


def _proposal(one: ProposalView) -> dict[str, Any]:
    told = {"change": shown(one.change), "state": one.state, "by": one.by}
    return {**told, "why": shown(one.why), "at": one.at}


def forecast(studio: Studio, project: str) -> dict[str, Any]:
    """Tell what a training could be, and how long it would take."""
    found = training_choices(studio, project)
    choices = [
        without_empty(
            {
                "recipe": one.recipe,
                "name": one.name,
                "learns_from": one.learns_from,
                "time": one.time,
                "why_not": shown(one.why_not),
            }
        )
        for one in found.choices
        if one.makes == "model"
    ]
    return {"choices": choices}


def start(studio: Studio, project: str, recipe: str) -> dict[str, Any]:
    """Start a training whose version waits for a person, whatever it is like.

    Raises:
        InvalidInput: The recipe or the labels do not allow training.
        NotFound: There is no such project.
        TooManyJobs: Too many jobs wait.
    """
    choices = training_choices(studio, project)
    usable = [one for one in choices.choices if one.makes == "model" and not one.why_not]
    if not recipe and not usable:
        raise InvalidInput("Nothing can be trained yet.", "Label texts of two intents first.")
    chosen = recipe or next((one for one in usable if one.role == "best"), usable[0]).recipe
    job = start_training(studio, TrainingRequest(project, chosen, {}, gate=False))
    return {
        "job": job.id,
        "recipe": chosen,
        "says": "It goes on in the background. Ask again with this job. Its version answers nobody "
        "before a person uses it.",
    }


def follow(studio: Studio, project: str, job_id: str) -> dict[str, Any]:
    """Tell how far a training is."""
    job: JobView = job_view(studio, job_id)
    if job.project != project or job.kind != "train":
        raise InvalidInput(f"The job is no training of '{project}'.", "Name one that you started.")
    model = str(job.result.get("model", ""))
    return without_empty(
        {
            "job": job.id,
            "state": job.state,
            "progress": round(job.progress, 2),
            "stage": job.stage,
            "seconds_left": None if job.eta_seconds is None else round(job.eta_seconds),
            "message": shown(job.message),
            "hint": shown(job.hint),
            "version": int(model.rpartition("@")[2]) if model else None,
        }
    )


def _intent_ids(studio: Studio, project: str) -> dict[str, str]:
    with studio.database.read() as connection:
        record = projects.find(connection, project)
        found = dataset.open_intents(connection, record.id)
    return {one.name: key for key, one in found.items()}
