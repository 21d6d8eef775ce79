"""How many pins a model breaks now: one count for header, Home, Versions and reports."""

from app.services.studio import Studio
from core.pipeline import IntentPipeline
from storage import models
from storage.queries import dataset


def broken_pins(studio: Studio, project_id: int, pipeline: IntentPipeline) -> int:
    """Count the pins that a model, in present names, answers otherwise than they expect.

    One of an intent that is archived or gone is not judged.
    """
    with studio.database.read() as connection:
        intents = dataset.intents(connection, project_id)
        stored = models.pins(connection, project_id)
    names = {intent.id: intent.name for intent in intents if not intent.archived}
    pins = [pin for pin in stored if names.keys() >= set(pin.intents)]
    if not pins:
        return 0
    answers = pipeline.predict([pin.text for pin in pins])
    return sum(
        set(answer.decision.intents) != {names[key] for key in pin.intents}
        for pin, answer in zip(pins, answers, strict=True)
    )
