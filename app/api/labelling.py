"""Routes of the Label page: queue, suggestions, decisions, the day, what the model is sure of."""

from datetime import datetime
from typing import Annotated

from fastapi import Body, Header, Query

from app.api.http.bodies import OperationBody, SimilarBody
from app.api.http.labelling_bodies import AcceptSureBody, GoalBody, SpotCheckBody
from app.api.http.routers import rest_router
from app.api.http.server_state import LabellingQueues, Live, OpenStudio
from app.services.data.utterances import ChangeView
from app.services.labelling import decisions
from app.services.labelling.enough import EnoughView, list_enough
from app.services.labelling.queue import STANDARD, Order, QueueItem, QueueRequest, QueueView
from app.services.labelling.sure import SureView, accept_sure, conclude, list_sure
from app.services.labelling.today import Today, load_today, set_goal
from app.services.trying.similar import Similar, find_similar
from core.review.spot_check import Verdict

router = rest_router("labelling")
_MOST_OPERATIONS = 500


@router.get("/projects/{project}/queue")
def queue(
    queues: LabellingQueues,
    project: str,
    client: Annotated[str, Query(min_length=8, max_length=80)],
    order: Order = STANDARD,
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
    number: Annotated[
        int | None,
        Header(
            alias="Project-Number",
            description="Id of the project that the decisions are about. 404 where another project "
            "has its name by now.",
        ),
    ] = None,
) -> list[decisions.Outcome]:
    """Save decisions in order, each once."""
    read = [decisions.Operation(**operation.model_dump()) for operation in operations]
    return decisions.decide(studio, project, read, number)


@router.post("/projects/{project}/similar")
def similar(live_studio: Live, project: str, body: SimilarBody) -> list[Similar]:
    """Find utterances similar to a tray of texts."""
    return find_similar(live_studio, project, body.texts, body.n, unlabelled=body.unlabelled)


@router.get("/projects/{project}/today")
def today(studio: OpenStudio, project: str, since: datetime) -> Today:
    """Return a person's labels since midnight, goal if any, pace and last decisions."""
    return load_today(studio, project, since)


@router.put("/projects/{project}/today/goal", status_code=204)
def goal(studio: OpenStudio, project: str, body: GoalBody) -> None:
    """Keep a person's goal of the day, or drop it."""
    set_goal(studio, project, body.goal)


@router.get("/projects/{project}/enough")
def enough(live_studio: Live, project: str) -> EnoughView:
    """Say of which intents you can stop labelling, and why; none while the model is loading."""
    return list_enough(live_studio, project)


@router.get("/projects/{project}/sure")
def sure(
    live_studio: Live, project: str, most: Annotated[int | None, Query(ge=0)] = None
) -> SureView:
    """List what the live model is sure of, and draw a spot check; waits for the model to load."""
    return list_sure(live_studio, project, most)


@router.post("/projects/{project}/sure/check")
def check(studio: OpenStudio, project: str, body: SpotCheckBody) -> Verdict:
    """Conclude from spot checks how many other answers are wrong; no label is saved."""
    return conclude(studio, project, body.read())


@router.post("/projects/{project}/sure/accept")
def accept(studio: OpenStudio, project: str, body: AcceptSureBody) -> ChangeView:
    """Label the texts as the model answers, those judged wrong excepted, once for each key."""
    return accept_sure(studio, project, body.read())
