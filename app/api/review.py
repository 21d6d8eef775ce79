"""Routes of the review: findings, what a repair would do, doing it, and taking it back."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field

from app.api.http.bodies import Body
from app.api.http.server_state import Live, WatchedTexts
from app.services.review import fence as fencing
from app.services.review import findings
from app.services.review import intents as confusions
from app.services.review import review as reviewing
from app.services.trying import pin_history as history
from app.services.what_if import preview, views
from app.services.what_if import repairs as repairing
from app.services.what_if.repairs import Repair, RepairKind
from core.types import Method
from storage.queries.utterances import Page

router = APIRouter(tags=["review"])
_Id = Annotated[str, Field(max_length=200)]


class RepairBody(Body):
    """What somebody is about to do."""

    kind: RepairKind
    ids: tuple[_Id, ...] = Field(default=(), max_length=5_000)
    intents: tuple[_Id, ...] = Field(default=(), max_length=50)
    intent: _Id = ""
    value: str = Field(default="", max_length=20_000)

    def read(self) -> Repair:
        """The repair of the service."""
        return Repair(**self.model_dump())


class WhatIfBody(Body):
    """Repairs, each of which is judged alone."""

    repairs: list[RepairBody] = Field(min_length=1, max_length=10)


class ActBody(Body):
    """A repair that is done once under its key; without one the finding stays as it is."""

    key: str = Field(min_length=8, max_length=80)
    finding: str = Field(default="", max_length=2_000)
    repair: RepairBody | None = None


class UndoBody(Body):
    """The key of what is taken back."""

    key: str = Field(min_length=8, max_length=80)


class FenceBody(Body):
    """From where on a text is in scope; without a limit the model's own holds."""

    limit: float | None = None
    limits: dict[_Id, float] = Field(default_factory=dict, max_length=5_000)
    method: Method = "votes"

    def read(self) -> fencing.FenceSetting:
        """The setting of the service."""
        return fencing.FenceSetting(self.limit, self.limits, self.method)


@router.get("/projects/{project}/review")
def review(
    live_studio: Live,
    watched_texts: WatchedTexts,
    project: str,
    kind: findings.Kind | None = None,
    offset: Annotated[int, Query(ge=0, le=100_000)] = 0,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
) -> reviewing.Review:
    """What should be looked at, without what was settled; what repairs would do is prepared."""
    found = reviewing.review(live_studio, project, kind, Page(offset, limit))
    preview.prepare(watched_texts, project)
    return found


@router.post("/projects/{project}/review/what-if")
def what_if(watched_texts: WatchedTexts, project: str, body: WhatIfBody) -> list[views.Blast]:
    """Whose answers each repair would change; nothing is saved."""
    return preview.preview(watched_texts, project, [repair.read() for repair in body.repairs])


@router.post("/projects/{project}/review/act")
def act(live_studio: Live, project: str, body: ActBody) -> dict[str, str]:
    """Do a repair, or keep what was found as it is."""
    if body.repair is None:
        repairing.keep(live_studio.studio, project, body.finding, body.key)
    else:
        repairing.act(live_studio.studio, project, body.repair.read(), body.key, body.finding)
    return {"key": body.key}


@router.post("/projects/{project}/review/undo")
def undo(live_studio: Live, project: str, body: UndoBody) -> dict[str, str]:
    """Take a repair back, or that something was kept."""
    repairing.undo(live_studio.studio, project, body.key)
    return {"key": body.key}


@router.get("/projects/{project}/review/border")
def border(live_studio: Live, project: str, first: str, second: str) -> confusions.Border:
    """Texts from the clearest of one intent to the clearest of another, by their ids."""
    return reviewing.walk(live_studio, project, first, second)


@router.post("/projects/{project}/fence/what-if")
def fence(live_studio: Live, project: str, body: FenceBody | None = None) -> fencing.FenceView:
    """Who would be in scope and who out; without a body, what the standing fence does."""
    return fencing.look(live_studio, project, None if body is None else body.read())


@router.put("/projects/{project}/fence", status_code=204)
def set_fence(live_studio: Live, project: str, body: FenceBody) -> None:
    """Answer by a fence from now on; an empty one leaves it to the model."""
    fencing.save(live_studio, project, body.read())


@router.get("/projects/{project}/pins/history")
def pin_history(live_studio: Live, project: str) -> list[history.PinHistory]:
    """All pins, with what every version since has made of each."""
    return history.pin_history(live_studio, project)
