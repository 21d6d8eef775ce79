"""Routes that answer texts, and keep pins."""

from typing import Annotated

from fastapi import APIRouter, Query

from app.api.bench import Bench
from app.api.bodies import PinBody, TextsBody
from app.services import compression, trying

router = APIRouter(tags=["predict"])
Strength = Annotated[float | None, Query(ge=0, le=1)]


@router.post("/projects/{project}/predict")
def predict(bench: Bench, project: str, body: TextsBody) -> list[trying.Answer]:
    """Answer texts with intents, scores, votes and versions."""
    return trying.answer(bench, project, body.texts, body.strength)


@router.get("/projects/{project}/examples")
def examples(bench: Bench, project: str, strength: Strength = None) -> trying.ExampleMap:
    """Where the examples lie that answers are compared with."""
    return trying.examples(bench, project, strength)


@router.get("/projects/{project}/compression")
def compression_view(bench: Bench, project: str) -> compression.CompressionView:
    """Whether answers can be looked at compressed, and if not, why."""
    return compression.compression_view(bench, project)


@router.get("/projects/{project}/compression/choice")
def strength_choice(bench: Bench, project: str) -> compression.StrengthChoice:
    """How well held-out examples are answered at each strength, and the one to suggest."""
    return compression.strength_choice(bench, project)


@router.get("/projects/{project}/pins")
def pins(bench: Bench, project: str) -> list[trying.PinView]:
    """All pins, and whether the live model keeps them."""
    return trying.pins(bench, project)


@router.post("/projects/{project}/pins")
def pin(bench: Bench, project: str, body: PinBody) -> dict[str, str]:
    """Set a pin, or remove it by naming no list of intents."""
    if body.intents is None:
        trying.unpin(bench, project, body.text)
    else:
        trying.pin(bench, project, body.text, body.intents)
    return {"text": body.text}
