"""Routes about values in utterances: the slot book, marks, proposals, and augmentation."""

from typing import Annotated

from fastapi import APIRouter, Query

from app.api.http import schemas
from app.api.http.bodies import AcceptBody, AugmentBody, MarkBody, SlotRename
from app.api.http.server_state import Live
from app.services.slots import augmentation, marking
from app.services.slots import book as slot_books
from app.services.slots.augmentation import Augmented, Wish
from app.services.slots.marking import Accepted, Marked
from core.templates.slots import Slot

router = APIRouter(tags=["slots"])


@router.get("/projects/{project}/slots")
def book(
    live_studio: Live,
    project: str,
    text: Annotated[str, Query(max_length=200)] = "",
    most: Annotated[int, Query(ge=1, le=10_000)] = 50,
) -> slot_books.BookView:
    """The project's slots with their most frequent values, perhaps those with a text in them."""
    return slot_books.view_book(live_studio.studio, project, text, most)


@router.get("/projects/{project}/utterances/{utterance}/slots")
def marked(live_studio: Live, project: str, utterance: str) -> Marked:
    """What is marked in an utterance, and what may be."""
    return marking.marked(live_studio.studio, project, utterance)


@router.put("/projects/{project}/utterances/{utterance}/slots")
def mark(live_studio: Live, project: str, utterance: str, body: MarkBody) -> Marked:
    """Mark the values of an utterance, all of them."""
    slots = [Slot(one.start, one.end, one.name) for one in body.slots]
    return marking.mark(live_studio.studio, project, utterance, slots, body.key)


@router.post("/projects/{project}/slots/accept")
def accept(live_studio: Live, project: str, body: AcceptBody) -> Accepted:
    """Mark what is proposed, or only tell how much that is."""
    return marking.accept(
        live_studio.studio,
        project,
        body.utterances,
        noisy=body.noisy,
        preview=body.preview,
        action=body.key,
    )


@router.post("/projects/{project}/slots/rename")
def rename(live_studio: Live, project: str, body: SlotRename) -> schemas.Changed:
    """Call a slot otherwise everywhere, or merge it into another."""
    changed = marking.rename(live_studio.studio, project, body.name, body.to, body.key)
    return schemas.Changed(changed)


@router.post("/projects/{project}/augmentation/preview")
def preview(live_studio: Live, project: str, body: AugmentBody) -> Augmented:
    """Tell which synthetic utterances would be added."""
    return augmentation.preview(live_studio.studio, project, _wish(body))


@router.post("/projects/{project}/augmentation")
def augment(live_studio: Live, project: str, body: AugmentBody) -> Augmented:
    """Add synthetic utterances to the training split, as one action."""
    return augmentation.add(live_studio.studio, project, _wish(body), body.key)


def _wish(body: AugmentBody) -> Wish:
    return Wish(body.top, body.per_template, body.most, body.intents)
