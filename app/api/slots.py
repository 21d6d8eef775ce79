"""Routes for values in utterances: slot book, marks, proposals, and augmentation."""

from typing import Annotated

from fastapi import Query

from app.api.http import schemas
from app.api.http.bodies import AcceptBody, AugmentBody, SlotRename
from app.api.http.routers import rest_router
from app.api.http.server_state import OpenStudio
from app.api.http.text_bodies import SeenMarkBody
from app.services.slots.augmentation import Augmented, add_synthetic, preview_augmentation
from app.services.slots.book import BookView, view_book
from app.services.slots.marking import (
    Accepted,
    Marked,
    UnmarkedText,
    accept_proposals,
    find_unmarked,
    load_marked,
    mark_slots,
    preview_proposals,
    rename_slot,
)

router = rest_router("slots")


@router.get("/projects/{project}/slots")
def book(
    studio: OpenStudio,
    project: str,
    text: Annotated[str, Query(max_length=200)] = "",
    most: Annotated[int, Query(ge=1, le=10_000)] = 50,
) -> BookView:
    """List the project's slots with their most frequent values that contain `text`."""
    return view_book(studio, project, text, most)


@router.get("/projects/{project}/slots/unmarked")
def unmarked(
    studio: OpenStudio,
    project: str,
    text: Annotated[str, Query(max_length=200)] = "",
    most: Annotated[int, Query(ge=1, le=500)] = 50,
) -> list[UnmarkedText]:
    """List texts without a marked value that contain all words of `text`, to mark them by hand."""
    return find_unmarked(studio, project, text, most)


@router.get("/projects/{project}/utterances/{utterance}/slots")
def marked(studio: OpenStudio, project: str, utterance: str) -> Marked:
    """Return an utterance's marked and proposed values."""
    return load_marked(studio, project, utterance)


@router.put("/projects/{project}/utterances/{utterance}/slots")
def mark(studio: OpenStudio, project: str, utterance: str, body: SeenMarkBody) -> Marked:
    """Replace all marked values of an utterance."""
    wanted, seen = body.read(), body.read_seen()
    return mark_slots(studio, project, utterance, wanted, body.key, seen=seen)


@router.post("/projects/{project}/slots/accept")
def accept(studio: OpenStudio, project: str, body: AcceptBody) -> Accepted:
    """Mark the proposed values, or only count them."""
    if body.preview:
        return preview_proposals(studio, project, body.read())
    return accept_proposals(studio, project, body.read(), body.key)


@router.post("/projects/{project}/slots/rename")
def rename(studio: OpenStudio, project: str, body: SlotRename) -> schemas.Changed:
    """Rename a slot everywhere, or merge it into another."""
    changed = rename_slot(studio, project, body.name, body.to, body.key)
    return schemas.Changed(changed)


@router.post("/projects/{project}/augmentation/preview")
def preview(studio: OpenStudio, project: str, body: AugmentBody) -> Augmented:
    """Preview the synthetic utterances that would be added."""
    return preview_augmentation(studio, project, body.read())


@router.post("/projects/{project}/augmentation")
def augment(studio: OpenStudio, project: str, body: AugmentBody) -> Augmented:
    """Add synthetic utterances to the training split, as one action."""
    return add_synthetic(studio, project, body.read(), body.key)
