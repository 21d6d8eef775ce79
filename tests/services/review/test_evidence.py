"""What a review keeps in memory: no model, and all that it keeps is counted."""

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from app.services.live.server_state import open_live_studio
from app.services.review import review
from app.services.review.findings import Evidence
from app.services.studio import Studio
from storage.queries import dataset


def held_by(value: Any) -> list[Any]:
    """Return a value and all that it holds, through dataclasses and tuples."""
    if is_dataclass(value):
        parts = [getattr(value, one.name) for one in fields(value)]
    else:
        parts = list(value) if isinstance(value, tuple) else []
    return [value, *(held for part in parts for held in held_by(part))]


def test_what_the_evidence_keeps_in_memory_is_counted(home: Studio) -> None:
    """It kept a live model with its encoder, of which its size told nothing."""
    live_studio = open_live_studio(home)
    review.walk(live_studio, "p", *_two_intents(home))
    entries = live_studio.studio.cache._entries.values()
    [entry] = [one for one in entries if isinstance(one.future.result(), Evidence)]
    held = held_by(entry.future.result())
    kinds = {type(one).__name__ for one in held}
    assert not kinds & {"LiveModel", "IntentPipeline"}
    arrays = {id(one): one.nbytes for one in held if isinstance(one, np.ndarray)}
    texts = [one.text for one in held if hasattr(one, "text")]
    assert entry.size >= sum(arrays.values()) + sum(map(len, texts))


def _two_intents(home: Studio) -> tuple[str, str]:
    with home.database.read() as connection:
        first, second, *_ = dataset.intents(connection, 1)
    return first.id, second.id
