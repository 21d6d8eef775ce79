"""Routes that answer texts, and keep pins."""

from fastapi import APIRouter

from app.api.bench import Bench
from app.api.bodies import PinBody, TextsBody
from app.services import trying

router = APIRouter(tags=["predict"])


@router.post("/projects/{project}/predict")
def predict(bench: Bench, project: str, body: TextsBody) -> list[trying.Answer]:
    """Answer texts with intents, scores, votes and versions."""
    return trying.answer(bench, project, body.texts)


@router.get("/projects/{project}/examples")
def examples(bench: Bench, project: str) -> trying.ExampleMap:
    """Where the examples lie that answers are compared with."""
    return trying.examples(bench, project)


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
