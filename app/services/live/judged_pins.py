"""Judge today's pins by what a model answers now."""

from collections.abc import Sequence

from app.services.answering.pinned import BrokenPins, OpenPin, broken_by
from app.services.embedding import embed_texts
from app.services.studio import Studio
from core.pipeline import IntentPipeline


def judge_pins(studio: Studio, pipeline: IntentPipeline, pins: Sequence[OpenPin]) -> BrokenPins:
    """Return the pins that a model breaks; the embeddings of their texts are stored."""
    texts = [pin.text for pin in pins]
    if not texts:
        return {}
    rows = embed_texts(studio.database, pipeline.encoder, texts)
    answers = [one.decision for one in pipeline.predict(texts, rows)]
    return broken_by(pins, answers, pipeline.task)
