"""Routes that answer texts, and keep pins."""

from typing import Annotated

from fastapi import APIRouter, Query

from app.api.http.bodies import PinBody, TextsBody
from app.api.http.server_state import Live
from app.services.trying import answers, compression
from app.services.trying.compression_views import CompressionView, StrengthChoice
from app.services.trying.landing import ExampleMap
from app.services.trying.pins import PinView, load_pins, remove_pin, set_pin

router = APIRouter(tags=["predict"])
Strength = Annotated[float | None, Query(ge=0, le=1)]


@router.post("/projects/{project}/predict")
def predict(live_studio: Live, project: str, body: TextsBody) -> list[answers.Answer]:
    """Answer texts with intents, scores, votes and versions."""
    return answers.answer_texts(live_studio, project, body.texts, body.strength)


@router.get("/projects/{project}/examples")
def examples(live_studio: Live, project: str, strength: Strength = None) -> ExampleMap:
    """Where the examples lie that answers are compared with."""
    return answers.load_example_map(live_studio, project, strength)


@router.get("/projects/{project}/compression")
def compression_view(live_studio: Live, project: str) -> CompressionView:
    """Whether answers can be looked at compressed, and if not, why."""
    return compression.compression_view(live_studio, project)


@router.get("/projects/{project}/compression/choice")
def strength_choice(live_studio: Live, project: str) -> StrengthChoice:
    """How well held-out examples are answered at each strength, and the one to suggest."""
    return compression.strength_choice(live_studio, project)


@router.get("/projects/{project}/pins")
def pins(live_studio: Live, project: str) -> list[PinView]:
    """All pins, and whether the live model keeps them."""
    return load_pins(live_studio, project)


@router.post("/projects/{project}/pins")
def pin(live_studio: Live, project: str, body: PinBody) -> dict[str, str]:
    """Set a pin, or remove it by naming no list of intents."""
    if body.intents is None:
        remove_pin(live_studio, project, body.text)
    else:
        set_pin(live_studio, project, body.text, body.intents)
    return {"text": body.text}
