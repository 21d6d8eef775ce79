"""Routes of the labelling card: the queue, suggestions, decisions, and what is similar."""

from typing import Annotated

from fastapi import APIRouter, Body, Query

from app.api.http.bodies import OperationBody, SimilarBody
from app.api.http.server_state import Bench
from app.services.labelling import decisions
from app.services.labelling.queue import Order, QueueItem, QueueView, Wish
from app.services.trying import answers

router = APIRouter(tags=["labelling"])
_MOST_OPERATIONS = 500


@router.get("/projects/{project}/queue")
def queue(
    bench: Bench,
    project: str,
    client: Annotated[str, Query(min_length=8, max_length=80)],
    order: Order = "unsure",
    n: Annotated[int, Query(ge=1, le=100)] = 20,
    without: str = "",
) -> QueueView:
    """Lease the next utterances to a browser's tab."""
    wish = Wish(client, order, n, frozenset(filter(None, without.split(","))))
    return bench.queues.next(project, wish)


@router.delete("/projects/{project}/queue")
def release(bench: Bench, project: str, client: str) -> dict[str, str]:
    """Give back what a tab had leased."""
    bench.queues.release(project, client)
    return {"state": "released"}


@router.get("/projects/{project}/suggestions")
def suggestions(bench: Bench, project: str, ids: str) -> tuple[QueueItem, ...]:
    """What the live model thinks of some utterances; waits for it to load."""
    return bench.queues.suggest(project, ids.split(",")[:100])


@router.post("/projects/{project}/ops")
def decide(
    bench: Bench,
    project: str,
    operations: Annotated[list[OperationBody], Body(max_length=_MOST_OPERATIONS)],
) -> list[decisions.Outcome]:
    """Save decisions, each once, in their order."""
    read = [decisions.Operation(**operation.model_dump()) for operation in operations]
    return decisions.decide(bench.studio, project, read)


@router.post("/projects/{project}/similar")
def similar(bench: Bench, project: str, body: SimilarBody) -> list[answers.Similar]:
    """Find utterances like a tray of texts."""
    return answers.similar(bench, project, body.texts, body.n, unlabelled=body.unlabelled)
