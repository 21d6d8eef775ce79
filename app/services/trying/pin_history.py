"""Pins with what every model version made of them: kept, or broken."""

from dataclasses import dataclass
from typing import Literal

from app.services.live.server_state import LiveStudio
from app.services.trying.answers import PinView, pins
from core.text import text_hash
from storage import models, projects
from storage.records import ModelVersionRecord, PinRecord

Verdict = Literal["kept", "broken"]


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a model version made of a pin when it was trained."""

    version: int
    verdict: Verdict
    answer: str


@dataclass(frozen=True, slots=True)
class PinHistory:
    """A pin now, and what the versions since it was set have made of it, oldest first."""

    pin: PinView
    intents: tuple[str, ...]
    actor: str
    at: str
    judgements: tuple[Judgement, ...]


def pin_history(live_studio: LiveStudio, project: str) -> list[PinHistory]:
    """All pins by text; a version counts that was made after the pin was set as it is now.

    Raises:
        NotFound: There is no such project.
    """
    with live_studio.studio.database.read() as connection:
        found = projects.find(connection, project)
        records = {record.text: record for record in models.pins(connection, found.id)}
        versions = models.list_all(connection, found.id)
    return [_history(one, records[one.text], versions) for one in pins(live_studio, project)]


def _history(view: PinView, record: PinRecord, versions: list[ModelVersionRecord]) -> PinHistory:
    since = [version for version in versions if version.created_at >= record.at]
    judged = [_judgement(version, record) for version in since if _judges(version)]
    return PinHistory(view, record.intents, record.actor, record.at, tuple(judged))


def _judges(version: ModelVersionRecord) -> bool:
    """Whether a version was judged by pins at all; an imported one was not."""
    return bool(version.pins.get("kept", 0) or version.pins.get("broken"))


def _judgement(version: ModelVersionRecord, record: PinRecord) -> Judgement:
    key = text_hash(record.text)
    for broken in version.pins.get("broken", ()):
        if text_hash(broken["text"]) == key:
            return Judgement(version.number, "broken", " and ".join(broken["answer"]))
    return Judgement(version.number, "kept", "")
