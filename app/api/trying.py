"""Routes that answer texts and store pins."""

from typing import Annotated

from fastapi import Query, Response
from pydantic_core import to_json

from app.api.http.bodies import TextsBody
from app.api.http.routers import rest_router
from app.api.http.server_state import Live
from app.api.http.text_bodies import EvaluateBody, PinBody
from app.services.trying import answers, compression
from app.services.trying.compression_views import CompressionView, StrengthChoice
from app.services.trying.evaluating import Evaluation, evaluate_given
from app.services.trying.landing import ExampleMap
from app.services.trying.pins import PinView, load_pins, remove_pin, set_pin
from app.services.trying.short_answers import ShortAnswer, shorten, with_best

router = rest_router("predict")
Strength = Annotated[float | None, Query(ge=0, le=1)]


@router.post("/projects/{project}/predict", response_model=list[answers.Answer] | list[ShortAnswer])
def predict(live_studio: Live, project: str, body: TextsBody) -> Response:
    """Answer texts with intents, scores, votes and versions.

    `model` is `live` (the default: the model in use, with every label given up to now), `champion`
    (the same version as it was trained) or the number of a version. `label_revision` of an answer
    is the revision of the data up to which labels vote. `top_k` keeps the best intents of
    `ranked`; with `fields`, an answer has these fields alone.
    """
    if body.model != "live":
        given = answers.answer_as_trained(live_studio, project, body.model, body.texts)
    else:
        given = answers.answer_texts(live_studio, project, body.texts, body.strength)
    live_studio.traffic.count_answers(len(answer.prediction.decision.intents) for answer in given)
    best = with_best(given, body.top_k)
    # FastAPI's own encoder took a quarter of the time in which a thousand texts are answered.
    written = to_json(best if body.fields is None else shorten(best, body.fields))
    return Response(written, media_type="application/json")


@router.post("/projects/{project}/evaluate")
def evaluate(live_studio: Live, project: str, body: EvaluateBody) -> Evaluation:
    """Measure a model on labelled texts; those that it has learned are left out."""
    return evaluate_given(live_studio, project, body.model, body.read())


@router.get("/projects/{project}/examples")
def examples(live_studio: Live, project: str, strength: Strength = None) -> ExampleMap:
    """Return the map coordinates of the examples that answers are compared with."""
    return answers.load_example_map(live_studio, project, strength)


@router.get("/projects/{project}/compression")
def compression_view(live_studio: Live, project: str) -> CompressionView:
    """Return whether compressed answers are available, and if not, why."""
    return compression.compression_view(live_studio, project)


@router.get("/projects/{project}/compression/choice")
def strength_choice(live_studio: Live, project: str) -> StrengthChoice:
    """Return the accuracy on held-out examples at each strength, and the suggested strength."""
    return compression.strength_choice(live_studio, project)


@router.get("/projects/{project}/pins")
def pins(live_studio: Live, project: str) -> list[PinView]:
    """List all pins, and whether the live model keeps them."""
    return load_pins(live_studio, project)


@router.post("/projects/{project}/pins")
def pin(live_studio: Live, project: str, body: PinBody) -> dict[str, str]:
    """Set a pin; without a list of intents, remove it."""
    if body.intents is None:
        remove_pin(live_studio, project, body.text, body.read_seen())
    else:
        set_pin(live_studio, project, body.text, body.intents, body.read_seen())
    return {"text": body.text}
