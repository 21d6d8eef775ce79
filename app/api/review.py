"""Routes of the review: findings, repairs with their effects, and undo."""

from typing import Annotated

from fastapi import Depends, Query

from app.api.http.bodies import ActBody, FenceBody, UndoBody, WhatIfBody
from app.api.http.labelling_bodies import FenceChangeBody, ProposalsBody
from app.api.http.routers import rest_router
from app.api.http.server_state import IN_TURN, Live, OpenStudio, WatchedTexts
from app.services.data.history import undo_action
from app.services.review import findings
from app.services.review import intents as confusions
from app.services.review import review as reviewing
from app.services.review.fence import preview_fence, save_fence
from app.services.review.fence_views import FenceView
from app.services.review.groups import IntentGroups, propose_groups
from app.services.review.proposals import proposing
from app.services.review.proposals.accepting import act_on_finding
from app.services.trying.pins import PinHistory, load_pin_history
from app.services.what_if import preview, repairs, views
from storage.queries.utterances import Page

router = rest_router("review")


async def _page(
    offset: Annotated[int, Query(ge=0, le=100_000)] = 0,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
) -> Page:
    return Page(offset, limit)


@router.get("/projects/{project}/review", dependencies=[IN_TURN])
def review(
    live_studio: Live,
    watched_texts: WatchedTexts,
    project: str,
    page: Annotated[Page, Depends(_page)],
    kind: findings.Kind | None = None,
    seen: Annotated[list[str] | None, Query(max_length=500)] = None,
) -> reviewing.Review:
    """List the findings that are not settled; the effects of their repairs are prepared.

    Findings with the ids `seen` come first, in that order.
    """
    view = reviewing.review(live_studio, project, kind, page, watched_texts, seen or ())
    preview.prepare(watched_texts, project)
    return view


@router.post("/projects/{project}/review/what-if")
def what_if(watched_texts: WatchedTexts, project: str, body: WhatIfBody) -> list[views.Blast]:
    """Return whose answers each repair would change; nothing is saved."""
    return preview.preview(watched_texts, project, [repair.read() for repair in body.repairs])


@router.post("/projects/{project}/review/act")
def act(studio: OpenStudio, project: str, body: ActBody) -> dict[str, str]:
    """Apply a repair, or dismiss the finding."""
    if body.repair is None:
        repairs.keep_finding(studio, project, body.finding, body.key)
    else:
        repair = body.repair.read()
        act_on_finding(studio, project, repair, body.key, body.finding, seen=body.seen)
    return {"key": body.key}


@router.post("/projects/{project}/review/undo")
def undo(studio: OpenStudio, project: str, body: UndoBody) -> dict[str, str]:
    """Undo a repair or a dismissal."""
    undo_action(studio, project, body.key)
    return {"key": body.key}


@router.get("/projects/{project}/proposals")
def proposals(studio: OpenStudio, project: str) -> tuple[proposing.ProposalView, ...]:
    """List what programs and people proposed, the oldest first, and what became of it."""
    return proposing.list_proposals(studio, project)


@router.post("/projects/{project}/proposals")
def propose(
    studio: OpenStudio, project: str, body: ProposalsBody
) -> tuple[proposing.ProposalView, ...]:
    """Propose changes; each waits until a person accepts or declines it on the Review page.

    It may be repeated: what waits or was decided already is told, and not asked again.
    """
    return proposing.propose(studio, project, body.by, body.read())


@router.get("/projects/{project}/review/border")
def border(live_studio: Live, project: str, first: str = "", second: str = "") -> confusions.Border:
    """Return texts from the clearest of one intent to the clearest of another, by intent ids.

    Without both, they are the two with most unclear texts between them.
    """
    return reviewing.walk(live_studio, project, first, second)


@router.get("/projects/{project}/review/groups")
def groups(
    live_studio: Live,
    project: str,
    intent: str,
    k: Annotated[int | None, Query(ge=2, le=6)] = None,
) -> IntentGroups:
    """Propose how to split an intent, by its id, into `k` groups; nothing is saved."""
    return propose_groups(live_studio, project, intent, k)


@router.post("/projects/{project}/fence/what-if")
def fence(live_studio: Live, project: str, body: FenceBody | None = None) -> FenceView:
    """Return which texts a fence puts out of scope; without a body, by the saved fence."""
    return preview_fence(live_studio, project, None if body is None else body.read())


@router.put("/projects/{project}/fence", status_code=204)
def set_fence(live_studio: Live, project: str, body: FenceChangeBody) -> None:
    """Save the project's fence; an empty one uses the model's own limit."""
    setting = body.read() if body.model_fields_set - {"seen"} else None
    save_fence(live_studio, project, setting, None if body.seen is None else body.seen.read())


@router.get("/projects/{project}/pins/history")
def pin_history(live_studio: Live, project: str) -> list[PinHistory]:
    """List all pins, with the answer of every version to each."""
    return load_pin_history(live_studio, project)
