"""Pins: texts whose answer a person expects, and what models made of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Literal

from app.services.live.server_state import LiveStudio
from core.errors import Conflict, InvalidInput
from core.text import is_storable, label_words, text_hash
from core.types import Prediction, Task
from storage import models, projects
from storage.queries import dataset
from storage.records import IntentRecord, ModelVersionRecord, PinRecord

Verdict = Literal["kept", "broken"]


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a model version made of a pin when it was trained."""

    version: int
    verdict: Verdict
    answer: str


@dataclass(frozen=True, slots=True)
class PinView:
    """A pin with what the live model answers.

    Attributes:
        text: What is asked.
        expected: The intents that it must get, in words.
        answer: What the model says, in words; None while no model is there.
        kept: Whether it says just that; None while no model is there, or where `stale`.
        stale: Whether an intent is archived or gone, so that no model is judged by it.
    """

    text: str
    expected: str
    answer: str | None
    kept: bool | None
    stale: bool


@dataclass(frozen=True, slots=True)
class PinHistory:
    """A pin now, and what the versions since it was set have made of it, oldest first."""

    pin: PinView
    intents: tuple[str, ...]
    actor: str
    at: str
    judgements: tuple[Judgement, ...]


def set_pin(live_studio: LiveStudio, project: str, text: str, intents: Sequence[str]) -> None:
    """Expect just these intents, by id, for a text; training is then judged by it.

    Where a text may have several intents, it may be expected to have none.

    Raises:
        Conflict: An intent is archived.
        InvalidInput: There is no text, or not one intent where a text has one.
        NotFound: There is no such intent.
    """
    if not text.strip() or not is_storable(text):
        raise InvalidInput("A pin needs a text.", "Type one first.")
    with live_studio.studio.database.write() as connection:
        found = projects.find(connection, project)
        if found.task == "single-label" and len(set(intents)) != 1:
            raise InvalidInput("A pin expects one intent.", "Choose it.")
        for key in intents:
            expected = dataset.intent_by_id(connection, found.id, key)
            if expected.archived:
                raise Conflict(
                    f"The intent '{expected.name}' is archived.",
                    "Bring it back, or choose another.",
                )
        models.add_pin(connection, found.id, text, set(intents), live_studio.studio.settings.actor)


def remove_pin(live_studio: LiveStudio, project: str, text: str) -> None:
    """Expect nothing of a text any more."""
    with live_studio.studio.database.write() as connection:
        models.remove_pin(connection, projects.find(connection, project).id, text)


def load_pins(live_studio: LiveStudio, project: str) -> list[PinView]:
    """All pins, each with what the live model answers."""
    with live_studio.studio.database.read() as connection:
        found = projects.find(connection, project)
        records = models.pins(connection, found.id)
        intents = {i.id: i for i in dataset.intents(connection, found.id)}
    live = live_studio.models.get(found.id) if records else None
    answers = [] if live is None else live.pipeline.predict([r.text for r in records])
    pairs = zip_longest(records, answers)
    return [_pin_view(record, found.task, intents, said) for record, said in pairs]


def _pin_view(
    record: PinRecord, task: Task, intents: Mapping[str, IntentRecord], said: Prediction | None
) -> PinView:
    expected = [intents.get(key) for key in record.intents]
    names = sorted("?" if intent is None else intent.name for intent in expected)
    stale = any(intent is None or intent.archived for intent in expected)
    words = label_words(names, task)
    if said is None:
        return PinView(record.text, words, None, None, stale)
    kept = set(said.decision.intents) == set(names)
    return PinView(record.text, words, said.decision.words, None if stale else kept, stale)


def load_pin_history(live_studio: LiveStudio, project: str) -> list[PinHistory]:
    """All pins by text; a version counts that was made after the pin was set as it is now.

    Raises:
        NotFound: There is no such project.
    """
    with live_studio.studio.database.read() as connection:
        project_id = projects.find(connection, project).id
        records = {record.text: record for record in models.pins(connection, project_id)}
        versions = models.list_all(connection, project_id)
    return [_history(one, records[one.text], versions) for one in load_pins(live_studio, project)]


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
