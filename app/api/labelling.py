"""Routes of the labelling card: queue, suggestions, decisions, similar utterances."""

from typing import Annotated

from fastapi import APIRouter, Body, Query

from app.api.http.bodies import OperationBody, SimilarBody
from app.api.http.server_state import LabellingQueues, Live, OpenStudio
from app.services.labelling import decisions
from app.services.labelling.queue import Order, QueueItem, QueueRequest, QueueView
from app.services.trying.similar import Similar, find_similar

router = APIRouter(tags=["labelling"])
_MOST_OPERATIONS = 500


@router.get("/projects/{project}/queue")
def queue(
    queues: LabellingQueues,
    project: str,
    client: Annotated[str, Query(min_length=8, max_length=80)],
    order: Order = "unsure",
    n: Annotated[int, Query(ge=1, le=100)] = 20,
    without: str = "",
) -> QueueView:
    """Lease the next utterances to a browser tab."""
    request = QueueRequest(client, order, n, frozenset(filter(None, without.split(","))))
    return queues.next(project, request)


@router.delete("/projects/{project}/queue")
def release(queues: LabellingQueues, project: str, client: str) -> dict[str, str]:
    """Release the utterances leased to a tab."""
    queues.release(project, client)
    return {"state": "released"}


@router.get("/projects/{project}/suggestions")
def suggestions(queues: LabellingQueues, project: str, ids: str) -> tuple[QueueItem, ...]:
    """Suggest intents for some utterances by the live model; waits for it to load."""
    return queues.suggest(project, ids.split(",")[:100])


@router.post("/projects/{project}/ops")
def decide(
    studio: OpenStudio,
    project: str,
    operations: Annotated[list[OperationBody], Body(max_length=_MOST_OPERATIONS)],
) -> list[decisions.Outcome]:
    """Save decisions in order, each once."""
    read = [decisions.Operation(**operation.model_dump()) for operation in operations]
    return decisions.decide(studio, project, read)


@router.post("/projects/{project}/similar")
def similar(live_studio: Live, project: str, body: SimilarBody) -> list[Similar]:
    """Find utterances similar to a tray of texts."""
    return find_similar(live_studio, project, body.texts, body.n, unlabelled=body.unlabelled)
